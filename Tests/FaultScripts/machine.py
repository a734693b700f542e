"""Runs under limits, as another user, in a mount namespace, and runs that get signals."""

import contextlib
import json
import os
import shutil
import subprocess
import time

import program
from case_table import expect
from stage import BUCKET
from Support.processes import PATIENCE, Started
from Support.program import library

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments(place, command, *options):
    quick = [] if "--retry-wait" in options else ["--retry-wait", "0.05"]
    if "--timeout" not in options:
        quick += ["--timeout", "10"]
    return [place.server.osssync, command, place.directory, f"oss://{BUCKET}/{place.prefix}",
            "--json", *quick, *options]


def under(place, wrapper, command, *options, limit=PATIENCE):
    """One run that another program starts."""
    line = [*wrapper, *arguments(place, command, *options)]
    return program.run(line[0], line[1:], place.full_environment(), limit)


def until(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (found := condition()):
        expect(time.monotonic() < end, f"{what} did not happen in {seconds} s")
        time.sleep(0.01)
    return found


class Running(Started):
    """A run that goes on while the case does something else."""

    def __init__(self, place, command, *options, wrapper=()):
        self.begun = time.monotonic()
        super().__init__([*wrapper, *arguments(place, command, *options)],
                         place.full_environment())
        place.closers.append(self.end)

    def until_planned(self):
        """Waits for the line which says that the listing and the walk have ended."""
        planned = False
        while not planned:
            line = self.line()
            expect(line, f"the run ended before its plan was complete: {self.last_words()}")
            found = json.loads(line)
            planned = found["event"] == "plan" and found["complete"]

    def send(self, number):
        super().send(number)
        return time.monotonic()

    def result(self, limit=PATIENCE):
        """What it left behind, which a run that was cut off need not explain."""
        output, errors = self.wait(limit)
        return program.Result(self.words, self.status, output.decode(), errors.decode(),
                              time.monotonic() - self.begun)

    def finish(self):
        return self.result().check()


def runnable(*command):
    """True if a program exists here and may do this."""
    if not shutil.which(command[0]):
        return False
    return subprocess.run(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=60).returncode == 0


# Why cases of this worker were left out, wholly or in part.
SKIPPED = []


def skipped(reason):
    SKIPPED.append(reason)


def pretending(place, **what):
    """Lets osssync run on another machine; False where nothing can be preloaded."""
    path = library(os.path.join(HERE, "pretend.c"), place.folder)
    if path is None or not os.path.exists("/proc/self/exe"):
        skipped("no compiler for a library to preload")
        return False
    place.environment = {"LD_PRELOAD": path,
                         **{f"PRETEND_{name.upper()}": value for name, value in what.items()}}
    return True


class Disk:
    """A namespace with mounts of its own, which need no privileges."""

    def __init__(self, place):
        self.place = place
        self.holder = Started(["unshare", "-Urm", "sh", "-c", "echo ready; exec cat"],
                              stdin=subprocess.PIPE, stderr=None)
        place.closers.append(self.close)
        self.holder.line()
        self.enter = ["nsenter", "-t", str(self.holder.pid), "-U", "-m", "--preserve-credentials",
                      "--"]

    @staticmethod
    def is_possible():
        if runnable("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"):
            return True
        skipped("mounts of one's own need user namespaces")
        return False

    def close(self):
        self.holder.process.stdin.close()
        self.holder.wait(PATIENCE)

    def mount(self, *options):
        self.command("mount", *options)

    def command(self, *line):
        subprocess.run([*self.enter, *line], check=True, timeout=60)

    def unmount(self, path):
        self.command("umount", path)

    def memory(self, path, options):
        os.makedirs(path, exist_ok=True)
        self.mount("-t", "tmpfs", "-o", options, "none", path)

    def run(self, command, *options):
        return under(self.place, self.enter, command, *options)

    def running(self, command, *options):
        # What enters becomes the program, so that signals reach it.
        return Running(self.place, command, *options, wrapper=self.enter)

    def alone(self, command, *options):
        """A command that takes the directory alone."""
        line = [*self.enter, self.place.server.osssync, command, self.place.directory, *options]
        return program.run(line[0], line[1:], self.place.full_environment())

    @contextlib.contextmanager
    def inside(self):
        """Within, the place's directory is the one that runs see."""
        outside = self.place.directory
        self.place.directory = f"/proc/{self.holder.pid}/root{outside}"
        try:
            yield self.place
        finally:
            self.place.directory = outside

    def tree(self):
        with self.inside() as place:
            return place.tree()


def stranger_number():
    """A user of this worker's own: what others run must not count against its limits."""
    return 61_000 + os.getpid() % 4_000


def stranger(place):
    """How to start a program whom permissions bind; None where that is not possible."""
    if os.getuid() != 0:
        return ["env"]
    number = stranger_number()
    wrapper = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]
    if not runnable(*wrapper, "test", "-x", place.server.osssync):
        skipped("no other user can be")
        return None
    os.chmod(place.server.folder, 0o711)
    owned(place.folder)
    return wrapper


def owned(folder):
    """Gives a tree to the stranger."""
    if os.getuid() != 0:
        return
    number = stranger_number()
    os.chown(folder, number, number)
    for base, folders, files in os.walk(folder):
        for name in folders + files:
            os.chown(os.path.join(base, name), number, number, follow_symlinks=False)
