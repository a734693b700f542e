"""A Slurm of three nodes that are all this machine, on loopback and in a folder of its own."""

import os
import signal
import socket
import subprocess
import time

NODES = 3
LONGEST_WAIT = 120


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_until(condition, what, limit=LONGEST_WAIT):
    """Asks again and again: Slurm has no events for it."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("this did not come within %d s: %s" % (limit, what))


def step_of(process):
    """A process of a task and those above it, up to its slurmstepd."""
    found = [process]
    while True:
        with open("/proc/%d/stat" % found[-1]) as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
        if name.startswith("slurmstepd"):
            return found
        found.append(int(rest.split()[1]))
        if found[-1] <= 1:
            raise AssertionError("process %d belongs to no step" % process)


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.processes = {}
        self.host = socket.gethostname().split(".")[0]
        for name in ("munge", "key", "state", "spool", "run", "log"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        os.chmod(folder, 0o755)
        os.chmod(os.path.join(folder, "munge"), 0o755)
        os.chmod(os.path.join(folder, "key"), 0o700)
        for node in self.nodes():
            os.makedirs(os.path.join(folder, "spool", node), exist_ok=True)
        self.conf = os.path.join(folder, "slurm.conf")
        with open(self.conf, "w") as file:
            file.write("\n".join(self.settings()) + "\n")
        self.environment = dict(os.environ, SLURM_CONF=self.conf)

    def nodes(self):
        return ["n%d" % number for number in range(1, NODES + 1)]

    def settings(self):
        folder, host = self.folder, self.host
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        control, *ports = free_ports(NODES + 1)
        lines = """ClusterName=osssync
SlurmctldHost=%(host)s(127.0.0.1)
SlurmctldPort=%(control)d
SlurmUser=%(user)s
SlurmdUser=%(user)s
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=%(folder)s/munge/socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=%(folder)s/spool/%%n
SlurmctldPidFile=%(folder)s/run/slurmctld.pid
SlurmdPidFile=%(folder)s/run/slurmd.%%n.pid
SlurmctldLogFile=%(folder)s/log/slurmctld.log
SlurmdLogFile=%(folder)s/log/slurmd.%%n.log
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=6
KillWait=5""" % {"host": host, "control": control, "user": user, "folder": folder}
        nodes = ["NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=256 "
                 "State=UNKNOWN" % (node, host, port) for node, port in zip(self.nodes(), ports)]
        return lines.split("\n") + nodes + [
            "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]

    def spawn(self, name, words):
        log = open(os.path.join(self.folder, "log", name + ".out"), "ab")
        self.processes[name] = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
            start_new_session=True)

    def start(self):
        folder = self.folder
        key = os.path.join(folder, "key", "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o600)
        paths = {"key-file": "key/munge.key", "socket": "munge/socket",
                 "pid-file": "run/munged.pid",
                 "seed-file": "key/seed", "log-file": "log/munged.log"}
        options = ["--%s=%s" % (name, os.path.join(folder, path)) for name, path in paths.items()]
        self.spawn("munged", ["munged", "--foreground", "--force"] + options)
        wait_until(lambda: self.live() and os.path.exists(os.path.join(folder, "munge", "socket")),
                   "munged")
        self.spawn("slurmctld", ["slurmctld", "-D", "-c"])
        for node in self.nodes():
            self.start_node(node)
        wait_until(lambda: self.live() and self.ask("sinfo", "-h", "-o", "%D %t")
                   == "%d idle" % NODES, "three idle nodes")

    def live(self):
        """True; a process that has ended is an error at once."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise AssertionError("%s ended with %d" % (name, process.returncode))
        return True

    def said(self):
        """The last lines of each log."""
        folder = os.path.join(self.folder, "log")
        texts = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), errors="replace") as file:
                texts += ["%s: %s" % (name, line.rstrip()) for line in file.readlines()[-5:]]
        return "\n".join(texts)

    def start_node(self, node):
        self.spawn(node, ["slurmd", "-D", "-N", node])

    def ask(self, *words):
        done = subprocess.run(words, env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LONGEST_WAIT)
        return done.stdout.strip()

    def queue(self):
        """The tasks that have not ended: their ids, states and nodes."""
        lines = self.ask("squeue", "-h", "-r", "-o", "%i %T %N").split("\n")
        return [line.split() for line in lines if line and not line.startswith("slurm_load")]

    def wait_for_all(self, limit=LONGEST_WAIT):
        wait_until(lambda: not self.queue(), "an empty queue", limit)

    def kill_node(self, node, process):
        """What a node that loses its power leaves: no slurmd, no step, no script and no task.

        The task is the last to die: whoever waits for it would report its end to Slurm.
        """
        self.processes[node].kill()
        self.processes[node].wait()
        for each in reversed(step_of(process)):
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.ask("scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=killed")

    def lose_node(self, node):
        """What a node that the network has lost looks like: Slurm starts its tasks elsewhere, and
        they live on all the same."""
        self.processes[node].kill()
        self.processes[node].wait()
        self.ask("scontrol", "update", "NodeName=" + node, "State=DOWN", "Reason=lost")

    def bring_back(self, node):
        self.start_node(node)
        self.ask("scontrol", "update", "NodeName=" + node, "State=RESUME")

    def stop(self):
        self.ask("scancel", "--full", "-u", str(os.getuid()))
        for process in reversed(list(self.processes.values())):
            process.terminate()
        for process in reversed(list(self.processes.values())):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
