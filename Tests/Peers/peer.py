"""Cases with the embedded server, as the tests of SDKs and clients have them."""

import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from Support.checks import Tally, equal, expect  # noqa: F401
from Support.files import ramp  # noqa: F401
from Support.server import Server

ACCESS_KEY = "peer-test-id"
SECRET = "peer-test-secret"
REGION = "cn-hangzhou"


def with_server(program, buckets, cases):
    """Gives a tally and the URL of a server to `cases`; the exit status."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="osssync-peer-") as folder:
        server = Server(program, folder, buckets, [ACCESS_KEY], SECRET, REGION,
                        "--restore-polls", "1")
        try:
            server.start()
            cases(tally, server.url)
        finally:
            status = server.stop()
    if status != 0:
        tally.count("the end of the server", f"it ended with status {status}")
    return tally.end()


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
