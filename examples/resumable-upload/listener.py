"""The app's own server in small: answers every callback with JSON and notes what it was told.

usage: listener.py FILE   Prints its port, then serves until it is killed."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Callback(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1], "ab") as told:
            told.write(body + b"\n")
        answer = b'{"thanks":"for the upload"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


server = HTTPServer(("127.0.0.1", 0), Callback)
print(server.server_port, flush=True)
server.serve_forever()
