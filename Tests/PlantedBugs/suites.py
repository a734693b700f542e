"""The suites that can find a bug: how each is started, and what its output says."""

import os
import re
import signal
import subprocess
import time

from patched_tree import TREE

PROGRAMS = os.path.join(TREE, ".build/debug")
# Longer than any of the commands takes on a busy machine.
LONGEST = 900


class Outcome:
    """What one command said: whether it failed, and by which test."""

    def __init__(self, failed, finder="", count=0, output=""):
        self.failed, self.finder = failed, finder
        self.count, self.output = count, output


def run(words, limit):
    """Runs a command in the tree; the status is None if it did not end in time."""
    process = subprocess.Popen(words, cwd=TREE, text=True, errors="replace", start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output


def first(pattern, output):
    found = re.search(pattern, output, re.MULTILINE)
    return found.group(1).strip() if found else ""


def sums(output):
    """How many checks the last line of a script's output counts."""
    found = re.findall(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    return sum(map(int, found[-1])) if found else 0


class SwiftTests:
    """`swift FILTER`: tests of Swift Testing whose identifiers the filter fits."""

    def words(self, argument):
        return ["swift", "test", "--package-path", TREE, "--skip-build", "--filter", argument]

    def read(self, status, output, argument):
        count = int(first(r"Test run with (\d+) tests? ", output) or 0)
        name = first(r"^. Test \"(.+?)\"(?: with \d+ test cases?)? failed after", output)
        if not name:
            name = first(r"^. Test (.+?)(?: with \d+ test cases?)? failed after", output)
        if status != 0 and not name:
            name = self.unended(output) or "the tests ended early, and none said why"
        return Outcome(status != 0, f"{argument}: {name}", count=count, output=output)


    @staticmethod
    def unended(output):
        """The tests that a trap ended, of which there may be several at a time."""
        begun = re.findall(r"^. Test (?!run |case )\"?(.+?)\"? started\.$", output, re.MULTILINE)
        ended = re.findall(r"^. Test (?!run |case )\"?(.+?)\"?(?: with \d+ test cases?)? "
                           r"(?:passed|failed) after", output, re.MULTILINE)
        return " or ".join(name for name in begun if name not in ended)


class Script:
    """A driver in Python that ends with "N passed, M failed"."""

    def __init__(self, folder, words, failure):
        self.folder, self.start, self.failure = folder, words, failure

    def words(self, argument):
        return self.start + argument.split()

    def read(self, status, output, argument):
        name = first(self.failure, output) or f"{argument} ended with {status}"
        return Outcome(status != 0, f"{self.folder}: {name}", count=sums(output), output=output)


SUITES = {
    "swift": SwiftTests(),
    "faults": Script("FaultScripts", ["python3", "-B", "Tests/FaultScripts/driver.py",
                                      "--programs", PROGRAMS, "--jobs", "2"], r"^FAILED (.*?)(?:: .*)?$"),
    "security": Script("Security", ["python3", "-B", "Tests/Security/main.py",
                                    PROGRAMS + "/osssync"], r"^FAILED:? (.*)$"),
    "crash": Script("CrashPoints", ["Tests/CrashPoints/run", "--programs", PROGRAMS],
                    r"^ *FAILED ([^(]*\([^)]*\))"),
    # A history of Tests/Regressions, which every test run replays.
    "history": Script("Regressions", [PROGRAMS + "/osssync-simulator", "--replay"],
                      r"Regressions/([^ ]*): violated"),
}


def execute(command, limit=None):
    """Runs one command of the table; the second value is how long it took."""
    kind, argument = command.split(" ", 1)
    suite = SUITES[kind]
    begin = time.monotonic()
    status, output = run(suite.words(argument), limit or LONGEST)
    seconds = time.monotonic() - begin
    if status is None:
        return Outcome(limit is not None, f"{command}: did not end within {limit} s",
                       output=output), seconds
    return suite.read(status, output, argument), seconds
