"""A slow line that comes and goes: a relay whose bytes all connections share."""

import selectors
import socket
import struct
import threading
import time

PIECE = 16 << 10


class Line:
    """Passes on `rate` bytes a second; with each `life` bytes that went up, all connections end."""

    def __init__(self, port, rate, life):
        self.behind = port
        self.rate = rate
        self.life = self.left = life
        self.lives = 0
        self.ended = False
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.relay, daemon=True)
        self.thread.start()

    def close(self):
        self.ended = True
        self.thread.join()

    def relay(self):
        while not self.ended:
            # One piece of each, in turn.
            for key, _ in self.selector.select(0.1):
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj.fileno() >= 0:
                    self.move(key.fileobj, *key.data)
                if self.left <= 0:
                    self.cut()
                    break
        self.cut()
        self.listener.close()

    def accept(self):
        near, _ = self.listener.accept()
        # What waits in buffers was not carried.
        near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * PIECE)
        far = socket.create_connection(("127.0.0.1", self.behind))
        self.selector.register(near, selectors.EVENT_READ, (far, True))
        self.selector.register(far, selectors.EVENT_READ, (near, False))

    def move(self, source, target, is_up):
        try:
            piece = source.recv(PIECE)
            target.sendall(piece)
        except OSError:
            piece = b""
        if not piece:
            self.end(source)
            self.end(target)
        elif is_up:
            self.left -= len(piece)
            time.sleep(len(piece) / self.rate)

    def cut(self):
        self.lives += 1
        self.left = self.life
        for key in list(self.selector.get_map().values()):
            if key.fileobj is not self.listener:
                key.fileobj.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack("ii", 1, 0))
                self.end(key.fileobj)

    def end(self, connection):
        if connection.fileno() >= 0:
            self.selector.unregister(connection)
            connection.close()
