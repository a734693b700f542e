"""A store, a cluster and the mirrors of the cases that run on it."""

import filecmp
import json
import os
import shutil
import subprocess
import urllib.request

from cluster import wait_until
from Support.processes import Started

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SUBMIT = os.path.join(ROOT, "examples/slurm/submit")
# 20,000 for a longer run.
FILES = int(os.environ.get("FILES", "2000"))
LARGE = int(os.environ.get("LARGE", "96")) << 20
# What osssync requests at once of a large object, and the requests that precede a held one.
RANGE, BEFORE = 4 << 20, 5
# Of each of the four ranges or parts that are under way, and what is not recorded yet.
MOST_AGAIN = 24 << 20


def metadata(path):
    status = os.stat(path)
    return status.st_mode, status.st_mtime_ns


def is_alive(process):
    """False also for a process whose end nobody has asked for."""
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Stage:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.passed = self.failed = 0
        self.environment = {
            "PATH": programs + ":" + os.environ["PATH"], "HOME": os.path.join(folder, "home"),
            "OSS_REGION": "cn-test", "OSS_ACCESS_KEY_ID": "id", "OSS_ACCESS_KEY_SECRET": "secret"}
        for name in ("home", "server", "source", "mirror", "log"):
            os.makedirs(self.at(name))
        with open(self.at("credentials"), "w") as file:
            file.write("[default]\naccess-key-id = id\naccess-key-secret = secret\n")
        os.chmod(self.at("credentials"), 0o600)
        self.server = Started(
            [os.path.join(programs, "osssync-server"), "--root", self.at("server"), "--bucket",
             "bucket", "--credentials", self.at("credentials"), "--region", "cn-test", "--log",
             self.at("requests")], stderr=None)
        self.environment["OSS_ENDPOINT"] = json.loads(self.server.line())["url"]
        self.cluster = None
        self.earlier = set()

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def check(self, what, condition):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
        print("%s: %s" % ("ok" if condition else "FAILED", what), flush=True)

    def osssync(self, *words):
        return subprocess.run(
            [os.path.join(self.programs, "osssync"), *words], env=self.environment, text=True,
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)

    def faults(self, *rules):
        """Sets the script of the server, which releases the requests that it holds."""
        request = urllib.request.Request(self.environment["OSS_ENDPOINT"] + "/-/faults",
                                         json.dumps(rules).encode(), method="POST")
        urllib.request.urlopen(request, timeout=60).close()

    def held(self):
        with urllib.request.urlopen(self.environment["OSS_ENDPOINT"] + "/-/held",
                                    timeout=60) as answer:
            return int(answer.read())

    def push(self, *options):
        return self.osssync("push", "-q", "--delete", *options, "source", "oss://bucket/m")

    def received(self, key):
        """Bytes of an object that were fetched, by any task."""
        return self.moved("GetObject", "m/" + key, "bytes_sent")

    def moved(self, operation, key, direction):
        with open(self.at("requests")) as file:
            requests = [json.loads(line) for line in file]
        return sum(each[direction] for each in requests
                   if each["operation"] == operation and each["key"] == key)

    def submit(self, round, tasks=4, options="--delete", mirror="mirror", direction="pull",
               sbatch=""):
        self.earlier = set(os.listdir(self.at("log")))
        words = [SUBMIT, self.at(mirror), str(tasks), "3", round]
        environment = dict(
            self.environment, SLURM_CONF=self.cluster.conf, OPTIONS=options, DIRECTION=direction,
            SBATCH_OPTIONS="--output=%s/%%A_%%a.out %s" % (self.at("log"), sbatch))
        done = subprocess.run(words, env=environment, text=True, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        if done.returncode:
            raise AssertionError(done.stdout)

    def output(self):
        """What the jobs of the last round that was submitted have written."""
        names = sorted(set(os.listdir(self.at("log"))) - self.earlier)
        return "\n".join(open(self.at("log", name), errors="replace").read() for name in names)

    def finished(self, round, mirror="mirror"):
        return os.path.exists(self.at(mirror, ".osssync/rounds", round, "finished"))

    def files(self, name):
        """The path of each file in a directory, and a set of the directories in it."""
        found, directories = {}, set()
        for path, folders, names in os.walk(self.at(name)):
            folders[:] = [each for each in folders if each != ".osssync"]
            directories.add(os.path.relpath(path, self.at(name)))
            for each in names:
                whole = os.path.join(path, each)
                found[os.path.relpath(whole, self.at(name))] = whole
        return found, directories

    def equals(self, first, second, with_metadata=False):
        (left, directories), (right, others) = self.files(first), self.files(second)
        different = left.keys() ^ right.keys() | {
            name for name in left.keys() & right.keys()
            if not filecmp.cmp(left[name], right[name], shallow=False)
            or with_metadata and metadata(left[name]) != metadata(right[name])}
        if with_metadata:
            different |= directories ^ others
        if different:
            print("   '%s' and '%s' differ in %d files and directories, among them %s"
                  % (first, second, len(different), sorted(different)[:5]), flush=True)
        return not different

    def is_same(self):
        """True if the mirror has what the source has, and is as a plain mirror of the prefix."""
        plain = self.osssync("pull", "-q", "--delete", "--max-delete", "100%", "plain",
                             "oss://bucket/m")
        if plain.returncode:
            print(plain.stdout, flush=True)
        return (plain.returncode == 0 and self.equals("source", "mirror")
                and self.equals("plain", "mirror", with_metadata=True))

    def status(self):
        lines = self.osssync("status", "--json", "mirror").stdout.splitlines()
        found = [json.loads(line) for line in lines if '"event":"shard"' in line]
        return [{name: each[name] for name in each if name != "time"} for each in found]

    def replace_large(self, name):
        for each in os.listdir(self.at("source/a")):
            if each.startswith("large"):
                os.remove(self.at("source/a", each))
        with open(self.at("source/a", name), "wb") as file:
            file.write(os.urandom(LARGE))
        self.push()

    def held_task(self, round, name, effect, sbatch=""):
        """Submits a round; the process that then waits in the midst of a new large file, and its
        variables."""
        self.replace_large(name)
        self.faults({"match": {"operation": "GetObject", "key": "m/a/" + name, "from": BEFORE + 1},
                     "effect": effect})
        self.submit(round, sbatch=sbatch)
        wait_until(lambda: self.held() and self.received("a/" + name) >= BEFORE * RANGE,
                   "the held requests")
        return wait_until(lambda: self.holder(self.partial()), "the process that has the file")

    def partial(self):
        for path, _, names in os.walk(self.at("mirror/.osssync/shards")):
            for name in names:
                whole = os.path.join(path, name)
                if path.endswith("/partial") and os.stat(whole).st_blocks * 512 > 8 << 20:
                    return whole
        return None

    def holder(self, path):
        """The process that has a file open, and its variables."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                folder = "/proc/%s/fd" % name
                links = [os.readlink(os.path.join(folder, each)) for each in os.listdir(folder)]
                if path not in links:
                    continue
                with open("/proc/%s/environ" % name) as file:
                    words = [each.partition("=") for each in file.read().split("\0")]
            except OSError:
                continue
            variables = {name: value for name, _, value in words}
            if "SLURMD_NODENAME" in variables:
                return int(name), variables
        return None
