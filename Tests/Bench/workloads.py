"""What is measured: each workload's tree, and its steps with each tool."""

import contextlib
import os
import random
import shutil
import subprocess

from measure import Failure, Series, kill_at
from tools import TOOLS, OSSSync, RClone

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# Older than what any tool takes for a change of this moment.
OLD = 1_600_000_000


class Trees:
    """Files of random content, made once; the same of every machine."""

    def __init__(self, folder):
        self.folder = folder

    def make(self, name, count, size, seed=1):
        """`count` files of `size` bytes, a hundred in each directory."""
        top = os.path.join(self.folder, name)
        if os.path.isdir(top):
            return top
        block = random.Random(seed).randbytes(min(size, 16 * MIB) + 4 * KIB)
        for number in range(count):
            folder = os.path.join(top, f"{number // 100:05}")
            if number % 100 == 0:
                os.makedirs(folder)
            path = os.path.join(folder, f"file-{number:07}.bin")
            with open(path, "wb") as file:
                file.write(b"%012d" % number)
                left = size - 12
                while left > 0:
                    shift = number % (4 * KIB)
                    piece = block[shift:shift + min(left, 16 * MIB)]
                    file.write(piece)
                    left -= len(piece)
                if left < 0:
                    file.truncate(size)
            os.utime(path, (OLD, OLD))
        return top

    def change(self, top, count, moment):
        """Writes other bytes of the same size into so many files, spread over the tree."""
        paths = sorted(os.path.join(folder, name) for folder, folders, names in os.walk(top)
                       if ".osssync" not in folder for name in names)
        for path in paths[::max(1, len(paths) // count)][:count]:
            with open(path, "r+b") as file:
                file.write(b"%012d" % (moment % 10 ** 12))
            os.utime(path, (OLD + moment, OLD + moment))


class Workloads:
    """Runs the steps with every tool in turn, so that a slow minute is one for all."""

    def __init__(self, bench):
        self.bench = bench
        self.trees = Trees(os.path.join(bench.folder, "trees"))
        self.series = {}
        self.pushed = set()

    def scaled(self, count):
        return max(1, int(count * self.bench.scale))

    # The table: name, what it is, the method.
    def table(self):
        return {
            "W1": (f"pull {self.scaled(10_000):,} × 4 KiB", self.pull_small),
            "W2": (f"push {self.scaled(10_000):,} × 4 KiB", self.push_small),
            "W3": (f"pull one file of {self.scaled(2 * GIB) / GIB:.2f} GiB", self.pull_large),
            "W4": (f"push one file of {self.scaled(2 * GIB) / GIB:.2f} GiB", self.push_large),
            "W5": (f"{self.scaled(400)} files of 9.7 MiB, pull and push", self.media),
            "W6": (f"nothing changed of {self.scaled(100_000):,}", self.unchanged),
            "W7": (f"100 changed of {self.scaled(100_000):,}", self.changed),
            "W8": ("kill -9 at half of the large file, bytes in all", self.killed),
            "L1": ("W1 with 20 ms a request", self.pull_small_far),
            "L2": ("W1 with 100 ms a request", self.pull_small_farther),
            "R1": ("W1 with 100 ms a request, of which the service takes 200 a second",
                   self.pull_small_limited),
            "R2": ("W1, and every 200th GET is refused once", self.pull_small_rarely_refused),
            "R3": ("W1, and every 20th GET is refused once", self.pull_small_often_refused),
            "L6": ("W6 pull with 20 ms a request", self.unchanged_far),
            "M1": (f"{self.scaled(1_000_000):,} objects of 16 B: first push, nothing changed",
                   self.million),
        }

    def rows(self):
        return [series.row() for series in self.series.values() if series.costs]

    # Steps

    def tools(self, *only):
        for remote in self.bench.remotes.all:
            for kind in TOOLS:
                if kind.speaks(remote) and kind.name in self.bench.tools:
                    if not only or kind in only:
                        yield kind(self.bench, remote)

    def note(self, workload, step, tool, cost, **facts):
        key = (workload, step, tool.name, tool.remote.name)
        series = self.series.setdefault(key, Series(*key))
        series.costs.append(cost)
        series.facts.update(facts)
        self.bench.say(f"{workload} {step:10} {tool.remote.name:10} {tool.name:14}"
                       f" {cost.wall:7.2f} s {cost.processor:7.2f} s CPU"
                       f" {cost.memory / MIB:5.0f} MiB" + "".join(
                           f", {value} {name}" for name, value in facts.items()))

    def step(self, workload, step, tool, words):
        tool.remote.forget()
        cost = self.bench.run(words, tool.environment)
        requests = tool.remote.requests()
        facts = {} if requests is None else {"requests": len(requests)}
        refused = sum(request["status"] == 503 for request in requests or [])
        if refused:
            facts["answered 503"] = refused
        self.note(workload, step, tool, cost, **facts)

    def seed(self, remote, tree, prefix):
        """Puts a tree into a bucket once, by osssync, which is not measured then."""
        if (remote.url, prefix) not in self.pushed:
            self.bench.run(OSSSync(self.bench, remote).push(tree, prefix),
                           OSSSync(self.bench, remote).environment)
            shutil.rmtree(os.path.join(tree, ".osssync"))
            self.pushed.add((remote.url, prefix))

    def empty(self, remote, prefix):
        """Makes room: what all tools push together is more than the memory holds."""
        cleaner = RClone(self.bench, remote)
        self.bench.run(cleaner.purge(prefix), cleaner.environment)
        self.pushed.discard((remote.url, prefix))

    def target(self):
        path = os.path.join(self.bench.folder, "target")
        shutil.rmtree(path, ignore_errors=True)
        return path

    def push_new(self, workload, tree):
        for run in range(self.bench.runs):
            for number, tool in enumerate(self.tools()):
                prefix = f"{workload}-{run}-{number}"
                self.step(workload, "push", tool, tool.push(tree, prefix))
                self.empty(tool.remote, prefix)
                shutil.rmtree(os.path.join(tree, ".osssync"), ignore_errors=True)

    def pull_new(self, workload, tree, prefix, **slowness):
        for _ in range(self.bench.runs):
            for tool in self.tools():
                if slowness and not hasattr(tool.remote, "slow"):
                    continue
                self.seed(tool.remote, tree, prefix)
                words = tool.pull(prefix, self.target())
                with self.slowed(tool.remote, slowness):
                    self.step(workload, "pull", tool, words)
        self.target()

    @contextlib.contextmanager
    def slowed(self, remote, slowness):
        if slowness:
            remote.slow(**slowness)
        try:
            yield
        finally:
            if slowness:
                remote.slow()

    # Workloads

    def small(self):
        return self.trees.make("small", self.scaled(10_000), 4 * KIB)

    def large(self):
        return self.trees.make("large", 1, self.scaled(2 * GIB))

    def many(self):
        return self.trees.make("many", self.scaled(100_000), 16)

    def pull_small(self):
        self.pull_new("W1", self.small(), "small")

    def pull_small_far(self):
        self.pull_new("L1", self.small(), "small", delay=0.02)

    def pull_small_farther(self):
        self.pull_new("L2", self.small(), "small", delay=0.1)

    def pull_small_limited(self):
        self.pull_new("R1", self.small(), "small", delay=0.1, rate=200)

    def pull_small_rarely_refused(self):
        self.pull_new("R2", self.small(), "small", every=200)

    def pull_small_often_refused(self):
        self.pull_new("R3", self.small(), "small", every=20)

    def push_small(self):
        self.push_new("W2", self.small())

    def pull_large(self):
        tree = self.large()
        self.pull_new("W3", tree, "large")
        for _ in range(self.bench.runs):
            self.plain("W3", tree)

    def plain(self, workload, tree):
        """curl of the object and cp of the file: what the machine itself takes."""
        name = os.path.join("00000", "file-0000000.bin")
        for tool in self.tools(OSSSync):
            self.seed(tool.remote, tree, "large")
            url = subprocess.run(
                [os.path.join(self.bench.programs, "osssync"), "presign",
                 tool.url(f"large/{name}")], env=tool.environment, check=True,
                capture_output=True, text=True).stdout.strip()
            target = self.target()
            os.makedirs(target)
            cost = self.bench.run(["curl", "-sS", "-f", "-o", os.path.join(target, "file"), url],
                                  tool.environment)
            tool.name = "curl"
            self.note(workload, "pull", tool, cost)
            target = self.target()
            cost = self.bench.run(["cp", os.path.join(tree, name), target], tool.environment)
            os.remove(target)
            tool.name = "cp"
            self.note(workload, "pull", tool, cost)

    def push_large(self):
        self.push_new("W4", self.large())

    def media(self):
        tree = self.trees.make("media", self.scaled(400), 9 * MIB + 700 * KIB)
        self.push_new("W5", tree)
        self.pull_new("W5", tree, "media")
        for remote in self.bench.remotes.all:
            if (remote.url, "media") in self.pushed:
                self.empty(remote, "media")
        shutil.rmtree(tree)

    def unchanged(self):
        self.steady("W6", 0)

    def changed(self):
        self.steady("W7", 100)

    def unchanged_far(self):
        self.steady("L6", 0, delay=0.02)

    def steady(self, workload, changes, **slowness):
        """Both sides are equal, but for so many files; each tool has a prefix and a tree."""
        tree = self.many()
        for number, tool in enumerate(self.tools()):
            if slowness and not hasattr(tool.remote, "slow"):
                continue
            mirror, prefix = self.target(), f"{workload}-steady-{number}"
            shutil.copytree(tree, mirror)
            self.bench.run(tool.push(mirror, prefix), tool.environment)
            tool.settle(mirror, prefix)
            for run in range(self.bench.runs):
                for step in ["pull", "push"] if not slowness else ["pull"]:
                    if changes and step == "push":
                        self.trees.change(mirror, changes, 2 * run + 1)
                    if changes and step == "pull":
                        self.another_writer(tool, prefix, changes, 2 * run + 2)
                    words = (tool.pull(prefix, mirror) if step == "pull"
                             else tool.push(mirror, prefix))
                    with self.slowed(tool.remote, slowness):
                        self.step(workload, step, tool, words)
        self.target()

    def another_writer(self, tool, prefix, count, moment):
        """Changes objects as another machine would: from a tree of its own, without the rest."""
        tree = os.path.join(self.bench.folder, "writer")
        shutil.rmtree(tree, ignore_errors=True)
        source = self.many()
        names = sorted(os.path.relpath(os.path.join(folder, name), source)
                       for folder, _, files in os.walk(source) for name in files)
        for name in names[::max(1, len(names) // count)][:count]:
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            with open(os.path.join(tree, name), "wb") as file:
                # Another size: tools that compare sizes alone must see it, too.
                file.write(b"%020d" % (moment + 10 ** (10 + moment % 5)) + b"." * (moment % 7))
        writer = OSSSync(self.bench, tool.remote)
        done = subprocess.run([*writer.push(tree, prefix), "--on-conflict", "local"],
                              env=writer.environment, capture_output=True)
        # It says that there were conflicts.
        if done.returncode != 1:
            raise Failure(f"the other writer ended with {done.returncode}: {done.stderr!r}")

    def killed(self):
        """The bytes that crossed the network in all, as a multiple of the file's."""
        tree = self.large()
        size = self.scaled(2 * GIB)
        for tool in self.tools():
            if tool.remote.requests() is None:
                continue
            self.seed(tool.remote, tree, "large")
            for step in ["pull", "push"]:
                target = self.target()
                prefix = f"W8-{tool.name.replace(' ', '-')}-{tool.remote.scheme}"
                words = (tool.pull("large", target) if step == "pull"
                         else tool.push(tree, prefix))
                tool.remote.forget()
                if not kill_at(words, tool.environment, self.bench.log,
                               lambda pid: self.passed(pid) >= size // 2):
                    self.bench.say(f"W8 {step} {tool.name}: it ended before it was killed")
                cost = self.bench.run(words, tool.environment)
                moved = self.moved(tool, step)
                self.note("W8", step, tool, cost, times=round(moved / size, 2))
                shutil.rmtree(os.path.join(tree, ".osssync"), ignore_errors=True)

    @staticmethod
    def moved(tool, step):
        name = "bytes_sent" if step == "pull" else "bytes_received"
        return sum(request.get(name, 0) for request in tool.remote.requests())

    @staticmethod
    def passed(pid):
        """Bytes that it read or wrote; what goes through `send` and `recv` is not among them."""
        try:
            with open(f"/proc/{pid}/io") as file:
                facts = dict(line.split(": ") for line in file.read().splitlines())
        except OSError:
            return 0
        return max(int(facts["rchar"]), int(facts["wchar"]))

    def million(self):
        tree = self.trees.make("million", self.scaled(1_000_000), 16)
        for number, tool in enumerate(self.tools(OSSSync)):
            prefix = f"M1-{number}"
            self.step("M1", "first push", tool, tool.push(tree, prefix))
            self.step("M1", "push", tool, tool.push(tree, prefix))
            self.step("M1", "pull", tool, tool.pull(prefix, tree))
            shutil.rmtree(os.path.join(tree, ".osssync"))
            self.empty(tool.remote, prefix)
