"""Measures transfers of single objects beside curl and signed URLs, alternately, in the same run.

usage: single.py PROGRAMS [--uploads] [--delay MS] [--runs N] [--sizes BYTES,…]
                 [--library NAME=PROGRAM …]

PROGRAMS is the folder of osssync and osssync-server. NAME=PROGRAM is a build of TransferProgram: its
column has the time of the transfer within the process, beside the time that curl itself reports. The
first two columns are whole processes. An upload of curl is one PUT.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

SIZES = {"1 kB": 1_000, "200 kB": 200_000, "1 MB": 1_000_000, "6 MB": 6_000_000, "15 MB": 15_000_000,
         "24 MB": 24_000_000, "100 MB": 100_000_000}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--uploads", action="store_true", help="measure uploads, not downloads")
    parser.add_argument("--delay", type=int, default=60, help="of each answer, in milliseconds")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", help="some of: " + ", ".join(SIZES))
    parser.add_argument("--library", nargs="*", default=[], metavar="NAME=PROGRAM")
    return parser.parse_args()


class Server:
    """osssync-server with one bucket in a folder."""

    def __init__(self, programs, folder):
        self.programs = programs
        credentials = os.path.join(folder, "credentials")
        with open(credentials, "w", encoding="ascii",
                  opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("[default]\naccess-key-id = id\naccess-key-secret = secret\n")
        root = os.path.join(folder, "server")
        os.mkdir(root)
        self.process = subprocess.Popen(
            [os.path.join(programs, "osssync-server"), "--root", root, "--bucket", "bench",
             "--credentials", credentials, "--region", "cn-bench"],
            stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.environment = dict(os.environ, HOME=folder, OSS_ENDPOINT=self.url,
                                OSS_REGION="cn-bench", OSS_ACCESS_KEY_ID="id",
                                OSS_ACCESS_KEY_SECRET="secret")

    def osssync(self, *words):
        return subprocess.run([os.path.join(self.programs, "osssync"), *words], check=True,
                              env=self.environment, stdout=subprocess.PIPE, text=True).stdout

    def delay(self, milliseconds):
        rules = [{"match": {}, "effect": {"delay": milliseconds / 1000}}] if milliseconds else []
        request = urllib.request.Request(self.url + "/-/faults", method="POST",
                                         data=json.dumps(rules).encode())
        urllib.request.urlopen(request).read()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def process_time(words, environment):
    begin = time.monotonic()
    subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) * 1000


def own_time(words, environment):
    """What a program prints that measures itself: seconds of curl, else milliseconds."""
    factor = 1000 if words[0] == "curl" else 1
    return factor * float(subprocess.run(words, check=True, env=environment, stdout=subprocess.PIPE,
                                text=True).stdout)


def downloads(chosen, url, target):
    """The columns: a command, and how it is timed."""
    curl = ["curl", "-sSf", "-o", target]
    yield [*curl, url], process_time
    yield [os.path.join(chosen.programs, "osssync"), "get", "-q", url, target], process_time
    yield [*curl, "-w", "%{time_total}", url], own_time
    for _, program in libraries(chosen):
        yield [program, "fetch", "--url", url, "--path", target], own_time


def uploads(chosen, url, key, content):
    """The same for uploads of a file to a key that has no object."""
    curl = ["curl", "-sSf", "-o", "/dev/null", "-T", content]
    yield [*curl, url], process_time
    yield ([os.path.join(chosen.programs, "osssync"), "put", "-q", content, "oss://bench/" + key],
           process_time)
    yield [*curl, "-w", "%{time_total}", url], own_time
    for _, program in libraries(chosen):
        yield ([program, "send", "--bucket", "bench", "--key", key, "--path", content], own_time)


def libraries(chosen):
    return [library.split("=", 1) for library in chosen.library]


def same(path, other):
    with open(path, "rb") as one, open(other, "rb") as two:
        return one.read() == two.read()


def timed_download(chosen, server, column, _, target):
    url = server.osssync("presign", "oss://bench/key", "--method", "GET").strip()
    words, timed = list(downloads(chosen, url, target))[column]
    server.delay(chosen.delay)
    taken = timed(words, server.environment)
    server.delay(0)
    return taken


def timed_upload(chosen, server, column, content, target):
    key = f"key-{time.monotonic_ns()}"
    url = server.osssync("presign", "oss://bench/" + key, "--method", "PUT").strip()
    words, timed = list(uploads(chosen, url, key, content))[column]
    server.delay(chosen.delay)
    taken = timed(words, server.environment)
    server.delay(0)
    server.osssync("get", "-q", "oss://bench/" + key, target)
    return taken


def measure(chosen, server, folder, name):
    content, target = os.path.join(folder, "content"), os.path.join(folder, "target")
    with open(content, "wb") as file:
        file.write(os.urandom(SIZES[name]))
    server.osssync("put", "-q", "--force", content, "oss://bench/key")
    bars = [None, 0, None] + [2] * len(chosen.library)
    times = [[] for _ in bars]
    for _ in range(chosen.runs):
        for column, found in enumerate(times):
            if os.path.exists(target):
                os.remove(target)
            measured = timed_upload if chosen.uploads else timed_download
            found.append(measured(chosen, server, column, content, target))
            if not same(target, content):
                sys.exit(f"column {column}: another content than that of {name}")
    cells = [f"{min(found):.1f}; {statistics.median(found):.1f}"
             + ("" if bar is None else f" ({min(found) / min(times[bar]):.2f})")
             for found, bar in zip(times, bars)]
    print("| " + " | ".join([name, *cells]) + " |", flush=True)


def main():
    chosen = options()
    sizes = chosen.sizes.split(",") if chosen.sizes else list(SIZES)
    with tempfile.TemporaryDirectory(prefix="osssync-single-", dir="/dev/shm") as folder:
        server = Server(chosen.programs, folder)
        try:
            whole = "put" if chosen.uploads else "get"
            names = [name for name, _ in libraries(chosen)]
            print("| " + " | ".join(["object", "curl", whole, "curl itself", *names]) + " |")
            for name in sizes:
                measure(chosen, server, folder, name)
        finally:
            server.stop()


main()
