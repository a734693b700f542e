"""What finished programs cost, by the system's own account."""

import os
import resource
import statistics
import subprocess
import sys
import time


class Cost:
    """One program from its start to its end: seconds, processor seconds, bytes at most."""

    def __init__(self, wall, processor, memory):
        self.wall, self.processor, self.memory = wall, processor, memory


# No measurement takes so long; what does would never end.
LIMIT = 3_600


class Failure(Exception):
    """A program that did not do what is to be measured."""


def run(words, environment, log):
    """Runs a program to its end; one that fails cannot be measured."""
    launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")
    with open(log, "wb") as output:
        done = subprocess.run([sys.executable, "-I", "-S", launcher, *words], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=output,
                              timeout=LIMIT)
    figures = done.stdout.split()
    if len(figures) != 4 or figures[3] != b"0":
        with open(log, errors="replace") as file:
            raise Failure(f"{' '.join(words)}: {done.stdout!r}\n{file.read()[-2000:]}")
    return Cost(float(figures[0]), float(figures[1]), int(figures[2]))


def kill_at(words, environment, log, is_time):
    """Starts a program and kills it when `is_time` says so of its process ID; True if it was."""
    with open(log, "ab") as output:
        process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=output)
    end = time.monotonic() + LIMIT
    while process.poll() is None and not is_time(process.pid):
        if time.monotonic() > end:
            process.kill()
            raise Failure(f"{' '.join(words)}: the moment to kill it did not come in {LIMIT} s")
        time.sleep(0.001)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    return was_running


class Series:
    """The costs of one step with one tool."""

    def __init__(self, workload, step, tool, remote):
        self.workload, self.step, self.tool, self.remote = workload, step, tool, remote
        self.costs = []
        # What else was counted: requests, bytes again.
        self.facts = {}

    def median(self, name):
        return statistics.median(getattr(cost, name) for cost in self.costs)

    def spread(self, name):
        values = [getattr(cost, name) for cost in self.costs]
        return min(values), max(values)

    def row(self):
        return {"workload": self.workload, "step": self.step, "tool": self.tool,
                "remote": self.remote, "runs": len(self.costs),
                **{name: {"median": self.median(name), "least": self.spread(name)[0],
                          "most": self.spread(name)[1]}
                   for name in ("wall", "processor", "memory")},
                **self.facts}


def allow_descriptors():
    """As many open files as may be: the limit of many shells is too low for s5cmd."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
