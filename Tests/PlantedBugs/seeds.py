"""How many seeds the simulator plays until one shows a bug."""

import re
import subprocess

import patched_tree
import suites

SIMULATOR = patched_tree.TREE + "/.build/release/osssync-simulator"
# Few at first: most of what the simulator can see shows at once, and a batch is played to its end.
BATCHES = [8, 24, 64, 128, 256]


class Find:
    """The seed that showed a bug, and the promise that was broken."""

    def __init__(self, seed, promise):
        self.seed, self.promise = seed, promise


def build():
    """Not optimized it plays a third as many in the same time."""
    subprocess.run(["swift", "build", "--quiet", "-c", "release", "--package-path",
                    patched_tree.TREE, "--product", "osssync-simulator"], check=True)


def play(first, end, options):
    """The seeds that fail of a half-open range, in order, each with what it broke."""
    status, output = suites.run([SIMULATOR, "--seeds", f"{first}..<{end}", "--jobs", "2",
                                 "--no-shrink"] + options, None)
    last = re.search(r"^failed seeds: (.*)$", output, re.MULTILINE)
    failed = sorted(map(int, last.group(1).split())) if last else []
    if status != (1 if failed else 0):
        raise RuntimeError(f"the simulator ended with {status}:\n{output[-2000:]}")
    return [Find(seed, promise(seed, output)) for seed in failed]


def promise(seed, output):
    broken = re.search(rf"^seed {seed}: violated ([^:]*):", output, re.MULTILINE)
    return broken.group(1) if broken else "every run ends"


def find(bug, limit):
    """The first seed that fails with the bug and passes without; None if there is none."""
    first, batches = 1, iter(BATCHES)
    while first <= limit:
        end = min(first + next(batches, BATCHES[-1]), limit + 1)
        patched_tree.switch_on(bug.number)
        try:
            failed = play(first, end, bug.simulator_options)
        finally:
            patched_tree.switch_on(0)
        for found in failed:
            if not play(found.seed, found.seed + 1, bug.simulator_options):
                return found
        first = end
    return None
