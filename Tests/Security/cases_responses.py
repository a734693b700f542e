"""C15, C16, C17: answers without end, and numbers and headers of every hostile form."""

import itertools
import signal
import threading
import time
import zlib

from endpoints import OSS, PREFIX, S3, Endpoint, Store, contents, crc64, error, listing, reply
from harness import case, equal, expect, resident

PIECE = b"e" * (1 << 16)


def head(status, *lines):
    """The beginning of a response whose length the case gives, or does not."""
    return reply(status, b"", *lines, length=False)


def endless(*beginning, piece=PIECE):
    return itertools.chain(beginning, itertools.repeat(piece))


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def zipped(size):
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(b"0" * (1 << 20)) for _ in range(size >> 20)) + packer.flush()


# Answers that never end, as generators that are made anew for each request.
ENDLESS = {
    "headers": lambda: endless(b"HTTP/1.1 200 OK\r\n", piece=b"X-E: " + b"e" * 900 + b"\r\n"),
    "one header": lambda: endless(b"HTTP/1.1 200 OK\r\nX-E: "),
    "a first line": lambda: endless(b"HTTP/1.1 200 "),
    "short headers": lambda: endless(b"HTTP/1.1 200 OK\r\n", piece=b"a:b\r\n" * 1_000),
    "interim answers": lambda: endless(piece=b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "early hints": lambda: endless(piece=b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" * 100),
    "a body": lambda: endless(head(200)),
    "a body of a known length": lambda: endless(head(200, "Content-Length: 99999999999")),
    "a body in chunks": lambda: endless(head(200, "Transfer-Encoding: chunked"),
                                        piece=chunk(PIECE)),
    "a chunk": lambda: endless(head(200, "Transfer-Encoding: chunked"), b"7fffffffffffffff\r\n"),
    "trailers": lambda: endless(head(200, "Transfer-Encoding: chunked"), b"0\r\n",
                                piece=b"X-E: " + b"e" * 900 + b"\r\n"),
    "an error": lambda: endless(head(403)),
    "an error in XML": lambda: endless(head(403), b"<Error><Code>", piece=PIECE),
    "blanks before the document": lambda: endless(head(200), piece=b" " * (1 << 16)),
    "objects": lambda: itertools.chain([head(200), listing()[:-len("</ListBucketResult>")]],
                                       (contents(b"mirror/%09d" % n, 1)
                                        for n in itertools.count())),
}


@case("a listing's answer without end is left", ENDLESS)
def endless_listing(place, make):
    for remote in [OSS, S3]:
        with Endpoint(lambda _: make()) as endpoint:
            outcome = place.run("pull", place.mirror, remote, "--delete", endpoint=endpoint.url,
                                expected=(1, 4, 6))
            expect(outcome.seconds < 30, str(outcome))
    equal(place.files(), {})


@case("an object's answer without end is left",
      {word: ENDLESS[word] for word in ENDLESS if "document" not in word and word != "objects"})
def endless_object(place, make):
    store = Store({PREFIX + b"a": b"hello", PREFIX + b"b": b"there"})
    store.get = lambda request: (make() if request.key.endswith(b"a")
                                 else store.honest_object(request))
    with Endpoint(store) as endpoint:
        outcome = place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=1)
        expect(outcome.seconds < 40, str(outcome))
    equal(place.files(), {b"b": b"there"})


def interrupting(condition):
    """Sends SIGINT when `condition` holds; what it returns is called at the end."""
    sent = []

    def started(process):
        def wait():
            while not condition() and process.status is None:
                time.sleep(0.05)
            process.send(signal.SIGINT)
            sent.append(time.monotonic())
        threading.Thread(target=wait, daemon=True).start()

    def check():
        expect(sent and time.monotonic() - sent[0] < 3, "it did not end when it was told to")
    return started, check


@case("a listing without end can be ended and takes no memory")
def endless_pages(place):
    token = b"t" * 60_000

    def answer(request):
        number = len(endpoint.requests)
        more = (b"<IsTruncated>true</IsTruncated><NextContinuationToken>%09d" % number
                + token + b"</NextContinuationToken>")
        # A directory with content is skipped, so that nothing is transferred.
        return reply(200, listing([contents(b"mirror/%09d/" % number, 1)], more))
    with Endpoint(answer) as endpoint:
        interrupt, check = interrupting(lambda: len(endpoint.requests) > 140)
        peaks = {}

        def started(process):
            def watch():
                while process.status is None:
                    peaks[len(endpoint.requests)] = resident(process.pid)
                    time.sleep(0.05)
            threading.Thread(target=watch, daemon=True).start()
            interrupt(process)
        place.run("pull", place.mirror, OSS, "-q", endpoint=endpoint.url, expected=130,
                  started=started)
        check()
        early = max(peak for pages, peak in peaks.items() if pages <= 30)
        late = max(peaks.values())
        # Kept, 110 tokens would take more.
        expect(late - early < 4 << 10, f"{late - early} KiB more for {len(endpoint.requests)} pages")


@case("bytes without end that mean nothing can be ended and take no memory", {
    "a chunk's extension": (head(200, "Transfer-Encoding: chunked"), b"1;x="),
    "a TLS-like answer": (b"\x16\x03\x01",), "blank lines": (head(200), b"\r\n")})
def endless_noise(place, beginning):
    with Endpoint(lambda _: endless(*beginning)) as endpoint:
        clock = time.monotonic()
        started, _ = interrupting(lambda: time.monotonic() - clock > 3)
        outcome = place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=(6, 130),
                            started=started)
        expect(outcome.seconds < 6 and outcome.peak < 60 << 10, str(outcome))


def page_loop(answer):
    state = itertools.count()
    return lambda request: reply(200, answer(next(state)))


def more(token):
    return (b"<IsTruncated>true</IsTruncated><NextContinuationToken>" + token
            + b"</NextContinuationToken>")


LOOPS = {
    "the same page": lambda n: listing([contents(b"mirror/a", 1)], more(b"t")),
    "the same page with other tokens": lambda n: listing([contents(b"mirror/a", 1)],
                                                         more(b"%d" % n)),
    "the same token": lambda n: listing([contents(b"mirror/%09d" % n, 1)], more(b"t")),
    "a cycle of tokens": lambda n: listing([contents(b"mirror/%09d" % n, 1)], more(b"%d" % (n % 7))),
    "empty pages": lambda n: listing([], more(b"%d" % n)),
    "keys that step back": lambda n: listing([contents(b"mirror/%09d" % (10**8 - n), 1)],
                                             more(b"%d" % n)),
}


@case("a listing that does not advance is left", LOOPS)
def loops(place, answer):
    for remote in [OSS, S3]:
        with Endpoint(page_loop(answer)) as endpoint:
            place.run("pull", place.mirror, remote, "--delete", "--rebind", endpoint=endpoint.url,
                      expected=(1, 6))
            expect(len(endpoint.requests) < 250, f"{len(endpoint.requests)} requests")


CONTENT = b"hello" * 1000
RANGED = [f"Content-Range: bytes 0-4999/{len(CONTENT)}"]
TAG = f'ETag: "{Store.etag(CONTENT)}"'


# Answers to a request of all bytes of CONTENT, none of which may become a file.
WRONG_OBJECTS = {
    "another range": (206, CONTENT, [TAG, "Content-Range: bytes 1-5000/5001"]),
    "a backward range": (206, CONTENT, [TAG, "Content-Range: bytes 4999-0/5000"]),
    "a range beyond": (206, CONTENT, [TAG, "Content-Range: bytes 0-4999/4999"]),
    "a huge range": (206, CONTENT, [TAG, "Content-Range: bytes 0-9223372036854775807/" + "9" * 19]),
    "an overflowing range": (206, CONTENT, [TAG, "Content-Range: bytes 0-18446744073709551615/*"]),
    "a negative range": (206, CONTENT, [TAG, "Content-Range: bytes -1-4998/5000"]),
    "a range of letters": (206, CONTENT, [TAG, "Content-Range: bytes a-b/c"]),
    "an empty range": (206, CONTENT, [TAG, "Content-Range: "]),
    "a range of Arabic digits": (206, CONTENT, [TAG, "Content-Range: bytes \u0660-\u0664/5"]),
    "no range": (206, CONTENT, [TAG]), "several ranges": (206, CONTENT, [
        TAG, "Content-Type: multipart/byteranges; boundary=x"]),
    "another ETag": (206, CONTENT, ['ETag: "00"', *RANGED]),
    "another size": (206, CONTENT, [TAG, "Content-Range: bytes 0-4999/5001"]),
    "encoded on the way": (206, CONTENT, [*RANGED, "Content-Encoding: gzip"]),
    "more than was asked for": (206, CONTENT + b"x", [TAG, *RANGED]),
    "less than was asked for": (206, CONTENT[:-1], [TAG, *RANGED]),
    "other bytes": (206, CONTENT[::-1], [TAG, *RANGED, f"x-oss-hash-crc64ecma: {crc64(CONTENT)}"]),
    "another CRC": (206, CONTENT, [TAG, *RANGED, "x-oss-hash-crc64ecma: 1"]),
    "status 204": (204, b"", [TAG]), "status 304": (304, b"", [TAG]),
    "status 203": (203, CONTENT, [TAG, *RANGED]),
}


@case("an object's answer that is not what was asked for makes no file", WRONG_OBJECTS)
def wrong_objects(place, parameter):
    status, body, lines = parameter
    store = Store({PREFIX + b"a": CONTENT})
    store.get = lambda _: reply(status, body, *[line.encode() for line in lines])
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=(1, 6))
        expect(len(endpoint.requests) < 20, "it asks too often")
    equal(place.files(), {})


@case("a length that is none is refused", {
    repr(value): value for value in
    ["-1", "+5000", "5e3", "0x1388", "5000, 5000x", "99999999999999999999", "5000 0", "NaN",
     "\u0665", "9223372036854775807", "18446744073709556616", "5000\r\nContent-Length: 4999"]})
def lengths(place, value):
    store = Store({PREFIX + b"a": CONTENT})
    store.get = lambda _: reply(206, b"", TAG, *RANGED, f"Content-Length: {value}".encode(),
                                length=False) + CONTENT
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=(1, 6), longest=45)
    equal(place.files(), {})


HEADERS = {
    "CRCs": [f"x-oss-hash-crc64ecma: {value}" for value in
             ["-1", "18446744073709551616", "1e3", "", "\u0665", "0x0", "9" * 5_000]],
    "times": [f"{name}: {value}" for name in ["x-oss-meta-mtime", "Last-Modified"] for value in
              ["nan", "inf", "-1", "1e400", "99999999999", "-99999999999.5", "9223372036854775807.999999999", "-9223372036854775808",
               "1.5.5", "0." + "9" * 10_000, "Tue, 99 Foo 2024 99:99:99 GMT", "9" * 400,
               "Thu, 01 Jan 999999999999 00:00:00 GMT"]],
    "sizes": [f"{name}: {value}" for name in ["x-oss-next-append-position", "Age", "x-oss-meta-size"]
              for value in ["-1", "9" * 40]],
    "digests": [f"Content-MD5: {value}" for value in ["", "====", "A" * 5_000]],
    "restores": [f"x-oss-restore: {value}" for value in
                 ['ongoing-request="maybe"', 'expiry-date="9"', '"' * 1_000]],
    "kinds": ["x-oss-object-type: \u202e", "x-oss-storage-class: " + "S" * 5_000,
              "Content-Encoding: identity", "x-oss-version-id: ../../x", "x-oss-server-side-encryption: x"],
}


@case("a hostile header is no more than a header", HEADERS)
def headers(place, lines):
    store = Store({PREFIX + b"a": CONTENT, PREFIX + b"empty": b""})
    for line in lines:
        store.get = store.head = lambda request: store.honest_object(request, line.encode())
        with Endpoint(store) as endpoint:
            place.run("pull", place.mirror, OSS, "--force", endpoint=endpoint.url, expected=(0, 1))
    expect(set(place.files().values()) <= {CONTENT, b""}, "a wrong file was made")


@case("what a listing says beside keys and sizes is no more than text", {
    "an ETag of 1,024 bytes": ("etag", b"e" * 1_024), "an ETag with a line": ("etag", b"a&#13;&#10;X: y"),
    "an ETag like a list": ("etag", b'a", "b'), "an ETag of blanks": ("etag", b"   "),
    "an ETag beyond ASCII": ("etag", "\u00e9\u202e".encode()),
    "a long class": ("class", b"C" * 60_000), "a class with escapes": ("class", b"&#x9b;31m"),
    "a time in another era": ("time", b"99999-01-01T00:00:00.000Z"),
    "a time before Christ": ("time", b"-9999-01-01T00:00:00.000Z"),
    "a time of nonsense": ("time", b"2024-13-45T99:99:99.999999999999999Z"),
    "a time of ten thousand digits": ("time", b"2024-01-02T03:04:05." + b"9" * 10_000 + b"Z")})
def listed(place, parameter):
    what, value = parameter
    places = {"etag": b'"' + Store.etag(CONTENT).encode() + b'"', "class": b"Standard",
              "time": b"2024-01-02T03:04:05.000Z"}
    store = Store({PREFIX + b"a": CONTENT, PREFIX + b"b": b"other"})
    page = listing([contents(b"mirror/a", len(CONTENT), Store.etag(CONTENT)).replace(
        places[what], value), contents(b"mirror/b", 5, Store.etag(b"other"))])
    store.page = lambda _: reply(200, page)
    for remote in [OSS, S3]:
        with Endpoint(store) as endpoint:
            place.run("pull", place.mirror, remote, "--rebind", endpoint=endpoint.url,
                      expected=(0, 1))
            for request in endpoint.requests:
                expect("x" not in request.headers, "a header was injected")
    # What is wrong with one object is no reason to leave out another one.
    equal(place.files().get(b"b"), b"other")


@case("sizes that sum up beyond all numbers stop nothing else")
def sums(place):
    largest = 2**63 - 1
    store = Store({PREFIX + b"z": b"other"})
    page = listing([contents(b"mirror/%d" % n, largest, "ab") for n in range(4)]
                   + [contents(b"mirror/z", 5, Store.etag(b"other"))])
    store.page = lambda _: reply(200, page)
    with Endpoint(store) as endpoint:
        for arguments in [["-n"], [], ["--json"], ["--part-size", "5M"]]:
            place.run("pull", place.mirror, OSS, *arguments, endpoint=endpoint.url,
                      expected=(0, 1) if arguments == ["-n"] else 1)
        place.run("status", place.mirror, endpoint=endpoint.url)
        place.run("ls", OSS, endpoint=endpoint.url, expected=0)
    equal(place.files(), {b"z": b"other"})


@case("a compressed listing is not unpacked")
def compressed(place):
    body = zipped(64 << 20)
    for encoding in ["gzip", "deflate", "br", "x-gzip"]:
        answer = reply(200, body, f"Content-Encoding: {encoding}")
        with Endpoint(lambda _: answer) as endpoint:
            outcome = place.run("ls", OSS, endpoint=endpoint.url, expected=(1, 6))
            expect(outcome.peak < 100 << 10, f"{outcome.peak} KiB")


@case("what a server asks to wait for is bounded below and above", {
    value: value for value in ["-1", "garbage", "1e9", "0x10", "Thu, 01 Jan 1970 00:00:00 GMT",
                               "\u0665", ""]})
def waits(place, value):
    store = Store({PREFIX + b"a": CONTENT})
    answers = iter([error(503, b"SlowDown", headers=[f"Retry-After: {value}".encode()])])
    store.get = lambda request: next(answers, None) or store.honest_object(request)
    with Endpoint(store) as endpoint:
        outcome = place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=0)
        expect(outcome.seconds < 5, str(outcome))
    equal(place.files(), {b"a": CONTENT})
