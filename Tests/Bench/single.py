"""Measures downloads of single objects by signed URLs beside curl, alternately, in the same run.

usage: single.py PROGRAMS [--delay MS] [--runs N] [--sizes BYTES,…] [--fetch NAME=PROGRAM …]

PROGRAMS is the folder of osssync and osssync-server. NAME=PROGRAM is a build of TransferProgram: its
column has the time of the download within the process, beside the time that curl itself reports. The
first two columns are whole processes.
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

SIZES = {"200 kB": 200_000, "1 MB": 1_000_000, "6 MB": 6_000_000, "24 MB": 24_000_000,
         "100 MB": 100_000_000}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--delay", type=int, default=60, help="of each answer, in milliseconds")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", help="some of: " + ", ".join(SIZES))
    parser.add_argument("--fetch", nargs="*", default=[], metavar="NAME=PROGRAM")
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
        rules = [{"match": {"operation": "GetObject"}, "effect": {"delay": milliseconds / 1000}}]
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


def ways(chosen, server, url, target):
    """The columns: a name, what it is compared with, a command, and how it is timed."""
    curl = ["curl", "-sSf", "-o", target]
    yield "curl", None, [*curl, url], process_time
    yield ("get", "curl",
           [os.path.join(chosen.programs, "osssync"), "get", "-q", url, target], process_time)
    yield "curl itself", None, [*curl, "-w", "%{time_total}", url], own_time
    for fetch in chosen.fetch:
        name, program = fetch.split("=", 1)
        yield name, "curl itself", [program, "fetch", "--url", url, "--path", target], own_time


def measure(chosen, server, folder, name):
    content = os.path.join(folder, "content")
    with open(content, "wb") as file:
        file.write(os.urandom(SIZES[name]))
    server.delay(0)
    server.osssync("put", "-q", "--force", content, "oss://bench/key")
    url = server.osssync("presign", "oss://bench/key", "--method", "GET").strip()
    server.delay(chosen.delay)
    target = os.path.join(folder, "target")
    times, bars = {}, {}
    for _ in range(chosen.runs):
        for way, bar, words, timed in ways(chosen, server, url, target):
            bars[way] = bar
            if os.path.exists(target):
                os.remove(target)
            times.setdefault(way, []).append(timed(words, server.environment))
            with open(target, "rb") as one, open(content, "rb") as other:
                if one.read() != other.read():
                    sys.exit(f"{way}: another content than that of {name}")
    cells = [f"{min(all_):.1f}; {statistics.median(all_):.1f}"
             + (f" ({min(all_) / min(times[bars[way]]):.2f})" if bars[way] else "")
             for way, all_ in times.items()]
    print("| " + " | ".join([name, *cells]) + " |", flush=True)


def main():
    chosen = options()
    sizes = chosen.sizes.split(",") if chosen.sizes else list(SIZES)
    with tempfile.TemporaryDirectory(prefix="osssync-single-", dir="/dev/shm") as folder:
        server = Server(chosen.programs, folder)
        try:
            names = [fetch.split("=")[0] for fetch in chosen.fetch]
            print("| " + " | ".join(["object", "curl", "get", "curl itself", *names]) + " |")
            for name in sizes:
                measure(chosen, server, folder, name)
        finally:
            server.stop()


main()
