"""Runs examples/slurm with real Slurm: what a user gets who follows docs/scale.md."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "Tests"))

from cluster import Cluster, wait_until  # noqa: E402
from interruptions import Interruptions  # noqa: E402
from stage import FILES, LARGE, MOST_AGAIN  # noqa: E402


class Test(Interruptions):
    def make_files(self):
        folders = ["a", "a!b", "a/ü", "b c", "b-c/d e", "x/y/z", "ß"]
        for index in range(FILES):
            folder = self.at("source", folders[index % len(folders)])
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "f%05d.%d" % (index * 7919 % 99991, index % 3)),
                      "wb") as file:
                file.write(b"%d" % index * (index % 300))
        for folder in ("a", "b c"):
            with open(self.at("source", folder, "large"), "wb") as file:
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
        process, variables = wait_until(lambda: self.holder(sent), "the node that sends the file")
        node = variables["SLURMD_NODENAME"]
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
        return pulled.returncode == 0 and self.equals(mirror, "pulled")

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

    def is_started(self):
        """Not everywhere can it be, for instance in containers that hide processes."""
        try:
            self.cluster.start()
            return True
        except AssertionError as error:
            print("SKIPPED: Slurm does not start on this machine: %s\n%s"
                  % (error, self.cluster.said()), flush=True)
            return False

    def run(self, cases):
        self.cluster = Cluster(self.at("slurm"))
        try:
            if not self.is_started():
                return
            for case in cases:
                began = time.monotonic()
                case(self)
                print("   %.1f s" % (time.monotonic() - began), flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            self.check(str(error), False)
            print(self.output()[-4000:])
        finally:
            self.cluster.stop()
            self.server.end()


QUICK = [Test.first_round, Test.killed_node, Test.time_limit]
ALL = [Test.first_round, Test.deletions, Test.older_round, Test.killed_node,
       Test.killed_in_flow, Test.time_limit, Test.requeued, Test.cancelled, Test.two_nodes_alive,
       Test.two_nodes_without_locks, Test.missing_shard, Test.refused_deletion, Test.pushed,
       Test.refused_push]


def has_address():
    """Slurm needs an IPv4 address for the name of this machine."""
    try:
        return bool(socket.getaddrinfo(socket.gethostname().split(".")[0], None, socket.AF_INET))
    except OSError:
        return False


def main():
    programs, *words = sys.argv[1:]
    if not has_address():
        print("SKIPPED: the name of this machine has no IPv4 address\n0 passed, 0 failed")
        return 0
    folder = tempfile.mkdtemp(prefix="osssync-slurm.")
    test = Test(programs, folder)
    try:
        chosen = QUICK if "quick" in words else ALL
        names = [word for word in words if word != "quick"]
        test.run([case for case in chosen if not names or case.__name__ in names])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed" % (test.passed, test.failed))
    return 1 if test.failed else 0


sys.exit(main())
