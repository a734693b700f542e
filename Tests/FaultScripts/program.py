"""Runs the built osssync and holds what it says against what must always be true of it."""

import re
import time

from case_table import expect
from Support.processes import PATIENCE, Started
from Support.program import last, lines

SECRET = "fault-secret-canary"
KEY = "fault-key-id"
# For those whose first one has expired.
LATER_KEYS = [f"{KEY}-{number}" for number in range(1, 10)]
SESSION_KEY = f"{KEY}-session"
# A run that asks more often than this does not end by itself.
REQUEST_LIMIT = 400
# What no terminal is to be shown.
UNPRINTABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")

# What of a summary is never so where all that was asked for is done.
UNDONE = ["failed", "conflicts", "skipped", "damaged", "deletions_held_back", "stopped"]
# What differs then, if anything.
DIFFERING = ["vanished", "local_changes", "only_local", "only_remote", "deleted_here",
             "deleted_there", "not_in_plan", "not_mirrored"]


class Result:
    """What one run of osssync left behind."""

    def __init__(self, arguments, status, output, errors, seconds):
        self.arguments = arguments
        self.status = status
        self.output = output
        self.errors = errors
        self.seconds = seconds
        self.events = lines(output) if "--json" in arguments else []
        self.summary = self.last("summary") or {}
        self.error = self.last("error") or {}

    def __str__(self):
        return (f"osssync {' '.join(self.arguments)}: exit {self.status}\n"
                f"  summary {self.summary}\n  stderr {self.errors.strip()[-1500:]}")

    def last(self, event):
        return last(self.events, event)

    def all(self, event):
        return [line for line in self.events if line["event"] == event]

    def items(self, key, *states):
        """The last words on a key: events of an end, unless other states are asked for."""
        states = states or ("done", "failed", "skipped")
        return [line for line in self.events
                if line["event"] in ("item", "conflict") and line["key"] == key
                and line["state"] in states]

    def said(self, key):
        """What the run said of a key that was not done."""
        texts = [line.get("error") or line.get("reason") or "" for line in self.items(key)]
        return " | ".join(texts)

    def count(self, name):
        return self.summary.get(name)

    def check(self, most=REQUEST_LIMIT):
        """What holds for every run: it ends, tells the truth, shows no secret, and is printable."""
        for text in (self.output, self.errors):
            expect(SECRET not in text, f"a secret is shown: {self}")
            # One look, and no message for each character: some outputs have a million.
            found = UNPRINTABLE.search(text)
            if found:
                raise AssertionError(f"an unprintable character {found[0]!r} is shown: {self}")
        expect(self.status >= 0, f"a signal ended it: {self}")
        expect("Fatal error" not in self.errors, f"it trapped: {self}")
        if self.summary:
            # A limit that was asked for ends a run early, and well.
            is_limited = self.summary.get("stopped") in ("max-transfer", "max-duration")
            undone = [name for name in UNDONE
                      if self.summary.get(name) and not (is_limited and name == "stopped")]
            expect(self.status != 0 or not undone,
                   f"exit status and summary disagree on {undone}: {self}")
            differing = [name for name in DIFFERING if self.summary.get(name)]
            # An object that was replaced meanwhile is not the listed one.
            differing += [line for line in self.all("warning")
                          if "the object that was downloaded" in line["message"]]
            wanted = self.status == 0 and not differing and not is_limited
            found = self.summary["in_step"]
            if "shards" in self.summary:
                wanted = wanted and self.summary["shards"] > 0 \
                    and not self.summary["deletions_waiting"]
                # What other runs of the round have left differing, only they have counted.
                wanted = wanted and found
            expect(found is wanted,
                   f"exit status and summary disagree (in_step {self.summary['in_step']}): {self}")
            expect(self.summary["requests"] <= most, f"too many requests: {self}")
        if self.status not in (0, 1) and self.events:
            expect(self.error.get("exit") == self.status, f"no error event says why: {self}")
        return self


def run(program, arguments, environment, limit=PATIENCE, most=REQUEST_LIMIT):
    """Runs osssync to its end and checks what always holds."""
    begin = time.monotonic()
    process = Started([program, *arguments], environment)
    output, errors = process.wait(limit)
    return Result(list(arguments), process.status, output.decode("utf-8"),
                  errors.decode("utf-8"), time.monotonic() - begin).check(most)
