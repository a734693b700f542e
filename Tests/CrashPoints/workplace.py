"""A folder with a storage server, a mirrored directory and canaries around it."""

import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import xml.etree.ElementTree

from Support.files import read
from Support.program import account, last
from Support.server import Server as AnyServer
from Support.server import exchange

KEY_ID = "crash-test-id"
KEY_SECRET = "crash-test-secret"
REGION = "cn-test-1"
BUCKET = "crash-bucket"
PREFIX = "mirror/"
REMOTE = f"oss://{BUCKET}/{PREFIX}"
# A run that takes longer hangs; ordinary ones take some hundredths of a second.
PATIENCE = 60
# In the place of a command of osssync: the rest is for the program that an app would be.
TRANSFER = "TRANSFER"


class Violation(Exception):
    """The program broke a promise."""


class Run:
    """What one run of osssync said."""

    def __init__(self, code, stdout, stderr):
        self.code = code
        self.stderr = stderr.decode("utf-8", "backslashreplace")
        self.events = []
        for line in stdout.splitlines():
            try:
                self.events.append(json.loads(line))
            except ValueError:
                # The last line of a killed program may end anywhere.
                if code >= 0:
                    raise Violation(f"a line of --json is no JSON: {line!r}") from None

    @property
    def summary(self):
        return last(self.events, "summary") or {}

    @property
    def messages(self):
        """Everything it said to people."""
        texts = [self.stderr]
        for event in self.events:
            texts += [str(event[name]) for name in ("message", "error", "reason") if name in event]
        return "\n".join(texts)

    def __str__(self):
        dull = {"progress", "plan", "start"}
        lines = [json.dumps(event) for event in self.events
                 if event["event"] not in dull and event.get("state") not in ("started", "done")]
        return f"exit {self.code}\n" + "\n".join(lines[-6:]) + "\n" + self.stderr[-2000:]


class Server(AnyServer):
    """A server with a connection that stays open, for thousands of small requests."""

    def __init__(self, program, folder):
        super().__init__(program, folder, [BUCKET], [KEY_ID], KEY_SECRET, REGION)
        self.connection = None

    def start(self):
        super().start()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        # Small requests must not wait for acknowledgements.
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def stop(self):
        if self.connection:
            self.connection.close()
        status = super().stop()
        if status != 0:
            raise RuntimeError(f"the server ended with {status}")

    def plain(self, method, path, body=b"", headers=None):
        return exchange(self.connection, method, path, body, headers)

    def get(self, key="", query=None):
        status, _, body = self.call("GET", key, query)
        if status != 200:
            raise RuntimeError(f"GET {key} {query}: {status} {body!r}")
        return body

    def objects(self):
        """The ETag of each object, by its key without the prefix."""
        document = xml.etree.ElementTree.fromstring(
            self.get(query={"list-type": "2", "max-keys": "1000", "prefix": PREFIX}))
        return {item.findtext("Key")[len(PREFIX):]: item.findtext("ETag").strip('"')
                for item in document.iter("Contents")}

    def content(self, key):
        return self.get(PREFIX + key)

    def uploads(self):
        """The keys of unfinished multipart uploads."""
        document = xml.etree.ElementTree.fromstring(self.get(query={"uploads": ""}))
        return [item.findtext("Key") for item in document.iter("Upload")]


class Starter:
    """A program that is loaded once and begins anew for each run; see serve() in shim.c."""

    def __init__(self, command, environment, folder):
        self.paths = [os.path.join(folder, name) for name in ("stdout", "stderr")]
        # Without a buffer: what was read ahead of the second answer could not be waited for.
        self.process = subprocess.Popen(
            command, env={**environment, "CRASH_SERVE": "1"}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)

    def run(self, variables):
        fields = [*self.paths, *(f"{name}={value}" for name, value in variables.items())]
        self.process.stdin.write("\t".join(fields).encode() + b"\n")
        if self.is_late():
            self.process.kill()
            raise Violation(f"{self.process.args} began no run in {PATIENCE} s")
        child = int(self.process.stdout.readline())
        is_late = self.is_late()
        if is_late:
            os.kill(child, signal.SIGKILL)
        run = Run(int(self.process.stdout.readline()), *map(read, self.paths))
        if is_late:
            raise Violation(f"hung for {PATIENCE} s: {run}")
        return run

    def is_late(self):
        return not select.select([self.process.stdout], [], [], PATIENCE)[0]

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Workplace:
    """What one worker works with."""

    def __init__(self, programs, shim):
        self.program, server, self.transfer_program = programs
        self.shim = shim
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="osssync-crash-", dir=scratch()))
        self.outer = self.path("outer")
        self.mirror = os.path.join(self.outer, "mirror")
        for name in ("outer", "home"):
            os.mkdir(self.path(name))
        self.server = Server(server, self.folder)
        self.starters = {}
        self.fired_path = self.path("fired")
        self.counts_path = self.path("counts")
        self.record_path = self.path("record")
        self.boot_id_path = self.path("boot-id")
        self.set_boot("00000000-0000-4000-8000-000000000001")

    def path(self, name):
        return os.path.join(self.folder, name)

    def set_boot(self, text):
        with open(self.boot_id_path, "w", encoding="ascii") as file:
            file.write(text + "\n")

    def close(self):
        for starter in self.starters.values():
            starter.stop()
        self.server.stop()
        shutil.rmtree(self.folder)

    def run(self, arguments, **shim):
        """Runs osssync to its end; the names of `shim` are those of shim.c without CRASH_."""
        starter = self.starters.get(tuple(arguments)) or self.starter(arguments)
        return starter.run({"CRASH_" + name.upper(): value for name, value in shim.items()
                            if value is not None})

    def starter(self, arguments):
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.path("home"),
            **account("oss", KEY_ID, KEY_SECRET, REGION, self.server.url),
            "LD_PRELOAD": self.shim, "CRASH_NO_SYNC": "1", "CRASH_ROOTS": self.outer,
            "CRASH_BOOT_ID": self.boot_id_path,
        }
        command = [self.program, *arguments]
        if arguments[0] == TRANSFER:
            command = [self.transfer_program, *arguments[1:]]
        starter = Starter([*command, "--json"], environment, self.folder)
        self.starters[tuple(arguments)] = starter
        return starter

    def fired(self):
        """The call that the last fault hit, as `(name, path)`; None if it hit none."""
        try:
            with open(self.fired_path, encoding="utf-8") as file:
                _, call, path = file.read().rstrip("\n").split("\t")
        except FileNotFoundError:
            return None
        os.unlink(self.fired_path)
        return call, path

    def counts(self):
        """How many calls of each class the last run made that was asked for them."""
        with open(self.counts_path, encoding="utf-8") as file:
            rows = [line.split("\t") for line in file]
        os.unlink(self.counts_path)
        return {name: int(count) for name, count in rows}

    def quiet_log(self, deadline=5):
        """The server's log once every connection of a killed client is settled."""
        end = time.monotonic() + deadline
        log = self.server.requests()
        while time.monotonic() < end:
            time.sleep(0.01)
            later = self.server.requests()
            if len(later) == len(log):
                break
            log = later
        return log


def scratch():
    """Memory where there is enough of it, because thousands of trees are made and removed."""
    chosen = os.environ.get("OSSSYNC_CRASH_SCRATCH")
    if chosen:
        return chosen
    try:
        status = os.statvfs("/dev/shm")
        if status.f_bavail * status.f_frsize >= 2 << 30 and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    except OSError:
        pass
    return None
