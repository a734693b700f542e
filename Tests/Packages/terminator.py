"""A server that speaks TLS and passes what it hears to a server that does not.

usage: terminator.py FOLDER READY
Makes an authority in FOLDER, waits for the line of an osssync-server in the file READY, and prints
the port at which that server can be reached by TLS.
"""

import json
import os
import select
import socket
import sys
import threading
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from Support.certificates import ELLIPTIC, Authority  # noqa: E402


class Terminator:
    def __init__(self, context, port):
        self.context = context
        self.target = port
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()

    def accept(self):
        with self.socket:
            while True:
                try:
                    connection, _ = self.socket.accept()
                except OSError:
                    return
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with self.context.wrap_socket(connection, server_side=True) as outer, \
                    socket.create_connection(("127.0.0.1", self.target)) as inner:
                other = {outer: inner, inner: outer}
                while True:
                    # What TLS has decoded already no longer makes its socket readable.
                    ready = [outer] if outer.pending() else select.select(list(other), [], [])[0]
                    for source in ready:
                        piece = source.recv(1 << 16)
                        if not piece:
                            return
                        other[source].sendall(piece)
        except OSError:
            connection.close()


def main(folder, ready):
    authority = Authority(folder, ELLIPTIC)
    while True:
        with open(ready, encoding="utf-8") as file:
            line = file.readline()
        if line.endswith("\n"):
            break
        time.sleep(0.1)
    port = int(json.loads(line)["url"].rpartition(":")[2])
    with Terminator(authority.context("good"), port) as tls:
        print(tls.port, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
