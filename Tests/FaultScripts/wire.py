"""A server in between that passes requests on and sends back whatever bytes a case asks for."""

import http.client
import socket
import ssl
import struct
import threading
import time
import urllib.parse

RESET, CLOSE, KEEP, HANG = "reset", "close", "keep", "hang"


class Request:
    """One request; `connection` counts connections and `index` the requests of one, from 1."""

    connection = index = 0

    def __init__(self, method, target, headers, body):
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        path, _, query = target.partition("?")
        if "://" in path:
            path = "/" + path.split("://", 1)[1].partition("/")[2]
        parts = urllib.parse.unquote(path).lstrip("/").split("/", 2)
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        # Without the bucket and the case's prefix.
        self.key = parts[2] if len(parts) > 2 else ""
        self.operation = self.find_operation(len(parts) > 1 and parts[1] != "")
        self.begun = time.monotonic()

    def find_operation(self, has_key):
        names = set(self.query)
        if not has_key:
            if "list-type" in names:
                return "ListObjectsV2"
            if "uploads" in names:
                return "ListMultipartUploads"
            return "DeleteMultipleObjects" if "delete" in names else "Other"
        if "uploadId" in names:
            return {"GET": "ListParts", "POST": "CompleteMultipartUpload", "DELETE":
                    "AbortMultipartUpload"}.get(self.method, "UploadPart")
        if "uploads" in names:
            return "InitiateMultipartUpload"
        if self.method == "PUT" and "x-oss-copy-source" in self.headers:
            return "CopyObject"
        return {"GET": "GetObject", "HEAD": "HeadObject", "PUT": "PutObject",
                "DELETE": "DeleteObject"}.get(self.method, "Other")

    @property
    def range_start(self):
        text = self.headers.get("range", "")
        return int(text[6:].split("-")[0]) if text.startswith("bytes=") else None


class Answer:
    """What the server behind answered, to be changed and sent as bytes."""

    def __init__(self, status, reason, headers, body):
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body

    def set(self, name, value):
        self.headers = [(n, v) for n, v in self.headers if n.lower() != name.lower()]
        if value is not None:
            self.headers.append((name, value))
        return self

    def head(self, *lines):
        text = [f"HTTP/1.1 {self.status} {self.reason}"]
        text += [f"{name}: {value}" for name, value in self.headers] + list(lines)
        return "\r\n".join(text).encode("latin-1") + b"\r\n\r\n"

    def bytes(self):
        return self.head() + self.body


def plain(status, body=b"", headers=(), length=True):
    """An answer that no server behind gave."""
    head = [("Content-Length", str(len(body)))] if length else []
    return Answer(status, "Fault", head + list(headers), body)


class Wire:
    """Listens on loopback; `rules` say which requests are answered otherwise.

    A rule's effect takes the request and a function that asks the server behind; it returns the
    steps of the answer: bytes to send, seconds to wait, and at last how the connection ends. None
    passes the request on.
    """

    def __init__(self, port, certificate=None, host="127.0.0.1"):
        self.behind = port
        self.rules = []
        self.requests = []
        self.connections = 0
        self.is_away = False
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.context = certificate
        self.listen((host, 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"{'https' if certificate else 'http'}://{host}:{self.port}"

    def listen(self, address):
        self.listener = socket.create_server(address)
        self.acceptor = threading.Thread(target=self.accept, args=(self.listener,), daemon=True)
        self.acceptor.start()

    def on(self, operation, effect, key=None, first=None, only=None):
        """Applies `effect` to requests of an operation; the n-th is counted for the rule."""
        self.rules.append({"operation": operation, "key": key, "first": first, "only": only,
                           "count": 0, "effect": effect})

    def clear(self):
        self.rules = []

    def seen(self, operation=None, key=None):
        return [request for request in self.requests
                if (operation is None or request.operation == operation)
                and (key is None or request.key == key)]

    def leave(self):
        """Goes away with all connections: what comes now is refused."""
        self.is_away = True
        self.shut()

    def come_back(self):
        """Listens at the same port again."""
        self.is_away = False
        self.listen(("127.0.0.1", self.port))

    def close(self):
        self.ended.set()
        self.shut()

    def shut(self):
        try:
            # The thread in accept() closes it: it may not wait for a descriptor of somebody else.
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.acceptor.join()

    def accept(self, listener):
        with listener:
            while not self.ended.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                self.connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        reader = None
        number = self.connections
        try:
            connection.settimeout(60)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            reader = connection.makefile("rb")
            index = 0
            while (request := self.read(reader, connection)) is not None:
                index += 1
                request.connection, request.index = number, index
                with self.lock:
                    self.requests.append(request)
                if self.answer(connection, request) != KEEP:
                    return
        except (OSError, ssl.SSLError, ValueError, http.client.HTTPException):
            pass
        finally:
            # The socket ends with the last of the two.
            if reader:
                reader.close()
            connection.close()

    def read(self, reader, connection):
        if reader.peek(1)[:1] == b"\x16":
            # The beginning of a TLS handshake, answered as servers of plain text do.
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            return None
        line = reader.readline().decode("latin-1").split()
        if len(line) < 3:
            return None
        headers = {}
        while (text := reader.readline().decode("latin-1").strip()):
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", 0)))
        return Request(line[0], line[1], headers, body)

    def rule(self, request):
        with self.lock:
            for rule in self.rules:
                if rule["operation"] not in (None, request.operation) or \
                        rule["key"] not in (None, request.key):
                    continue
                rule["count"] += 1
                if rule["first"] and rule["count"] > rule["first"]:
                    continue
                if rule["only"] and rule["count"] != rule["only"]:
                    continue
                return rule
        return None

    def answer(self, connection, request):
        if self.is_away:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return CLOSE
        rule = self.rule(request)
        steps = rule["effect"](request, lambda: self.forward(request)) if rule else None
        if steps is None:
            steps = [self.forward(request).bytes(), KEEP]
        for step in steps:
            if isinstance(step, (bytes, bytearray)):
                connection.sendall(step)
            elif isinstance(step, (int, float)):
                self.ended.wait(step)
            elif step == RESET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      struct.pack("ii", 1, 0))
                return CLOSE
            elif step == HANG:
                self.ended.wait(60)
            else:
                return step
        return CLOSE

    def forward(self, request):
        """The answer of the server behind, read to its end."""
        link = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=60)
        try:
            target = request.target
            if "://" in target:
                target = "/" + target.split("://", 1)[1].partition("/")[2]
            link.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                link.putheader(name, value)
            link.endheaders(request.body or None)
            found = link.getresponse()
            body = found.read()
            return Answer(found.status, found.reason, found.getheaders(), body)
        finally:
            link.close()


def answering(status, body=b"", headers=(), end=CLOSE, length=True):
    """An effect that never asks the server behind."""
    return lambda request, forward: [plain(status, body, headers, length).bytes(), end]


def changed(change, end=KEEP):
    """An effect that changes the real answer."""
    def effect(request, forward):
        answer = forward()
        change(answer)
        return [answer.bytes(), end]
    return effect


def raw(make):
    """An effect whose steps are made from the real answer."""
    return lambda request, forward: make(forward())
