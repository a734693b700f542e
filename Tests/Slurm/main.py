"""Runs examples/slurm with real Slurm: what a user gets who follows docs/scale.md."""

import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "Tests"))

from cluster import Cluster, wait_until  # noqa: E402
from Support.program import library  # noqa: E402

SUBMIT = os.path.join(ROOT, "examples/slurm/submit")
# 20,000 for a longer run.
FILES = int(os.environ.get("FILES", "2000"))
LARGE = 96 << 20
# 4 MiB for each of the streams of a file, of which there are four, and what was on its way.
MOST_AGAIN = 24 << 20


def is_alive(process):
    """False also for a process whose end nobody has asked for."""
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Test:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.passed = self.failed = 0
        self.environment = {
            "PATH": programs + ":" + os.environ["PATH"], "HOME": os.path.join(folder, "home"),
            "OSS_REGION": "cn-test", "OSS_ACCESS_KEY_ID": "id", "OSS_ACCESS_KEY_SECRET": "secret"}
        for name in ("home", "server", "source", "mirror"):
            os.makedirs(self.at(name))
        with open(self.at("credentials"), "w") as file:
            file.write("[default]\naccess-key-id = id\naccess-key-secret = secret\n")
        os.chmod(self.at("credentials"), 0o600)
        self.server = subprocess.Popen(
            [os.path.join(programs, "osssync-server"), "--root", self.at("server"), "--bucket",
             "bucket", "--credentials", self.at("credentials"), "--region", "cn-test", "--log",
             self.at("requests")],
            stdout=subprocess.PIPE, text=True)
        self.environment["OSS_ENDPOINT"] = json.loads(self.server.stdout.readline())["url"]
        self.cluster = None

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
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

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

    def submit(self, round, tasks=4, options="--delete", mirror="mirror", direction="pull"):
        words = [SUBMIT, self.at(mirror), str(tasks), "3", round]
        environment = dict(
            self.environment, SLURM_CONF=self.cluster.conf, OPTIONS=options, DIRECTION=direction,
            SBATCH_OPTIONS="--output=%s/%%A_%%a.out" % self.at("log"))
        done = subprocess.run(words, env=environment, text=True, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise AssertionError(done.stdout)

    def output(self):
        return "\n".join(open(self.at("log", name), errors="replace").read()
                         for name in sorted(os.listdir(self.at("log"))))

    def finished(self, round, mirror="mirror"):
        return os.path.exists(self.at(mirror, ".osssync/rounds", round, "finished"))

    def is_same(self, first="source", second="mirror"):
        def files(name):
            found = {}
            for path, folders, names in os.walk(self.at(name)):
                folders[:] = [each for each in folders if each != ".osssync"]
                for each in names:
                    whole = os.path.join(path, each)
                    found[os.path.relpath(whole, self.at(name))] = whole
            return found
        left, right = files(first), files(second)
        return left.keys() == right.keys() and all(
            filecmp.cmp(left[name], right[name], shallow=False) for name in left)

    def status(self):
        lines = self.osssync("status", "--json", "mirror").stdout.splitlines()
        found = [json.loads(line) for line in lines if '"event":"shard"' in line]
        return [{name: each[name] for name in each if name != "time"} for each in found]

    # The cases, in order.

    def make_files(self):
        folders = ["a", "a!b", "a/ü", "b c", "b-c/d e", "x/y/z", "ß"]
        for index in range(FILES):
            folder = self.at("source", folders[index % len(folders)])
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "f%05d.%d" % (index * 7919 % 99991, index % 3)),
                      "wb") as file:
                file.write(b"%d" % index * (index % 300))
        with open(self.at("source/a/large"), "wb") as file:
            file.write(os.urandom(LARGE))

    def first_round(self):
        self.make_files()
        self.check("the source is pushed", self.push().returncode == 0)
        cut = self.osssync("shard", "-q", "--count", "16", "mirror", "oss://bucket/m")
        self.check("the mirror is cut", cut.returncode == 0)
        self.submit("one")
        self.cluster.wait_for_all()
        self.check("the round is finished", self.finished("one"))
        self.check("the mirror has all files", self.is_same())

    def deletions(self):
        shutil.rmtree(self.at("source/a!b"))
        with open(self.at("source/new"), "w") as file:
            file.write("new")
        self.push()
        self.submit("two")
        self.cluster.wait_for_all()
        self.check("the next round deletes", self.is_same() and self.finished("two"))
        self.submit("two")
        self.cluster.wait_for_all()
        self.check("an array that is submitted again does nothing", self.is_same())

    def older_round(self):
        before = len(os.listdir(self.at("log")))
        self.submit("one")
        self.cluster.wait_for_all()
        self.check("a task of an older round is refused, and not queued again",
                   "round 'two' has begun" in self.output()
                   and len(os.listdir(self.at("log"))) == before + 5)

    def killed_node(self):
        self.replace_large("large2")
        # So slow that the node dies in the midst of the file.
        self.submit("three", options="--delete --bwlimit 8M")
        partial = wait_until(self.partial, "an unfinished download")
        process, node = wait_until(lambda: self.holder(partial), "the node that has it")
        wait_until(lambda: self.received("a/large2") > LARGE // 4, "a quarter of the file")
        self.cluster.kill_node(node, process)
        self.cluster.wait_for_all(240)
        resumed = re.findall(r"transferred \((.*resumed)\)", self.output())
        again = self.received("a/large2") - LARGE
        self.check("little of what the dead node had of the file is fetched again",
                   resumed and again <= MOST_AGAIN)
        print("   %s; %.1f MiB were fetched again" % ("; ".join(resumed), again / 2 ** 20),
              flush=True)
        self.check("another node does what the dead one had", self.is_same())
        self.check("the round is finished", self.finished("three"))
        self.cluster.bring_back(node)

    def two_nodes_alive(self):
        """The node is lost, but its task is not: it and its replacement are on one shard."""
        self.replace_large("large3")
        self.submit("alive", options="--delete --bwlimit 8M")
        process, node = self.lost_task()
        wait_until(lambda: "status 75, restart" in self.output(), "a replacement that is refused")
        self.check("a replacement is refused while the lost task lives", is_alive(process))
        self.cluster.wait_for_all(240)
        self.check("two nodes on one shard leave what one leaves",
                   self.is_same() and self.finished("alive"))
        self.check("the lost task ended by itself", not is_alive(process))
        self.cluster.bring_back(node)

    def two_nodes_without_locks(self):
        """The same where nothing but the lease excludes them, and the lost task sleeps until its
        replacement has done the work."""
        preloaded = library(os.path.join(ROOT, "Tests/FaultScripts/pretend.c"), self.folder)
        if preloaded is None:
            print("SKIPPED: no compiler for a library to preload", flush=True)
            return
        settings = {"LD_PRELOAD": preloaded, "PRETEND_NOLOCKS": "1", "PRETEND_NETWORK": "1",
                    # Half a minute of the lease becomes three seconds.
                    "PRETEND_HURRY": "10"}
        os.makedirs(self.at("without"))
        with open(self.at("without/osssync"), "w") as file:
            words = " ".join("%s=%s" % each for each in settings.items())
            file.write("#!/bin/sh\nexec env %s %s/osssync \"$@\"\n" % (words, self.programs))
        os.chmod(self.at("without/osssync"), 0o755)
        path = self.environment["PATH"]
        self.environment["PATH"] = self.at("without") + ":" + path
        self.replace_large("large4")
        self.submit("asleep", options="--delete --bwlimit 8M")
        process, node = self.lost_task(sleeps=True)
        self.cluster.wait_for_all(300)
        self.check("a replacement does the work of a task that sleeps",
                   self.is_same() and self.finished("asleep") and is_alive(process))
        before = self.status()
        os.kill(process, signal.SIGCONT)
        wait_until(lambda: not is_alive(process), "the end of the task that slept")
        self.check("a task that slept says who has its shard",
                   "another run has taken" in self.output())
        self.check("a task that slept changes no file", self.is_same())
        self.check("a task that slept changes nothing in the state", self.status() == before)
        self.environment["PATH"] = path
        self.cluster.bring_back(node)
        self.submit("awake")
        self.cluster.wait_for_all()
        self.check("the next round finds nothing wrong", self.is_same() and self.finished("awake"))

    def replace_large(self, name):
        for each in os.listdir(self.at("source/a")):
            if each.startswith("large"):
                os.remove(self.at("source/a", each))
        with open(self.at("source/a", name), "wb") as file:
            file.write(os.urandom(LARGE))
        self.push()

    def lost_task(self, sleeps=False):
        """The process of a task in the midst of a file whose node is lost, and the node."""
        partial = wait_until(self.partial, "an unfinished download")
        process, node = wait_until(lambda: self.holder(partial), "the node that has it")
        if sleeps:
            os.kill(process, signal.SIGSTOP)
        self.cluster.lose_node(node)
        return process, node

    def partial(self):
        for path, _, names in os.walk(self.at("mirror/.osssync/shards")):
            for name in names:
                whole = os.path.join(path, name)
                if path.endswith("/partial") and os.stat(whole).st_blocks * 512 > 8 << 20:
                    return whole
        return None

    def holder(self, partial):
        """The process that has the file open, and the node that Slurm has started it on."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                folder = "/proc/%s/fd" % name
                links = [os.readlink(os.path.join(folder, each)) for each in os.listdir(folder)]
                if partial not in links:
                    continue
                words = open("/proc/%s/environ" % name).read().split("\0")
                node = [each for each in words if each.startswith("SLURMD_NODENAME=")]
                return int(name), node[0].split("=")[1]
            except (OSError, IndexError):
                continue
        return None

    def missing_shard(self):
        shutil.rmtree(self.at("source/x"))
        self.push()
        for task in range(3):
            self.osssync("pull", "-q", "--delete", "--shard", "%d/4" % task, "--round", "four",
                         "mirror")
        early = self.osssync("finish", "--round", "four", "mirror")
        self.check("an end without every shard deletes nothing",
                   early.returncode == 1 and os.path.isdir(self.at("mirror/x")))
        self.submit("four")
        self.cluster.wait_for_all()
        self.check("what is left is done by the array", self.is_same())
        self.check("each shard is done", all(each["complete"] for each in self.status()))

    def refused_deletion(self):
        """More deletions than the limit, which `finish` refuses and then carries out."""
        for name in os.listdir(self.at("source")):
            path = self.at("source", name)
            if name not in ("b-c", ".osssync"):
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        self.push("--max-delete", "100%")
        self.submit("five")
        self.cluster.wait_for_all()
        refusal = re.search(r"([0-9]+) deletions were held back: .* --max-delete \1\.", self.output())
        self.check("a deletion of most files is refused, with the option that allows it",
                   refusal and not self.finished("five") and os.path.isdir(self.at("mirror/a")))
        wrong = self.osssync("finish", "--round", "five", "--max-delete", "5", "mirror")
        self.check("a limit that is too low refuses it, too",
                   wrong.returncode == 3 and os.path.isdir(self.at("mirror/a")))
        most = refusal.group(1) if refusal else "0"
        end = self.osssync("finish", "--round", "five", "--max-delete", most, "mirror")
        self.check("finish with that option deletes", end.returncode == 0 and self.is_same()
                   and self.finished("five"))

    def pushed(self):
        """A new directory that an array sends, with a node that dies."""
        os.makedirs(self.at("sent"))
        for index in range(400):
            with open(self.at("sent", "f%03d" % index), "wb") as file:
                file.write(b"%d" % index)
        with open(self.at("sent/large"), "wb") as file:
            file.write(os.urandom(LARGE))
        cut = self.osssync("shard", "--count", "16", "sent", "oss://bucket/sent")
        self.check("a new directory is cut by its files",
                   cut.returncode == 0 and "'sent' now has" in cut.stdout)
        self.submit("one", options="--delete --bwlimit 8M", mirror="sent", direction="push")
        sent = self.at("sent/large")
        process, node = wait_until(lambda: self.holder(sent), "the node that sends the file")
        wait_until(lambda: self.uploaded() > LARGE // 4, "a quarter of the file")
        self.cluster.kill_node(node, process)
        self.cluster.wait_for_all(240)
        self.check("another node sends the rest, and the round is finished",
                   self.finished("one", "sent") and self.is_pulled("sent"))
        again = self.uploaded() - LARGE
        self.check("no more is sent again than the parts that were on their way",
                   again <= MOST_AGAIN)
        print("   %.1f MiB were sent again" % (again / 2 ** 20), flush=True)
        self.cluster.bring_back(node)

    def uploaded(self):
        return self.moved("UploadPart", "sent/large", "bytes_received")

    def is_pulled(self, mirror):
        """True if a new directory that is pulled has the files of the one that was pushed."""
        shutil.rmtree(self.at("pulled"), ignore_errors=True)
        pulled = self.osssync("pull", "-q", "pulled", "oss://bucket/" + mirror)
        return pulled.returncode == 0 and self.is_same(mirror, "pulled")

    def refused_push(self):
        for index in range(400):
            os.remove(self.at("sent", "f%03d" % index))
        self.submit("two", mirror="sent", direction="push")
        self.cluster.wait_for_all()
        refusal = re.search(r"400 deletions were held back: .* --max-delete 400\.", self.output())
        self.check("a push of most deletions is refused, with the option that allows it",
                   refusal and not self.finished("two", "sent") and not self.is_pulled("sent"))
        end = self.osssync("finish", "--round", "two", "--max-delete", "400", "sent")
        self.check("finish with that option deletes the objects", end.returncode == 0
                   and self.finished("two", "sent") and self.is_pulled("sent"))

    def run(self):
        os.makedirs(self.at("log"))
        self.cluster = Cluster(self.at("slurm"))
        try:
            self.cluster.start()
            for case in (self.first_round, self.deletions, self.older_round, self.killed_node,
                         self.two_nodes_alive, self.two_nodes_without_locks, self.missing_shard,
                         self.refused_deletion, self.pushed, self.refused_push):
                began = time.monotonic()
                case()
                print("   %.1f s" % (time.monotonic() - began), flush=True)
        except AssertionError as error:
            self.check(str(error), False)
            print(self.output()[-4000:])
        finally:
            self.cluster.stop()
            self.server.terminate()
            self.server.wait()


def main():
    folder = tempfile.mkdtemp(prefix="osssync-slurm.")
    test = Test(sys.argv[1], folder)
    try:
        test.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed" % (test.passed, test.failed))
    sys.exit(1 if test.failed else 0)


main()
