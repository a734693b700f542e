"""Where the cases of a remote run: processes, a proxy in the way, directories and their trees."""

import hashlib
import os
import signal
import socket
import subprocess
import threading
import time

from Support.checks import expect
from Support.files import write_below as write
from Support.ports import forget_ports
from Support.processes import Started
from Support.program import last, lines

# What every store can hold; the others are tried where they can be.
KEYS = ["a b", "a+b", "a%20b", "a&b<c>\"d'", "ü/é", "e\u0301", "\u00e9", "日本語/キー.txt", "😀",
        "q?x=1#y", "~tilde-._", "star*(paren)!", "=eq;semi,comma:colon@at$", "{curly}[square]|^`",
        "zero", " lead", "trail ", "+", "%", "sub/..x", "..y", "deep/er/and/deeper/file"]
CONTROL_KEYS = ["tab\tkey", "control\x01\x1fkey", "line\nfeed", "carriage\rreturn"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A server of its own process group, stopped by its id."""

    def __init__(self, command, folder, log):
        self.log = open(log, "wb")
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=self.log,
                                        stderr=self.log, start_new_session=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Proxy:
    """Passes bytes on unchanged, counts them, and can slow them down or act before a request.

    In front of a store on this machine it stands in for the store; else it is an HTTP proxy whose
    tunnels it counts. `before` gets each piece that is sent, and how many bytes were before it.
    """

    def __init__(self, bucket, rate=None, before=None):
        self.bucket, self.rate, self.before = bucket, rate, before
        self.up = self.down = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    @property
    def variables(self):
        address = f"http://127.0.0.1:{self.port}"
        if not self.bucket.is_loopback:
            return {"https_proxy": address}
        return {"AWS_ENDPOINT_URL" if self.bucket.scheme == "s3" else "OSS_ENDPOINT": address}

    def accept(self):
        with self.listener:
            while True:
                try:
                    client, _ = self.listener.accept()
                except OSError:
                    return
                threading.Thread(target=self.join, args=(client,), daemon=True).start()

    def join(self, client):
        target = ("127.0.0.1", self.bucket.port)
        if not self.bucket.is_loopback:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(4_096)
                if not piece:
                    return
                head += piece
            host, port = head.split()[1].decode().rsplit(":", 1)
            target = (host, int(port))
        server = socket.create_connection(target)
        if not self.bucket.is_loopback:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=self.pump, args=(client, server, "up"), daemon=True).start()
        self.pump(server, client, "down")

    def pump(self, source, sink, direction):
        try:
            while data := source.recv(65536):
                if direction == "up" and self.before:
                    self.before(data, self.up)
                setattr(self, direction, getattr(self, direction) + len(data))
                if self.rate:
                    time.sleep(len(data) / self.rate)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        # The thread in accept() closes it: it may not wait for a descriptor of somebody else.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()


class Workplace:
    """A home, directories, the program, and prefixes of a bucket beneath one of its own."""

    def __init__(self, program, folder, bucket, base, environment):
        self.program, self.folder, self.bucket, self.base = program, folder, bucket, base
        self.home = os.path.join(folder, "home")
        os.makedirs(self.home, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home, **environment}
        # Given to each run.
        self.options = ()
        self.count = 0

    def directory(self, name=None):
        self.count += 1
        path = os.path.join(self.folder, name or f"tree-{self.count}")
        os.makedirs(path)
        return path

    def prefix(self):
        """A remote that nothing else uses."""
        self.count += 1
        return f"{self.bucket.scheme}://{self.bucket.name}/{self.base}prefix-{self.count}"

    def key(self, remote, name):
        """The key of a file of a remote."""
        return remote.split("/", 3)[3] + "/" + name

    def start(self, *arguments, proxy=None, environment=None):
        variables = dict(environment or self.environment)
        if proxy:
            variables.update(proxy.variables)
        # What stands between has a port of its own, which is another remote to a mirror.
        for folder in filter(os.path.isdir, arguments):
            forget_ports(folder)
        return Started([self.program, *arguments], variables)

    def run(self, *arguments, status=0, **more):
        process = self.start(*arguments, *self.options, "--json", **more)
        output, errors = process.wait(1_800)
        expect(self.bucket.secret.encode() not in output + errors, "a secret was printed")
        text = errors.decode() + output.decode()
        expect(process.status == status, f"{arguments}: {process.status}\n{text[-3000:]}")
        return {**(last(lines(output), "summary") or {}), "text": text}


def write_large(folder, name, size):
    """Bytes of which no two pieces are alike."""
    piece = os.urandom(1 << 20)
    with open(os.path.join(folder, name), "wb") as file:
        for number in range(size >> 20):
            file.write(number.to_bytes(8, "big") + piece[8:])
        file.write(piece[:size % (1 << 20)])


def tree(folder):
    found = {}
    for place, folders, files in os.walk(folder):
        if ".osssync" in folders:
            folders.remove(".osssync")
        for name in files:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[os.path.relpath(path, folder)] = (digest, os.stat(path).st_mtime_ns)
        if not files and not folders:
            found[os.path.relpath(place, folder) + "/"] = None
    return found


def same(left, right):
    one, two = tree(left), tree(right)
    for name in sorted(one.keys() | two.keys()):
        expect(one.get(name) == two.get(name), f"{name!r}: {one.get(name)} is not {two.get(name)}")


def fill(folder, keys):
    for number, key in enumerate(keys):
        content = b"" if key == "zero" else key.encode() * (number + 1)
        write(folder, key, content, 1_700_000_000_123_456_789 + number * 1_000_000_007)
