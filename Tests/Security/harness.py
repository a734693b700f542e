"""Runs osssync in a folder of its own and judges what no case may ever show."""

import hashlib
import os
import re
import shutil
import tempfile
import time

from Support.checks import equal, expect
from Support.files import contents
from Support.processes import Started

KEY_ID = "canary-key-id-7f3a"
SECRET = "canary-key-secret-91bc"
TOKEN = "canary-session-token-44de"
PROXY_PASSWORD = "canary-proxy-password-c0"
CANARIES = [SECRET, TOKEN, PROXY_PASSWORD, "canary-profile-secret-5e"]

# Traps, aborts and segmentation faults, as the shell and as Python name them.
CRASHES = {132, 133, 134, 135, 136, 139, -4, -5, -6, -7, -8, -11}
LONGEST_RUN = 50
# Those that repeat requests; what they wait between two attempts is not what is tested here.
COMMANDS = {"init", "pull", "push", "sync", "status", "ls", "get", "put", "uploads", "cancel",
            "doctor"}
MOST_MEMORY_KIB = 200 << 10
# What no line may hold: controls but the line feed, and what turns the direction of text.
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Outcome:
    """How a run of osssync ended."""

    def __init__(self, status, output, diagnostics, seconds, peak):
        self.status = status
        self.output = output
        self.diagnostics = diagnostics
        self.seconds = seconds
        self.peak = peak

    @property
    def text(self):
        return self.output + self.diagnostics

    def __repr__(self):
        return (f"status {self.status} after {self.seconds:.1f} s and {self.peak} KiB\n"
                f"--- stdout\n{self.output[-3000:]}\n--- stderr\n{self.diagnostics[-3000:]}")


class Place:
    """A folder with a mirror, a home, and a tree around both that nobody may touch."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="osssync-security-")
        self.mirror = os.path.join(self.folder, "around", "mirror")
        self.home = os.path.join(self.folder, "home")
        os.makedirs(self.mirror)
        os.makedirs(self.home)
        for name in ["canary", "outside/canary", "outside/empty/", "mirror-twin/canary"]:
            path = os.path.join(self.folder, "around", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if not name.endswith("/"):
                with open(path, "w") as file:
                    file.write("nobody writes here: " + name)
        self.before = self.surroundings()

    def surroundings(self):
        """Everything around the mirror, with content, mode and time."""
        return tree(os.path.join(self.folder, "around"), leaving_out=self.mirror)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, endpoint, **changes):
        variables = {
            "PATH": "/usr/bin:/bin", "HOME": self.home, "TMPDIR": self.folder, "LANG": "C.UTF-8",
            "OSS_ACCESS_KEY_ID": KEY_ID, "OSS_ACCESS_KEY_SECRET": SECRET,
            "OSS_SESSION_TOKEN": TOKEN, "OSS_REGION": "cn-test-1", "OSS_ENDPOINT": endpoint,
            "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": TOKEN, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": endpoint}
        variables.update(changes)
        return {name: value for name, value in variables.items() if value is not None}

    def run(self, *arguments, endpoint="http://127.0.0.1:9", environment=None, expected=None,
            longest=LONGEST_RUN, started=None, limit=None):
        """Runs osssync to its end; `expected` is a status or several.

        `limit` is what a shell sets for this process alone, such as `umask 0`: cases run side by
        side, and this one's own limits are everybody's.
        """
        variables = self.environment(endpoint, **(environment or {}))
        begin = time.monotonic()
        if arguments and arguments[0] in COMMANDS:
            arguments = [*arguments, "--retry-wait", "0.1"]
        limited = ["/bin/sh", "-c", limit + ' && exec "$@"', "sh"] if limit else []
        process = Started([*limited, self.program, *arguments], variables, self.folder)
        if started:
            started(process)
        # What the kernel reports at the end would count this process before its `exec`.
        peak = 0
        while process.status is None:
            peak = max(peak, resident(process.pid))
            if time.monotonic() - begin > longest:
                process.kill()
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        outcome = Outcome(process.status, *[text.decode("utf-8", "surrogateescape")
                                            for text in process.wait(longest)], seconds, peak)
        self.judge(outcome, expected)
        return outcome

    def judge(self, outcome, expected):
        expect(outcome.seconds < LONGEST_RUN, f"it took too long: {outcome}")
        expect(outcome.status not in CRASHES, f"it crashed: {outcome}")
        expect(outcome.peak < MOST_MEMORY_KIB, f"it took {outcome.peak} KiB: {outcome}")
        expect(not HARMFUL.search(outcome.text), f"harmful text: {outcome!r}")
        for canary in CANARIES:
            expect(canary not in outcome.text, f"a secret is shown: {outcome}")
        equal(self.surroundings(), self.before, "something around the mirror changed")
        if expected is not None:
            wanted = expected if isinstance(expected, (tuple, list, set)) else (expected,)
            expect(outcome.status in wanted, f"wanted the status {expected}: {outcome}")

    def files(self):
        """The mirrored files by their bytes, without osssync's own directory."""
        return {os.fsencode(name): data for name, data in contents(self.mirror).items()}


def resident(process):
    """The most memory a process has had, in KiB; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/status") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def tree(root, leaving_out=None):
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if os.path.join(folder, name) != leaving_out]
        for name in folders + names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = b""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).digest()
            changed = status.st_mtime_ns if not os.path.isdir(path) else 0
            found[os.path.relpath(path, root)] = (status.st_mode, content, changed)
    return found


CASES = []


def case(name, parameters=None):
    """Registers a case, or one for each of `parameters`, a dictionary of words to values."""
    def register(body):
        if parameters is None:
            CASES.append((name, body))
        for word, value in (parameters or {}).items():
            CASES.append((f"{name}: {word}", lambda place, value=value: body(place, value)))
        return body
    return register
