"""Runs the table of fault cases on a few workers and counts what passes.

usage: driver.py --programs FOLDER [--jobs N] [--every N] [--list] [--slow] [ROW or words of a name]…
"""

import argparse
import importlib
import multiprocessing
import os
import signal
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

from case_table import CASES  # noqa: E402
from machine import SKIPPED  # noqa: E402
from stage import Place, Server  # noqa: E402
from Support.checks import Tally  # noqa: E402
from Support.processes import limited  # noqa: E402


def load():
    for name in sorted(os.listdir(HERE)):
        if name.endswith("_cases.py"):
            importlib.import_module(name[:-3])


def perform(server, case):
    place = Place(server, case.name)
    try:
        case.body(place)
    finally:
        place.close()


def work(programs, numbers, results):
    """A worker: a server of its own, and cases until none are left."""
    # A shell leaves them ignored in what it starts in the background, and osssync leaves them so.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    server = Server(programs)
    try:
        while (number := numbers.get()) is not None:
            begin = time.monotonic()
            failure = None
            try:
                with limited(CASES[number].name):
                    perform(server, CASES[number])
            except Exception:
                failure = traceback.format_exc()
            results.put((number, failure, list(SKIPPED), time.monotonic() - begin))
            SKIPPED.clear()
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--every", type=int, default=1, help="only one case in so many")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--slow", action="store_true", help="show the slowest cases")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    load()
    chosen = [number for number, case in enumerate(CASES) if case.matches(options.words)]
    chosen = chosen[::options.every]
    if options.list:
        print("\n".join(CASES[number].name for number in chosen))
        return 0
    numbers, results = multiprocessing.Queue(), multiprocessing.Queue()
    jobs = max(1, min(options.jobs, len(chosen)))
    for number in chosen + [None] * jobs:
        numbers.put(number)
    workers = [multiprocessing.Process(target=work, args=(options.programs, numbers, results))
               for _ in range(jobs)]
    for worker in workers:
        worker.start()
    tally, skipped, left = Tally(), 0, set(chosen)
    while left:
        while True:
            try:
                number, failure, reasons, seconds = results.get(timeout=5)
                break
            except Exception:
                if not any(worker.is_alive() for worker in workers):
                    for each in sorted(left):
                        tally.count(CASES[each].name, "the worker ended before this case")
                    return tally.end()
        left.discard(number)
        if reasons:
            skipped += 1
            print(f"SKIPPED {CASES[number].name}: {'; '.join(reasons)}", flush=True)
        tally.count(CASES[number].name, failure, seconds)
    for worker in workers:
        worker.join()
    if options.slow:
        print("\n".join(tally.slowest(25)))
    # They count as passed, on a machine that cannot have them otherwise.
    print(f"{skipped} of them left out, wholly or in part: this machine has no means for them")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
