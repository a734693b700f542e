"""Bodies in S3's own chunks, and what no library sends by itself; signed here from the rules."""

import base64
import datetime
import hashlib
import hmac
import http.client
import urllib.parse
import zlib

from peer import ACCESS_KEY, REGION, SECRET, equal, expect, ramp

EMPTY = hashlib.sha256(b"").hexdigest()
BUCKET = "raw-bucket"


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Signer:
    """One request's time, scope and key."""

    def __init__(self):
        self.time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        self.scope = f"{self.time[:8]}/{REGION}/s3/aws4_request"
        self.key = ("AWS4" + SECRET).encode()
        for word in self.scope.split("/"):
            self.key = mac(self.key, word)

    def sign(self, algorithm, *lines):
        return mac(self.key, "\n".join([algorithm, self.time, self.scope, *lines])).hex()

    def request(self, url, method, path, payload, headers, unsigned=()):
        sent = {name.lower(): value for name, value in headers.items()}
        sent.update({"host": urllib.parse.urlparse(url).netloc, "x-amz-date": self.time,
                     "x-amz-content-sha256": payload})
        names = sorted(name for name in sent if name not in unsigned)
        lines = "".join(f"{name}:{sent[name]}\n" for name in names)
        canonical = "\n".join([method, path, "", lines, ";".join(names), payload])
        signature = self.sign("AWS4-HMAC-SHA256", hashlib.sha256(canonical.encode()).hexdigest())
        sent["authorization"] = (f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{self.scope}, "
                                 f"SignedHeaders={';'.join(names)}, Signature={signature}")
        return sent, signature


def send(url, method, path, headers, body=b""):
    connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc, timeout=20)
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def chunk(data, signature=None):
    head = f"{len(data):x}" + (f";chunk-signature={signature}" if signature else "")
    return head.encode() + b"\r\n" + data + (b"\r\n" if data else b"")


class Cases:
    def __init__(self, url):
        self.url = url

    def put_chunks(self, pieces, is_signed, trailer=None, spoil=None, length=None):
        """Sends `pieces` as chunks; `trailer` is a checksum header after them."""
        signer = Signer()
        kind = "AWS4-HMAC-SHA256-PAYLOAD" if is_signed else "UNSIGNED-PAYLOAD"
        payload = f"STREAMING-{kind}" + ("-TRAILER" if trailer or not is_signed else "")
        total = sum(map(len, pieces)) if length is None else length
        headers = {"content-encoding": "aws-chunked,gzip",
                   "x-amz-decoded-content-length": str(total)}
        if trailer:
            headers["x-amz-trailer"] = trailer[0]
        sent, previous = signer.request(
            self.url, "PUT", f"/{BUCKET}/chunked", payload, headers)
        body = b""
        for piece in [*pieces, b""]:
            signature = None
            if is_signed:
                digest = hashlib.sha256(piece).hexdigest()
                previous = signature = signer.sign(
                    "AWS4-HMAC-SHA256-PAYLOAD", previous, EMPTY, digest)
            body += chunk(piece, signature)
        if trailer:
            body += f"{trailer[0]}:{trailer[1]}\r\n".encode()
            if is_signed:
                text = f"{trailer[0]}:{trailer[1]}\n".encode()
                signature = signer.sign("AWS4-HMAC-SHA256-TRAILER", previous,
                                        hashlib.sha256(text).hexdigest())
                body += f"x-amz-trailer-signature:{signature}\r\n".encode()
        body += b"\r\n"
        if spoil:
            body = spoil(body)
        return send(self.url, "PUT", f"/{BUCKET}/chunked", sent, body)

    def get(self, **headers):
        sent, _ = Signer().request(
            self.url, "GET", f"/{BUCKET}/chunked", "UNSIGNED-PAYLOAD",
            {name.replace("_", "-"): value for name, value in headers.items()})
        return send(self.url, "GET", f"/{BUCKET}/chunked", sent)

    def test_chunks(self):
        body = ramp(300_000)
        pieces = [body[start:start + 65_536] for start in range(0, len(body), 65_536)]
        crc = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
        for is_signed in (False, True):
            for trailer in (None, ("x-amz-checksum-crc32", crc)):
                status, headers, _ = self.put_chunks(pieces, is_signed, trailer)
                equal(status, 200)
                equal(headers.get("x-amz-checksum-crc32"), trailer and crc)
                status, headers, found = self.get(x_amz_checksum_mode="ENABLED")
                equal((status, headers["Content-Encoding"]), (200, "gzip"))
                expect(found == body, "another content came back")
                equal(headers.get("x-amz-checksum-crc32"), trailer and crc)

    def test_spoilt_chunks(self):
        pieces = [ramp(70_000)]
        crc = ("x-amz-checksum-crc32", "AAAAAA==")
        for is_signed in (False, True):
            status, _, text = self.put_chunks(pieces, is_signed, crc)
            equal((status, b"<Code>BadDigest</Code>" in text), (400, True))
            status, _, text = self.put_chunks(pieces, is_signed, length=70_001)
            equal((status, b"<Code>IncompleteBody</Code>" in text), (400, True))

        def flip(body):
            return body[:500] + bytes([body[500] ^ 1]) + body[501:]
        status, _, text = self.put_chunks(pieces, True, spoil=flip)
        equal((status, b"<Code>SignatureDoesNotMatch</Code>" in text), (403, True))
        status, _, text = self.put_chunks(pieces, False, spoil=lambda body: b"zz" + body)
        equal((status, b"<Code>IncompleteBody</Code>" in text), (400, True))

    def test_signed_payloads(self):
        wrong = hashlib.sha256(b"other").hexdigest()
        sent, _ = Signer().request(self.url, "PUT", f"/{BUCKET}/k", wrong, {})
        status, _, text = send(self.url, "PUT", f"/{BUCKET}/k", sent, b"content")
        equal((status, b"<Code>XAmzContentSHA256Mismatch</Code>" in text), (400, True))
        sent, _ = Signer().request(self.url, "PUT", f"/{BUCKET}/k", "nonsense", {})
        equal(send(self.url, "PUT", f"/{BUCKET}/k", sent, b"content")[0], 400)
        sent, _ = Signer().request(self.url, "PUT", f"/{BUCKET}/k", "UNSIGNED-PAYLOAD",
                                   {"x-amz-meta-a": "1"}, unsigned=["x-amz-meta-a"])
        status, _, text = send(self.url, "PUT", f"/{BUCKET}/k", sent, b"content")
        equal((status, b"<HeadersNotSigned>x-amz-meta-a" in text), (403, True))

    def test_which_dialect(self):
        status, headers, text = send(self.url, "GET", f"/{BUCKET}/", {})
        equal((status, b"<EC>" in text, headers["Server"]), (403, True, "AliyunOSS"))
        status, headers, text = send(self.url, "GET", f"/{BUCKET}/", {"x-amz-meta-a": "1"})
        equal((status, b"<EC>" in text, headers["Server"]), (403, False, "AmazonS3"))
        status, _, text = send(self.url, "GET", f"/{BUCKET}/", {"authorization": "AWS a:b"})
        equal((status, b"<Code>InvalidRequest</Code>" in text), (400, True))


def run(tally, url):
    cases = Cases(url)
    for name in sorted(dir(cases)):
        if name.startswith("test_"):
            tally.run(f"raw {name}", getattr(cases, name))
