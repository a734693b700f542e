"""A server for each worker, and for each case a prefix of its bucket and directories of its own."""

import json
import os
import shutil
import tempfile

import program
import wire
from case_table import equal, expect
from line import Line
from Support.files import contents, ramp, write_below  # noqa: F401
from Support.ports import forget_ports
from Support.processes import PATIENCE
from Support.program import account
from Support.server import Server as AnyServer

BUCKET = "fault-bucket"
REGION = "cn-test-1"


class Server(AnyServer):
    """A server that is up, with a folder of its own."""

    def __init__(self, programs, *extra):
        self.osssync = os.path.join(programs, "osssync")
        memory = "/dev/shm"
        base = memory if os.access(memory, os.W_OK) and "TMPDIR" not in os.environ else None
        self.folder = tempfile.mkdtemp(prefix="osssync-faults-", dir=base)
        super().__init__(os.path.join(programs, "osssync-server"), self.folder, [BUCKET],
                         [program.KEY, program.SESSION_KEY, *program.LATER_KEYS], program.SECRET,
                         REGION, *extra)
        self.start()

    def stop(self):
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def faults(self, rules):
        status, _, text = self.plain("POST", "/-/faults", json.dumps(rules).encode())
        equal(status, 204, f"the fault script: {text.decode()}")


class Place:
    """One case's prefix, directories and way to run osssync."""

    def __init__(self, server, name):
        self.server = self.first_server = server
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="case-", dir=server.folder)
        self.home = os.path.join(self.folder, "home")
        self.directory = os.path.join(self.folder, "tree")
        self.prefix = os.path.basename(self.folder)
        self._endpoint = server.url
        self.environment = {}
        self.scheme = "oss"
        self.closers = []
        self.most_requests = program.REQUEST_LIMIT
        os.mkdir(self.home)
        server.faults([])
        server.forget_requests()

    def close(self):
        for close in self.closers:
            close()
        self.first_server.faults([])
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def endpoint(self):
        """Where osssync reaches the store; another port is no other remote to the case's mirrors."""
        return self._endpoint

    @endpoint.setter
    def endpoint(self, url):
        if url != self._endpoint:
            forget_ports(self.folder)
        self._endpoint = url

    # The remote, behind osssync's back.

    def put(self, key, content=b"", headers=None, query=None, method="PUT"):
        status, _, text = self.server.call(method, f"{self.prefix}/{key}", query, content, headers)
        expect(status in (200, 204), f"putting {key}: {status} {text}")

    def delete(self, key):
        status, _, _ = self.server.call("DELETE", f"{self.prefix}/{key}")
        equal(status, 204, f"deleting {key}")

    def get(self, key):
        status, _, content = self.server.call("GET", f"{self.prefix}/{key}")
        return content if status == 200 else None

    def head(self, key):
        status, headers, _ = self.server.call("HEAD", f"{self.prefix}/{key}")
        return headers if status == 200 else None

    def faults(self, *rules):
        self.server.faults(list(rules))

    def fault(self, operation, effect, key=None, **match):
        """One rule of the server's script; `key` is relative to the prefix."""
        if key is not None:
            match["key"] = f"{self.prefix}/{key}"
        return {"match": {"operation": operation, **match}, "effect": effect}

    def wire(self, **options):
        """Puts a server in between, which a case can make send any bytes."""
        between = wire.Wire(self.server.port, **options)
        self.closers.append(between.close)
        self.endpoint = between.url
        return between

    def line(self, rate, life):
        """Puts a slow line in between that comes and goes."""
        between = Line(self.server.port, rate, life)
        self.closers.append(between.close)
        self.endpoint = between.url
        return between

    def requests(self, operation=None, key=None):
        wanted = None if key is None else f"{self.prefix}/{key}"
        return [request for request in self.server.requests()
                if (operation is None or request["operation"] == operation)
                and (wanted is None or request["key"] == wanted)]

    def uploads(self):
        """The multipart uploads of this prefix that are still open."""
        _, _, text = self.server.call("GET", "", {"uploads": "", "prefix": self.prefix + "/"})
        return text.decode().count("<Upload>")

    # The directory.

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        write_below(self.directory, name, content)

    def tree(self):
        """The content of every file but osssync's own, by its path."""
        return contents(self.directory)

    # osssync.

    def full_environment(self):
        return {"PATH": os.environ["PATH"], "HOME": self.home, "TZ": "UTC",
                **account(self.scheme, program.KEY, program.SECRET, REGION, self.endpoint),
                **self.environment}

    def start(self, *arguments, limit=PATIENCE):
        return program.run(self.server.osssync, arguments, self.full_environment(), limit,
                           self.most_requests)

    def run(self, command, *options, limit=PATIENCE):
        remote = f"{self.scheme}://{BUCKET}/{self.prefix}"
        quick = [] if "--retry-wait" in options else ["--retry-wait", "0.05"]
        if "--timeout" not in options:
            quick += ["--timeout", "10"]
        return self.start(command, self.directory, remote, "--json", *quick, *options, limit=limit)

    def pull(self, *options, limit=PATIENCE):
        return self.run("pull", *options, limit=limit)

    def push(self, *options, limit=PATIENCE):
        return self.run("push", *options, limit=limit)

    def in_step(self, result):
        equal(result.status, 0, f"the exit status of {result}")
        return result
