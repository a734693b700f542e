"""Checks that pipes have one reader, and that a case which takes too long says why."""

import contextlib
import io
import os
import subprocess
import sys
import threading
import time

from . import processes
from .checks import Tally, equal, expect

SLEEPING = ["sh", "-c", "echo begun; exec sleep 600"]


def killed_by_another_thread():
    """Neither kills, waits nor reads of two threads touch what is opened meanwhile."""
    for _ in range(50):
        process = processes.Started(SLEEPING)
        equal(process.line(), b"begun\n", "its first line")
        killer = threading.Thread(target=process.end)
        killer.start()
        process.end()
        # They get the numbers of the pipes.
        opened = [os.pipe() for _ in range(4)]
        killer.join()
        for reading, writing in opened:
            os.write(writing, b"x")
            equal(os.read(reading, 1), b"x", "a pipe of somebody else")
            os.close(reading)
            os.close(writing)
        equal(process.wait(10), (b"begun\n", b""), "what it said")


def lines_and_the_rest():
    process = processes.Started(["sh", "-c", "echo a; echo b; printf c; echo e >&2; exit 3"])
    equal([process.line() for _ in range(4)], [b"a\n", b"b\n", b"c", b""], "its lines")
    equal((process.wait(10), process.status), ((b"a\nb\nc", b"e\n"), 3), "what it left")


def late():
    process = processes.Started(SLEEPING)
    for waits in (lambda: process.line() and process.line(0.2), lambda: process.wait(0.2)):
        failure = failed(waits)
        expect("sleep 600" in failure and "0.2 s" in failure, f"what was said: {failure}")
    equal(process.end()[0], b"begun\n", "what it said")


def overdue():
    """The case, where it waited and what ran are named; what ran is killed."""
    started = []

    def case():
        started.append(processes.Started(SLEEPING))
        started[0].line()
        started[0].wait(500)
    begin = time.monotonic()
    with contextlib.redirect_stderr(io.StringIO()) as said:
        failure = failed(lambda: limited("the sentence of the case", 1, case))
    expect(time.monotonic() - begin < 30, "it took long")
    for word in ("the sentence of the case", "started[0].wait(500)", "sleep 600", "1 s"):
        expect(word in failure and word in said.getvalue(), f"'{word}' is not in {failure}")
    equal(started[0].status, -9, "how it ended")


def failed_case():
    started = []

    def case():
        started.append(processes.Started(SLEEPING))
        raise AssertionError("first")
    equal(failed(lambda: limited("case", 60, case)), "first", "the failure")
    started[0].wait(10)
    equal(started[0].status, -9, "what the case had started")


def without_end():
    """Whatever else a case waits for, its driver ends, and says so."""
    program = ("from Support import processes\nimport threading\nprocesses.GRACE = 1\n"
               "with processes.limited('sentence', 1): threading.Event().wait()")
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          timeout=60)
    equal(done.returncode, 3, f"the end: {done.stderr}")
    expect("sentence: it still waits" in done.stderr, f"what was said: {done.stderr}")


def limited(name, seconds, body):
    with processes.limited(name, seconds):
        body()


def failed(body):
    try:
        body()
    except AssertionError as failure:
        return str(failure)
    raise AssertionError("it did not fail")


def main():
    tally = Tally()
    for case in (killed_by_another_thread, lines_and_the_rest, late, overdue, failed_case,
                 without_end):
        tally.run(case.__name__.replace("_", " "), case)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
