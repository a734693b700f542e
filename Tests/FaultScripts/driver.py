"""Runs the table of fault cases on a few workers and counts what passes.

usage: driver.py --programs FOLDER [--jobs N] [--list] [--slow] [ROW or words of a name]…
"""

import argparse
import importlib
import multiprocessing
import os
import signal
import sys
import time
import traceback

from case_table import CASES
from machine import SKIPPED
from stage import Place, Server

HERE = os.path.dirname(os.path.abspath(__file__))


def load():
    for name in sorted(os.listdir(HERE)):
        if name.endswith("_cases.py"):
            importlib.import_module(name[:-3])


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
            place = Place(server, CASES[number].name)
            try:
                CASES[number].body(place)
            except Exception:
                failure = traceback.format_exc()
            finally:
                place.close()
            results.put((number, failure, list(SKIPPED), time.monotonic() - begin))
            SKIPPED.clear()
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--slow", action="store_true", help="show the slowest cases")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    load()
    chosen = [number for number, case in enumerate(CASES) if case.matches(options.words)]
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
    passed, failed, skipped = 0, 0, 0
    times = []
    for _ in chosen:
        while True:
            try:
                number, failure, reasons, seconds = results.get(timeout=5)
                break
            except Exception:
                if not any(worker.is_alive() for worker in workers):
                    print("the workers ended before their cases")
                    print(f"{passed} passed, {len(chosen) - passed} failed")
                    return 1
        times.append((seconds, CASES[number].name))
        if reasons:
            skipped += 1
            print(f"SKIPPED {CASES[number].name}: {'; '.join(reasons)}", flush=True)
        if failure is None:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {CASES[number].name}\n{failure}", flush=True)
    for worker in workers:
        worker.join()
    if options.slow:
        for seconds, name in sorted(times, reverse=True)[:25]:
            print(f"{seconds:6.2f} s  {name}")
    # They count as passed, on a machine that cannot have them otherwise.
    print(f"{skipped} of them left out, wholly or in part: this machine has no means for them")
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
