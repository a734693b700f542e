"""A server for each worker, and for each case a prefix of its bucket and directories of its own."""

import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.parse

import program
import wire
from case_table import equal, expect

BUCKET = "fault-bucket"
REGION = "cn-test-1"
SUBRESOURCES = {"uploads", "uploadId", "partNumber", "symlink", "append", "position", "restore",
                "versioning", "versionId", "delete", "objectMeta", "versions"}


def ramp(size, seed=0):
    """Content in which every misplaced byte shows."""
    period = bytes((i * 31 + seed) % 251 for i in range(251 * 13))
    return (period * (size // len(period) + 1))[:size]


class Server:
    """One osssync-server with a folder of its own."""

    def __init__(self, programs, *extra):
        self.osssync = os.path.join(programs, "osssync")
        memory = "/dev/shm"
        base = memory if os.access(memory, os.W_OK) and "TMPDIR" not in os.environ else None
        self.folder = tempfile.mkdtemp(prefix="osssync-faults-", dir=base)
        credentials = os.path.join(self.folder, "credentials")
        with open(credentials, "w") as file:
            for key in (program.KEY, *program.LATER_KEYS):
                file.write(f"[{key}]\naccess-key-id = {key}\n"
                           f"access-key-secret = {program.SECRET}\n")
        os.chmod(credentials, 0o600)
        command = [os.path.join(programs, "osssync-server"), "--region", REGION, "--bucket", BUCKET,
                   "--root", os.path.join(self.folder, "root"), "--credentials", credentials]
        self.process = subprocess.Popen([*command, *extra], stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def plain(self, method, path, body=b"", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def call(self, method, key, query=None, body=b"", headers=None):
        """A request signed with V1, made without any of osssync's code."""
        query = query or {}
        sent = {"Date": email.utils.formatdate(usegmt=True), "Content-Type": "", **(headers or {})}
        named = sorted((name.lower(), value) for name, value in sent.items()
                       if name.lower().startswith("x-oss-"))
        resource = f"/{BUCKET}/{key}"
        signed = sorted(name for name in query if name in SUBRESOURCES)
        if signed:
            resource += "?" + "&".join(name + (f"={query[name]}" if query[name] else "")
                                       for name in signed)
        text = "\n".join([method, sent.get("Content-MD5", ""), sent["Content-Type"], sent["Date"],
                          "".join(f"{name}:{value}\n" for name, value in named) + resource])
        code = hmac.new(program.SECRET.encode(), text.encode("utf-8", "surrogateescape"),
                        hashlib.sha1).digest()
        sent["Authorization"] = f"OSS {program.KEY}:{base64.b64encode(code).decode()}"
        path = f"/{BUCKET}/" + urllib.parse.quote(key.encode("utf-8", "surrogateescape"), safe="/")
        if query:
            quoted = {name: urllib.parse.quote(value, safe="") for name, value in query.items()}
            path += "?" + "&".join(name + (f"={value}" if value else "")
                                   for name, value in quoted.items())
        status, found, content = self.plain(method, path, body, sent)
        return status, found, content

    def faults(self, rules):
        status, _, text = self.plain("POST", "/-/faults", json.dumps(rules).encode())
        equal(status, 204, f"the fault script: {text.decode()}")

    def requests(self):
        _, _, text = self.plain("GET", "/-/requests")
        return [json.loads(line) for line in text.decode().splitlines()]

    def forget_requests(self):
        self.plain("DELETE", "/-/requests")


class Place:
    """One case's prefix, directories and way to run osssync."""

    def __init__(self, server, name):
        self.server = self.first_server = server
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="case-", dir=server.folder)
        self.home = os.path.join(self.folder, "home")
        self.directory = os.path.join(self.folder, "tree")
        self.prefix = os.path.basename(self.folder)
        self.endpoint = server.url
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
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def tree(self):
        """The content of every file but osssync's own, by its path."""
        found = {}
        for folder, names, files in os.walk(os.fsencode(self.directory)):
            if b".osssync" in names:
                names.remove(b".osssync")
            for file in files:
                path = os.path.join(folder, file)
                name = os.path.relpath(path, os.fsencode(self.directory))
                with open(path, "rb") as handle:
                    found[name.decode("utf-8", "surrogateescape")] = handle.read()
        return found

    # osssync.

    def full_environment(self):
        if self.scheme == "oss":
            variables = {"OSS_ACCESS_KEY_ID": program.KEY, "OSS_ACCESS_KEY_SECRET": program.SECRET,
                         "OSS_REGION": REGION, "OSS_ENDPOINT": self.endpoint}
        else:
            variables = {"AWS_ACCESS_KEY_ID": program.KEY, "AWS_REGION": REGION,
                         "AWS_SECRET_ACCESS_KEY": program.SECRET, "AWS_ENDPOINT_URL": self.endpoint}
        return {"PATH": os.environ["PATH"], "HOME": self.home, "TZ": "UTC", **variables,
                **self.environment}

    def start(self, *arguments, limit=60):
        return program.run(self.server.osssync, arguments, self.full_environment(), limit,
                           self.most_requests)

    def run(self, command, *options, limit=60):
        remote = f"{self.scheme}://{BUCKET}/{self.prefix}"
        quick = [] if "--retry-wait" in options else ["--retry-wait", "0.05"]
        if "--timeout" not in options:
            quick += ["--timeout", "10"]
        return self.start(command, self.directory, remote, "--json", *quick, *options, limit=limit)

    def pull(self, *options, limit=60):
        return self.run("pull", *options, limit=limit)

    def push(self, *options, limit=60):
        return self.run("push", *options, limit=limit)

    def in_step(self, result):
        equal(result.status, 0, f"the exit status of {result}")
        return result
