"""Counts the instructions of small workloads under callgrind, and compares them with a baseline.

usage: quick.py PROGRAMS [--update]
Instructions repeat where seconds do not: 10 % more of them than in baseline.json is a failure. On a
busy machine, waiting costs some percent more: what fails is counted up to three times more, and the
smallest count is taken.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from remotes import Remotes
from tools import OSSSync
from workloads import KIB, Trees

BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json")
TOLERANCE = 0.10
RECOUNTS = 3
# One request at a time: how many are worth it at once is decided by time, which valgrind stretches.
STEADY = ["--jobs", "1"]


class Place:
    """What a tool needs of a measurement: a folder, the programs, and how they are run."""

    def __init__(self, programs, folder):
        self.programs, self.folder = os.path.abspath(programs), folder
        self.remotes = Remotes(self.programs, "", folder, {"oss"})
        self.tool = OSSSync(self, self.remotes.all[0])

    def run(self, words):
        subprocess.run(words, env=self.tool.environment, check=True)

    def count(self, words):
        """The instructions of a program, all its threads together."""
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words, *STEADY],
            env=self.tool.environment, capture_output=True, text=True, errors="replace")
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or not found:
            raise RuntimeError(f"{words}: exit {done.returncode}\n{done.stderr[-2000:]}")
        return int(found.group(1))


def measure(place):
    """Millions of instructions by workload."""
    trees, tool = Trees(os.path.join(place.folder, "trees")), place.tool
    small, many = trees.make("small", 500, 4 * KIB), trees.make("many", 10_000, 16)
    counts = {"W2 push 500 × 4 KiB": place.count(tool.push(small, "small"))}
    target = os.path.join(place.folder, "target")
    counts["W1 pull 500 × 4 KiB"] = place.count(tool.pull("small", target))
    shutil.rmtree(target)
    place.run(tool.push(many, "many"))
    # Once more, for whatever is doubtful a second after it was written.
    place.run(tool.push(many, "many"))
    counts["W6 push, nothing changed of 10,000"] = place.count(tool.push(many, "many"))
    counts["W6 pull, nothing changed of 10,000"] = place.count(tool.pull("many", many))
    return {name: round(count / 1e6, 1) for name, count in sorted(counts.items())}


def run(programs):
    with tempfile.TemporaryDirectory(prefix="osssync-bench-") as folder:
        place = Place(programs, folder)
        try:
            return measure(place)
        finally:
            place.remotes.close()


def read_baseline():
    with open(BASELINE) as file:
        return json.load(file)


def grown(found):
    """Whether each workload has more instructions than it may."""
    baseline = read_baseline()
    return {name: count > baseline[name] * (1 + TOLERANCE) for name, count in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--update", action="store_true", help="writes the baseline")
    chosen = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is missing; scripts/setup installs it")
        return 1
    found = run(chosen.programs)
    for _ in range(0 if chosen.update else RECOUNTS):
        if not any(grown(found).values()):
            break
        again = run(chosen.programs)
        found = {name: min(count, again[name]) for name, count in found.items()}
    if chosen.update:
        with open(BASELINE, "w") as file:
            json.dump(found, file, indent=2, ensure_ascii=False)
            file.write("\n")
    baseline, worse = read_baseline(), 0
    for name, is_worse in grown(found).items():
        worse += is_worse
        word = "FAILED" if is_worse else "passed"
        print(f"{word} {name}: {found[name]:,.1f} million instructions, "
              f"{(found[name] / baseline[name] - 1) * 100:+.1f} % of {baseline[name]:,.1f}")
    print(f"{len(found) - worse} passed, {worse} failed")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
