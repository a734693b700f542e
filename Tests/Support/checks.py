"""Expectations, and a tally of the cases that met theirs."""

import threading
import time
import traceback
import zlib

from .processes import CASE_LIMIT, limited


def expect(condition, message="unexpected result"):
    if not condition:
        raise AssertionError(message)


def short(value):
    """A text for a message: long contents only by their length."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {short(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(short(item) for item in value) + "]"
    if isinstance(value, bytes) and len(value) > 40:
        return f"<{len(value)} bytes, CRC {zlib.crc32(value):08x}>"
    return repr(value)[:2000]


def equal(found, wanted, what="unexpected value"):
    if found != wanted:
        raise AssertionError(f"{what}: found {short(found)}, wanted {short(wanted)}")


class Tally:
    """Runs cases, perhaps on several threads, counts them, and tells of each that fails."""

    def __init__(self, tells_all=False, limit=CASE_LIMIT):
        self.tells_all = tells_all
        self.limit = limit
        self.passed = self.failed = 0
        self.seconds = []
        self.lock = threading.Lock()

    def run(self, name, case, *arguments):
        begin = time.monotonic()
        failure = None
        try:
            with limited(name, self.limit):
                case(*arguments)
        except Exception:
            failure = traceback.format_exc()
        self.count(name, failure, time.monotonic() - begin)

    def count(self, name, failure=None, seconds=0):
        with self.lock:
            self.seconds.append((seconds, name))
            if failure is not None:
                self.failed += 1
                # The reason in the same line: of a long log often only such lines are kept.
                reason = failure.strip().splitlines()[-1][:200]
                print(f"FAILED {name}: {reason}\n{failure}", flush=True)
                return
            self.passed += 1
            if self.tells_all:
                print(f"passed {name} ({seconds:.1f} s)", flush=True)

    def slowest(self, count):
        return [f"{seconds:6.2f} s  {name}"
                for seconds, name in sorted(self.seconds, reverse=True)[:count]]

    def end(self):
        """Prints the sums as the last line; the exit status, where nothing run is a failure."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.failed == 0 and self.passed > 0 else 1
