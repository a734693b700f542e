"""Endpoints on plain sockets that answer whatever a case wants, and keep what they were sent."""

import hashlib
import socket
import threading
import urllib.parse
from email.utils import formatdate

from Support.checksums import crc64  # noqa: F401

BUCKET = "canary-bucket"
OSS = "oss://" + BUCKET + "/mirror"
S3 = "s3://" + BUCKET + "/mirror"
PREFIX = b"mirror/"


class Request:
    def __init__(self, head, body):
        lines = head.split(b"\r\n")
        self.method, target, _ = lines[0].split(b" ", 2)
        self.target = target.decode("latin-1")
        path, _, query = self.target.partition("?")
        self.path = urllib.parse.unquote_to_bytes(path)
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            self.headers[name.strip().lower().decode()] = value.strip().decode("latin-1")
        self.body = body
        self.raw = head + b"\r\n\r\n" + body

    @property
    def key(self):
        return self.path[len(BUCKET) + 2:]

    @property
    def is_listing(self):
        return self.method == b"GET" and "list-type" in self.query


# A mirror takes another port for another remote: the servers of a case have one after the other.
PORTS = threading.local()


def listening():
    try:
        listener = socket.create_server(("127.0.0.1", getattr(PORTS, "last", 0)), backlog=64)
    except OSError:
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    PORTS.last = listener.getsockname()[1]
    return listener


class Endpoint:
    """Answers each connection's one request with what `answer(request)` returns: bytes, an
    iterable of bytes, or None to close the connection."""

    def __init__(self, answer=None, wrap=None):
        self.answer = answer
        self.wrap = wrap
        self.requests = []
        self.connections = 0
        self.received = b""
        self.closed = False
        self.socket = listening()
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The thread in accept() closes it: it may not wait for a descriptor of somebody else. It
        # must not see `closed` before, with which it would do so in between.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.closed = True
        self.acceptor.join()

    def accept(self):
        with self.socket:
            while not self.closed:
                try:
                    connection, _ = self.socket.accept()
                except OSError:
                    return
                self.connections += 1
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.settimeout(30)
        try:
            if self.wrap:
                connection = self.wrap(connection)
            request = self.read(connection)
            if request is None:
                return
            self.requests.append(request)
            answer = self.answer(request) if self.answer else None
            for piece in [answer] if isinstance(answer, bytes) else answer or []:
                connection.sendall(piece)
                if self.closed:
                    break
            connection.shutdown(socket.SHUT_WR)
            while not self.closed and connection.recv(1 << 16):
                pass
        except OSError:
            pass
        finally:
            connection.close()

    def read(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(1 << 16)
            if not piece:
                return None
            self.received += piece
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        while len(body) < length:
            piece = connection.recv(1 << 16)
            if not piece:
                return None
            body += piece
        return Request(head, body)


def reply(status=200, body=b"", *headers, length=True):
    """A response that closes its connection; `headers` are whole lines."""
    lines = [f"HTTP/1.1 {status} Whatever".encode(), b"Connection: close",
             b"Date: " + formatdate(usegmt=True).encode(), b"x-oss-request-id: 5F0A"]
    lines += [line if isinstance(line, bytes) else line.encode() for line in headers]
    if length:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def quote(key):
    return urllib.parse.quote_from_bytes(key, safe="/-._~").encode()


def contents(key, size, etag="00000000000000000000000000000000", extra=b""):
    """The element of one object; `key` and `size` are written as they are."""
    size = size if isinstance(size, bytes) else str(size).encode()
    return (b"<Contents><Key>" + key + b"</Key>"
            b"<LastModified>2024-01-02T03:04:05.000Z</LastModified>"
            b'<ETag>"' + etag.encode() + b'"</ETag><Type>Normal</Type><Size>' + size + b"</Size>"
            b"<StorageClass>Standard</StorageClass>" + extra + b"</Contents>")


def listing(entries=(), more=b"<IsTruncated>false</IsTruncated>", encoding=b"url",
            prefix=b"mirror/"):
    """A page of ListObjectsV2."""
    echo = b"<EncodingType>" + encoding + b"</EncodingType>" if encoding else b""
    return (b'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult><Name>'
            + BUCKET.encode() + b"</Name><Prefix>" + prefix + b"</Prefix>"
            b"<MaxKeys>1000</MaxKeys>" + echo + more + b"".join(entries)
            + b"</ListBucketResult>")


def error(status, code, message=b"no", *more, headers=()):
    return reply(status, b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>' + code
                 + b"</Code><Message>" + message + b"</Message><RequestId>5F0A</RequestId>"
                 + b"".join(more) + b"</Error>", "Content-Type: application/xml", *headers)


class Store:
    """What an honest store would answer from `objects`, keys with the prefix to contents; a case
    replaces the answers it wants to falsify."""

    def __init__(self, objects=None, encoding=b"url"):
        self.objects = dict(objects or {})
        self.encoding = encoding
        self.page = None
        self.get = None
        self.head = None
        self.put = None

    def entries(self):
        return [contents(self.spell(key), len(body), self.etag(body))
                for key, body in sorted(self.objects.items())]

    def spell(self, key):
        return quote(key) if self.encoding else key

    @staticmethod
    def etag(body):
        return hashlib.md5(body).hexdigest().upper()

    def __call__(self, request):
        if request.is_listing:
            return self.page(request) if self.page else self.honest_page(request)
        if request.method == b"GET" and not self.unsupported(request):
            return (self.get or self.honest_object)(request)
        if request.method == b"HEAD":
            return (self.head or self.honest_object)(request)
        if self.put and request.method in (b"PUT", b"POST", b"DELETE"):
            return self.put(request)
        return error(404, b"NoSuchKey")

    @staticmethod
    def unsupported(request):
        return not request.key or bool(set(request.query) & {"uploads", "uploadId", "bucketInfo"})

    def honest_page(self, request):
        start = request.query.get("start-after", "").encode()
        prefix = request.query.get("prefix", "").encode()
        entries = [contents(self.spell(key), len(body), self.etag(body))
                   for key, body in sorted(self.objects.items())
                   if key > start and key.startswith(prefix)]
        return reply(200, listing(entries, encoding=self.encoding, prefix=quote(prefix)),
                     "Content-Type: application/xml")

    def honest_object(self, request, *headers):
        body = self.objects.get(request.key)
        if body is None:
            return error(404, b"NoSuchKey") if request.method == b"GET" else reply(404)
        status, piece, lines = 200, body, [f'ETag: "{self.etag(body)}"', *headers]
        wanted = request.headers.get("range")
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            first, last = int(first), min(int(last or len(body) - 1), len(body) - 1)
            status, piece = 206, body[first:last + 1]
            lines.append(f"Content-Range: bytes {first}-{last}/{len(body)}")
        answer = reply(status, piece, "Last-Modified: Tue, 02 Jan 2024 03:04:05 GMT", *lines)
        return answer if request.method == b"GET" else answer[:len(answer) - len(piece)]
