"""Runs osssync against servers of S3 that other people wrote, on loopback.

usage: s3_servers.py OSSSYNC FOLDER-OF-THE-VIRTUAL-ENVIRONMENT [SERVER…]
"""

import hashlib
import hmac
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

KEY, SECRET, BUCKET = "peer-id", "peer-secret-canary", "mirror-bucket"
LARGE = int(os.environ.get("OSSSYNC_PEER_BYTES", 64 << 20))
# What every server of the three can hold; the others are tried one by one.
KEYS = ["a b", "a+b", "a%20b", "a&b<c>\"d'", "ü/é", "e\u0301", "\u00e9", "日本語/キー.txt", "😀",
        "q?x=1#y", "~tilde-._", "star*(paren)!", "=eq;semi,comma:colon@at$", "{curly}[square]|^`",
        "zero", " lead", "trail ", "+", "%", "sub/..x", "..y", "deep/er/and/deeper/file"]
CONTROL_KEYS = ["tab\tkey", "control\x01\x1fkey", "line\nfeed", "carriage\rreturn"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


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


def call(port, method, path, headers=None, body=b"", query=""):
    """One signed request, made without any of osssync's code; `path` is encoded already."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    signed = {name.lower(): value for name, value in (headers or {}).items()}
    signed["host"] = f"127.0.0.1:{port}"
    signed["x-amz-date"] = now
    signed["x-amz-content-sha256"] = hashlib.sha256(body).hexdigest()
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    canonical = "\n".join([method, path, query, lines, names, signed["x-amz-content-sha256"]])
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for word in scope.split("/"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    signed["authorization"] = (f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={names}, "
                               f"Signature={signature}")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path + ("?" + query if query else ""), body=body, headers=signed)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


class Proxy:
    """Passes bytes on unchanged, counts them, and can slow them down or act before a request."""

    def __init__(self, target, rate=None, before=None):
        self.target, self.rate, self.before = target, rate, before
        self.up = self.down = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.pump, args=(client, server, "up"), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, "down"), daemon=True).start()

    def pump(self, source, sink, direction):
        try:
            while data := source.recv(65536):
                if direction == "up" and self.before:
                    self.before(data)
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
        self.listener.close()


class Workplace:
    """A home, directories and the program."""

    def __init__(self, program, folder, port):
        self.program, self.folder, self.port = program, folder, port
        self.home = os.path.join(folder, "home")
        os.makedirs(self.home, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home,
                            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
                            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        self.count = 0

    def directory(self, name=None):
        self.count += 1
        path = os.path.join(self.folder, name or f"tree-{self.count}")
        os.makedirs(path)
        return path

    def prefix(self):
        self.count += 1
        return f"s3://{BUCKET}/prefix-{self.count}"

    def start(self, *arguments, port=None, environment=None):
        variables = dict(environment or self.environment)
        if port:
            variables["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
        return subprocess.Popen([self.program, *arguments], env=variables, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run(self, *arguments, status=0, **more):
        process = self.start(*arguments, "--json", **more)
        output, errors = process.communicate(timeout=600)
        expect(SECRET.encode() not in output + errors, "a secret was printed")
        text = errors.decode() + output.decode()
        expect(process.returncode == status, f"{arguments}: {process.returncode}\n{text[-3000:]}")
        events = [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]
        found = [event for event in events if event["event"] == "summary"]
        summary = dict(found[-1]) if found else {}
        summary["text"] = text
        return summary


def write(folder, name, content, modified=None):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    if modified is not None:
        os.utime(path, ns=(modified, modified))


def tree(folder, times=True):
    found = {}
    for place, folders, files in os.walk(folder):
        if ".osssync" in folders:
            folders.remove(".osssync")
        for name in files:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            modified = os.stat(path).st_mtime_ns if times else 0
            found[os.path.relpath(path, folder)] = (digest, modified)
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


# MARK: - Cases of every server

def round_trip(place, keys, size):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    fill(one, keys)
    write(one, "parts.bin", os.urandom(size), 1_600_000_000_000_000_001)
    place.run("push", one, remote)
    again = place.run("push", one)
    expect(again["transferred"] == 0 and again["requests"] <= 2, f"not a no-op: {again}")
    place.run("pull", two, remote)
    same(one, two)
    again = place.run("pull", two)
    expect(again["transferred"] == 0 and again["in_step"], f"not a no-op: {again}")


def changes(place, keys, size):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    fill(one, keys)
    write(one, "moved.bin", os.urandom(2 << 20))
    place.run("push", one, remote)
    place.run("pull", two, remote)
    write(one, keys[0], b"changed")
    write(one, "new", b"new")
    done = place.run("push", one)
    expect(done["transferred"] == 2, f"not two changes: {done}")
    os.remove(os.path.join(one, keys[1]))
    os.rename(os.path.join(one, "moved.bin"), os.path.join(one, "renamed.bin"))
    done = place.run("push", one, "--delete")
    expect(done["deleted"] == 2 and done["renamed"] == 1 and done["bytes"] == 0,
           f"not a rename and a deletion: {done}")
    done = place.run("pull", two, "--delete")
    expect(done["deleted"] == 2 and done["renamed"] == 1, f"not a rename and a deletion: {done}")
    same(one, two)


def adoption(place, keys, size):
    """A manifest that was lost is made again from digests, without a transfer."""
    one, remote = place.directory(), place.prefix()
    fill(one, keys)
    write(one, "parts.bin", os.urandom(size))
    place.run("push", one, remote)
    shutil.rmtree(os.path.join(one, ".osssync"))
    done = place.run("push", one, remote)
    expect(done["transferred"] == 0 and done["adopted"] == len(keys) + 1, f"not adopted: {done}")


# MARK: - Cases of a server that does everything

def empty_directory(place):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    os.makedirs(os.path.join(one, "empty"))
    write(one, "file", b"x")
    place.run("push", one, remote)
    place.run("pull", two, remote)
    same(one, two)


def kill_and_resume_push(place):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    write(one, "large.bin", os.urandom(LARGE))
    proxy = Proxy(place.port, rate=LARGE / 2)
    process = place.start("push", one, remote, "--part-size", "5M", port=proxy.port)
    while proxy.up < LARGE * 0.6:
        expect(process.poll() is None, "the push ended too early")
        time.sleep(0.01)
    process.kill()
    process.wait()
    proxy.stop()
    proxy = Proxy(place.port)
    done = place.run("push", one, "--part-size", "5M", port=proxy.port)
    proxy.stop()
    print(f"  push resumed {done['bytes_resumed']} of {LARGE}, sent {proxy.up}")
    expect(done["bytes_resumed"] > 0 and proxy.up < LARGE * 0.75, f"sent again: {proxy.up} {done}")
    place.run("pull", two, remote)
    same(one, two)


def kill_and_resume_pull(place):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    write(one, "large.bin", os.urandom(LARGE))
    place.run("push", one, remote)
    proxy = Proxy(place.port, rate=LARGE / 2)
    process = place.start("pull", two, remote, port=proxy.port)
    while proxy.down < LARGE * 0.6:
        expect(process.poll() is None, "the pull ended too early")
        time.sleep(0.01)
    process.kill()
    process.wait()
    proxy.stop()
    proxy = Proxy(place.port)
    done = place.run("pull", two, port=proxy.port)
    proxy.stop()
    print(f"  pull resumed {done['bytes_resumed']} of {LARGE}, received {proxy.down}")
    expect(done["bytes_resumed"] > 0 and proxy.down < LARGE * 0.75, f"fetched again: {proxy.down}")
    same(one, two)


def between_listing_and_put(place, existing, size):
    """Another writer puts the object after the listing: nothing of its may be overwritten."""
    one, remote = place.directory(), place.prefix()
    path = f"/{BUCKET}/{remote.rsplit('/', 1)[1]}/contested"
    if existing:
        write(one, "contested", b"first")
        place.run("push", one, remote)
    write(one, "contested", b"ours" * (size // 4))
    acted = []

    def before(data):
        is_end = data.startswith(b"PUT " + path.encode()) or data.startswith(b"POST " + path.encode())
        if is_end and not acted:
            acted.append(True)
            status, _, _ = call(place.port, "PUT", path, body=b"theirs")
            expect(status == 200, "the other writer failed")

    proxy = Proxy(place.port, before=before)
    done = place.run("push", one, remote, status=1, port=proxy.port)
    proxy.stop()
    expect(acted and done["conflicts"] == 1, f"no conflict: {done}")
    expect("another writer" in done["text"], done["text"])
    status, _, body = call(place.port, "GET", path)
    expect((status, body) == (200, b"theirs"), "the other writer's object was overwritten")


def profiles(place):
    """The files of the aws tools instead of variables."""
    one, remote = place.directory(), place.prefix()
    write(one, "file", b"x")
    folder = os.path.join(place.home, ".aws")
    os.makedirs(folder)
    write(folder, "credentials", f"[keys]\naws_access_key_id = {KEY}\n"
          f"aws_secret_access_key = {SECRET}\n".encode())
    os.chmod(os.path.join(folder, "credentials"), 0o600)
    answer = json.dumps({"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET})
    write(folder, "answer.json", answer.encode())
    write(folder, "config", (
        f"[profile keys]\nregion = us-east-1\nendpoint_url = http://127.0.0.1:{place.port}\n"
        "s3 =\n    addressing_style = path\n"
        f"[profile process]\ncredential_process = /bin/cat {folder}/answer.json\n"
        "services = here\n[services here]\ndynamodb =\n  endpoint_url = http://127.0.0.1:1\n"
        f"s3 =\n  endpoint_url = http://127.0.0.1:{place.port}\n").encode())
    os.chmod(os.path.join(folder, "config"), 0o600)
    bare = {"PATH": os.environ["PATH"], "HOME": place.home}
    place.run("push", one, remote, environment={**bare, "AWS_PROFILE": "keys"})
    place.run("push", one, "--profile", "process", environment=bare)
    wrong = {**place.environment, "AWS_SECRET_ACCESS_KEY": "wrong"}
    refused = place.run("push", one, status=4, environment=wrong)
    expect("Check the access key" in refused["text"], refused["text"])
    missing = place.run("push", one, status=4, environment={
        **bare, "AWS_ENDPOINT_URL": place.environment["AWS_ENDPOINT_URL"]})
    expect("AWS_ACCESS_KEY_ID" in missing["text"], missing["text"])
    shutil.rmtree(folder)


def beside_rclone(place, environment):
    """A tree that rclone copied is adopted; rclone finds what osssync pushed identical."""
    one, remote = place.directory(), place.prefix()
    write(one, "parts.bin", os.urandom(23 << 20))
    write(one, "plain.bin", os.urandom(9 << 20))
    write(one, "small", b"small")
    configuration = os.path.join(place.folder, "rclone.conf")
    write(place.folder, "rclone.conf", (
        "[peer]\ntype = s3\nprovider = SeaweedFS\n"
        f"access_key_id = {KEY}\nsecret_access_key = {SECRET}\n"
        f"endpoint = http://127.0.0.1:{place.port}\n").encode())
    rclone = [os.path.join(environment, "bin", "rclone"), "--config", configuration]
    there = remote.replace("s3://", "peer:")
    subprocess.run([*rclone, "copy", one, there, "--s3-upload-cutoff", "5M"], check=True)
    done = place.run("push", one, remote)
    expect(done["transferred"] == 0 and done["adopted"] == 3, f"not adopted: {done}")
    write(one, "parts.bin", os.urandom(31 << 20))
    place.run("push", one)
    subprocess.run([*rclone, "check", one, there, "--exclude", "/.osssync/**"], check=True,
                   capture_output=True)
    two = place.directory()
    subprocess.run([*rclone, "copy", there, two], check=True)
    same(one, two)


def backslash(place):
    """SeaweedFS makes a slash of it: the key is missed by the next run, and nothing is lost."""
    one, remote = place.directory(), place.prefix()
    write(one, "back\\slash", b"x")
    place.run("push", one, remote)
    done = place.run("push", one, status=1)
    expect("back" in done["text"] and done["conflicts"] == 1, done["text"])


def virtual_hosts(place):
    one, remote = place.directory(), place.prefix()
    write(one, "a b/c", b"x")
    place.run("push", one, remote, "--addressing", "virtual",
              "--endpoint", f"http://localhost:{place.port}")


def seaweedfs(run, program, environment, folder):
    port = free_port()
    write(folder, "s3.json", json.dumps({"identities": [{
        "name": "peer", "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}).encode())
    command = [os.path.join(environment, "bin", "weed"), "server", "-dir", folder, "-ip=127.0.0.1",
               "-ip.bind=127.0.0.1", "-filer", "-s3", f"-s3.port={port}",
               f"-s3.config={folder}/s3.json", "-s3.domainName=localhost", "-volume.max=100",
               "-master.volumeSizeLimitMB=1024"]
    for name in ["master", "volume", "filer", "master.port.grpc", "volume.port.grpc",
                 "filer.port.grpc", "s3.port.grpc", "s3.port.iceberg", "s3.port.lance"]:
        command.append(f"-{name if '.port' in name else name + '.port'}={free_port()}")
    server = Process(command, folder, os.path.join(folder, "log"))
    try:
        await_bucket(port)
        place = Workplace(program, folder, port)
        keys = KEYS + CONTROL_KEYS
        run("round trip", round_trip, place, keys, 20 << 20)
        run("changes", changes, place, keys, 0)
        run("adoption", adoption, place, keys, 20 << 20)
        run("empty directory", empty_directory, place)
        run("kill and resume a push", kill_and_resume_push, place)
        run("kill and resume a pull", kill_and_resume_pull, place)
        for existing in [False, True]:
            for size in [100, 12 << 20]:
                name = f"another writer, {'changed' if existing else 'new'}, {size} bytes"
                run(name, between_listing_and_put, place, existing, size)
        run("profiles", profiles, place)
        run("beside rclone", beside_rclone, place, environment)
        run("virtual hosts", virtual_hosts, place)
        run("backslash", backslash, place)
    finally:
        server.stop()


def rclone_serve(run, program, environment, folder):
    port = free_port()
    os.makedirs(os.path.join(folder, "root", BUCKET))
    server = Process([os.path.join(environment, "bin", "rclone"), "serve", "s3", "--addr",
                      f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}", "--vfs-cache-mode",
                      "off", os.path.join(folder, "root")], folder, os.path.join(folder, "log"))
    try:
        await_bucket(port)
        place = Workplace(program, folder, port)
        keys = KEYS + CONTROL_KEYS
        run("round trip", round_trip, place, keys, 20 << 20)
        run("changes", changes, place, keys, 0)
        run("adoption", adoption, place, keys, 4 << 20)
    finally:
        server.stop()


def moto(run, program, environment, folder):
    port = free_port()
    server = Process([os.path.join(environment, "bin", "moto_server"), "-H", "127.0.0.1", "-p",
                      str(port)], folder, os.path.join(folder, "log"))
    try:
        await_bucket(port)
        place = Workplace(program, folder, port)
        # Its routes match no key with a line feed.
        keys = [key for key in KEYS + CONTROL_KEYS if "\n" not in key]
        run("round trip", round_trip, place, keys, 20 << 20)
        run("changes", changes, place, keys, 0)
        run("adoption", adoption, place, keys, 20 << 20)
        for existing in [False, True]:
            name = f"another writer, {'changed' if existing else 'new'}"
            run(name, between_listing_and_put, place, existing, 100)
    finally:
        server.stop()


def await_bucket(port):
    """Makes the bucket as soon as the server is up."""
    end = time.monotonic() + 60
    while True:
        try:
            if call(port, "PUT", f"/{urllib.parse.quote(BUCKET)}")[0] in (200, 409):
                return
        except OSError:
            pass
        expect(time.monotonic() < end, "the server does not start")
        time.sleep(0.2)


def main():
    program, environment, *wanted = sys.argv[1:]
    passed = failed = 0
    for server in [seaweedfs, rclone_serve, moto]:
        if wanted and server.__name__ not in wanted:
            continue

        def run(name, case, *arguments):
            nonlocal passed, failed
            try:
                case(*arguments)
                passed += 1
                print(f"{server.__name__}: {name}: passed", flush=True)
            except Exception:
                failed += 1
                print(f"{server.__name__}: {name}: FAILED")
                traceback.print_exc(file=sys.stdout)
                sys.stdout.flush()

        with tempfile.TemporaryDirectory(prefix="osssync-peer-") as folder:
            try:
                server(run, os.path.abspath(program), os.path.abspath(environment), folder)
            except Exception:
                run("the server", lambda: (_ for _ in ()).throw(AssertionError("did not start")))
                traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
