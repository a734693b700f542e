"""Starts the embedded server and counts what passes; shared by the SDK tests."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer

ACCESS_KEY = "peer-test-id"
SECRET = "peer-test-secret"
REGION = "cn-hangzhou"


class Server:
    """One osssync-server with a directory of its own."""

    def __init__(self, program, buckets):
        self.folder = tempfile.TemporaryDirectory(prefix="osssync-peer-")
        credentials = os.path.join(self.folder.name, "credentials")
        with open(credentials, "w") as file:
            file.write(f"[default]\naccessKeyID = {ACCESS_KEY}\naccessKeySecret = {SECRET}\n")
        command = [program, "--root", os.path.join(self.folder.name, "root"),
                   "--credentials", credentials, "--region", REGION, "--restore-polls", "1"]
        for bucket in buckets:
            command += ["--bucket", bucket]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=20)
        self.folder.cleanup()
        return status


class Tally:
    """Runs cases and counts them."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def run(self, name, case, *arguments):
        try:
            case(*arguments)
            self.passed += 1
        except Exception:
            self.failed += 1
            print(f"FAILED {name}")
            traceback.print_exc()


class Receiver:
    """A server that upload callbacks are posted to."""

    def __init__(self, status=200, answer=b'{"ok":true}'):
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                received.append((dict(self.headers), self.rfile.read(length)))
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/done"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


ODD_KEYS = sorted(
    ["a b", "a+b", "a%20b", "a&b<c>\"d'", "dir/", "dir//x", "dir/a/../b", "dir/./c", "ü/é", "e\u0301",
     "\u00e9", "日本語/キー.txt", "😀", "tab\tkey", "control\x01\x1fkey", "line\nfeed", "q?x=1#y",
     "~tilde-._", "back\\slash", "star*(paren)!", "=eq;semi,comma:colon@at$", "{curly}[square]|^`"],
    key=lambda key: key.encode())


def has_dot_segment(key):
    """True for keys that this SDK's HTTP library rewrites after they were signed."""
    return any(part in (".", "..") for part in key.split("/"))


def has_control(key):
    """True for keys that XML 1.0 cannot hold; a batch deletion can't name them."""
    return any(ord(character) < 32 and character not in "\t\n\r" for character in key)


def ramp(size):
    period = bytes((i * 31) % 251 for i in range(251 * 13))
    return (period * (size // len(period) + 1))[:size]


def expect(condition, message="unexpected result"):
    if not condition:
        raise AssertionError(message)


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, wanted {wanted!r}")
