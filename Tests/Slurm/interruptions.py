"""Tasks that are interrupted in the midst of a file, by their node, a time limit or an operator."""

import os
import re
import signal

from cluster import wait_until
from stage import LARGE, MOST_AGAIN, ROOT, Stage, is_alive
from Support.program import library

# The ranges under way have received this much of their 4 MiB.
MIDST = {"holdAt": 3 << 20}


class Interruptions(Stage):
    def killed_node(self):
        process, variables = self.held_task("killed", "large2", MIDST)
        self.cluster.kill_node(variables["SLURMD_NODENAME"], process)
        self.resumes("killed", "large2", "another node completes a task of a dead one")
        self.cluster.bring_back(variables["SLURMD_NODENAME"])

    def killed_in_flow(self):
        """The same while bytes arrive, which costs more: docs/measurements.md has the figure."""
        self.replace_large("large9")
        self.submit("flow", options="--delete --bwlimit 8M")
        process, variables = wait_until(lambda: self.holder(self.partial()),
                                        "the process that has the file")
        wait_until(lambda: self.received("a/large9") > LARGE // 4, "a quarter of the file")
        self.cluster.kill_node(variables["SLURMD_NODENAME"], process)
        self.resumes("flow", "large9", "another node completes a task of one that died in flow")
        self.cluster.bring_back(variables["SLURMD_NODENAME"])

    def time_limit(self):
        """Slurm looks for such tasks twice a minute: the signal, 120 s before a limit of a minute,
        comes up to half a minute after the start."""
        self.held_task("limited", "large5", {"hold": True}, "--time=1")
        wait_until(lambda: "status 143, restart 1" in self.output(), "a task that requeues itself")
        self.check("a task near its time limit stops in order",
                   "osssync: interrupted; run the same command to resume" in self.output())
        self.resumes("limited", "large5", "a task that requeued itself is completed")

    def requeued(self):
        process, variables = self.held_task("requeued", "large6", MIDST)
        task = "%(SLURM_ARRAY_JOB_ID)s_%(SLURM_ARRAY_TASK_ID)s" % variables
        self.cluster.ask("scontrol", "requeue", task)
        wait_until(lambda: not is_alive(process), "the end of the task")
        self.resumes("requeued", "large6", "a task that an operator requeues is completed")
        self.check("it was started again once",
                   " Restarts=1 " in self.cluster.ask("scontrol", "show", "job", task))

    def cancelled(self):
        gone = sorted(name for name in os.listdir(self.at("source/b c")) if name != "large")[:3]
        for name in gone:
            os.remove(self.at("source/b c", name))
        process, variables = self.held_task("cancelled", "large7", MIDST)
        self.cluster.ask("scancel", variables["SLURM_ARRAY_JOB_ID"])
        wait_until(lambda: not is_alive(process), "the end of the task")
        self.faults()
        self.cluster.wait_for_all()
        self.check("tasks that an operator cancels are not queued again",
                   "restart" not in self.output())
        self.check("finish names a shard of a cancelled task and deletes nothing",
                   re.search("no result of round 'cancelled'.*; nothing was deleted", self.output())
                   and not self.finished("cancelled")
                   and all(os.path.exists(self.at("mirror/b c", name)) for name in gone))
        self.submit("cancelled")
        self.resumes("cancelled", "large7", "an array that was cancelled is completed by another")

    def resumes(self, round, name, what):
        """Releases the requests that are held; the round ends as if nothing had happened."""
        self.faults()
        self.cluster.wait_for_all(240)
        # Before a plain mirror fetches the file, too.
        again = self.received("a/" + name) - LARGE
        self.check(what, self.finished(round) and self.is_same())
        resumed = re.findall(r"transferred \((.*resumed)\)", self.output())
        self.check("little of the file is fetched again",
                   resumed and again <= min(MOST_AGAIN, LARGE // 2))
        print("   %s; %.1f MiB were fetched again" % ("; ".join(resumed), again / 2 ** 20),
              flush=True)

    def two_nodes_alive(self):
        """The node is lost, but its task is not: it and its replacement are on one shard."""
        process, variables = self.held_task("alive", "large3", MIDST)
        self.cluster.lose_node(variables["SLURMD_NODENAME"])
        wait_until(lambda: "status 75, restart" in self.output(), "a replacement that is refused")
        self.check("a replacement is refused while the lost task lives", is_alive(process))
        self.faults()
        self.cluster.wait_for_all(240)
        self.check("two nodes on one shard leave what one leaves",
                   self.is_same() and self.finished("alive"))
        self.check("the lost task ended by itself", not is_alive(process))
        self.cluster.bring_back(variables["SLURMD_NODENAME"])

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
        process, variables = self.held_task("asleep", "large4", {"holdAt": 3 << 20})
        os.kill(process, signal.SIGSTOP)
        self.cluster.lose_node(variables["SLURMD_NODENAME"])
        self.faults()
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
        self.cluster.bring_back(variables["SLURMD_NODENAME"])
        self.submit("awake")
        self.cluster.wait_for_all()
        self.check("the next round finds nothing wrong", self.is_same() and self.finished("awake"))
