"""C09 to C13: redirects, cookies, TLS, proxies, and where requests go at all."""

import os
import signal
import ssl
import tempfile
import threading

from endpoints import OSS, PREFIX, S3, Endpoint, Store, error, reply
from harness import KEY_ID, PROXY_PASSWORD, SECRET, TOKEN, case, equal, expect
from Support.certificates import Authority, old_protocol

FAR = "https://oss.example.test"

# MARK: Redirects

TARGETS = {
    "another port": "http://127.0.0.1:{port}{target}", "another host": "http://localhost:{port}/",
    "with credentials": "http://user:pass@127.0.0.1:{port}/", "no scheme": "//127.0.0.1:{port}/",
    "relative": "/elsewhere", "file": "file:///etc/passwd", "ftp": "ftp://127.0.0.1:{port}/",
    "gopher": "gopher://127.0.0.1:{port}/_x", "nothing": "",
    "escapes": "http://127.0.0.1:{port}/\x9b31m",
}


@case("a redirect is not followed",
      {f"{status} to {word}": (status, word)
       for number, status in enumerate([301, 302, 303, 307, 308])
       for word in (TARGETS if status in (302, 307) else list(TARGETS)[number % 3:][:2])})
def redirect(place, parameter):
    status, word = parameter
    with Endpoint() as other:
        def answer(request):
            location = TARGETS[word].format(port=other.port, target=request.target)
            body = (f"<Error><Code>TemporaryRedirect</Code><Message>go</Message><Endpoint>"
                    f"127.0.0.1:{other.port}</Endpoint></Error>").encode()
            return reply(status, body, b"Location: " + location.encode("latin-1"),
                         "x-amz-bucket-region: 127.0.0.1/", "Content-Type: application/xml")
        for remote in [OSS, S3]:
            with Endpoint(answer) as endpoint:
                place.run("pull", place.mirror, remote, endpoint=endpoint.url, expected=(1, 2, 6))
                expect(len(endpoint.requests) <= 2, "it asked again and again")
                equal(other.connections, 0, "the redirect was followed")
    equal(place.files(), {})


@case("no operation follows a redirect", {"GET": b"GET", "HEAD": b"HEAD", "PUT": b"PUT",
                                          "POST": b"POST"})
def redirect_operation(place, method):
    with Endpoint() as other:
        store = Store({PREFIX + b"a": b"hello", PREFIX + b"empty": b""})

        def away(request):
            if request.method != method:
                return store.honest_object(request)
            return reply(307, b"", f"Location: http://127.0.0.1:{other.port}{request.target}")
        store.get = store.head = away
        store.put = lambda request: away(request) if request.method == method else reply(200)
        direction = "pull"
        if method in (b"PUT", b"POST"):
            direction, store.objects = "push", {}
            with open(os.path.join(place.mirror, "f"), "wb") as file:
                file.truncate(1 if method == b"PUT" else 20 << 20)
        with Endpoint(store) as endpoint:
            place.run(direction, place.mirror, OSS, endpoint=endpoint.url, expected=1)
            expect(any(request.method == method for request in endpoint.requests), "not tried")
        equal(other.connections, 0)


@case("cookies, authentication and other hosts' offers are ignored")
def offers(place):
    store = Store({PREFIX + name: b"x" for name in [b"a", b"b", b"c"]})
    with Endpoint() as other:
        lines = ["Set-Cookie: id=1; Path=/", f"Alt-Svc: http/1.1=\"127.0.0.1:{other.port}\"",
                 "Strict-Transport-Security: max-age=99999", "Clear-Site-Data: \"*\"",
                 f"Link: <http://127.0.0.1:{other.port}/>; rel=preload",
                 f"Refresh: 0; url=http://127.0.0.1:{other.port}/",
                 "WWW-Authenticate: Basic realm=\"x\""]
        store.get = lambda request: store.honest_object(request, *lines)
        with Endpoint(store) as endpoint:
            place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=0)
            for request in endpoint.requests:
                equal(set(request.headers) & {"cookie", "referer", "origin"}, set())
        for challenge in ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "NTLM",
                          "Negotiate"]:
            refuse = reply(401, b"", "WWW-Authenticate: " + challenge)
            with Endpoint(lambda _: refuse) as endpoint:
                place.run("ls", OSS, endpoint=endpoint.url, expected=4)
                for request in endpoint.requests:
                    expect(request.headers["authorization"].startswith("OSS4-"), "another scheme")
        equal(other.connections, 0)
    # The list of mirrors, and nothing that a server said.
    left = [name for _, _, names in os.walk(place.home) for name in names]
    equal(left, ["mirrors"], "something was left in the home directory")


@case("plain http to another machine is refused before anything is sent")
def plain(place):
    for remote in [OSS, S3]:
        for address in ["http://192.0.2.1", "http://oss.example.test:8080"]:
            outcome = place.run("pull", place.mirror, remote, endpoint=address, expected=2)
            expect("--insecure-http" in outcome.text and outcome.seconds < 5, str(outcome))


# MARK: TLS

FOLDER = tempfile.TemporaryDirectory(prefix="osssync-security-ca-")
AUTHORITY = []
LOCK = threading.Lock()


def authority():
    with LOCK:
        if not AUTHORITY:
            AUTHORITY.append(Authority(FOLDER.name))
        return AUTHORITY[0]


def no_encryption(context):
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("eNULL:aNULL:@SECLEVEL=0")


BAD = {
    "self-signed": ("self", None), "unknown authority": ("unknown", None),
    "expired": ("expired", None), "not yet valid": ("future", None),
    "another host": ("elsewhere", None), "for clients only": ("client", None),
    "signed by what is no authority": ("by-leaf", None), "key of 512 bits": ("weak", None),
    "signed with SHA-1": ("old-digest", None), "TLS 1.1": ("good", old_protocol),
    "no encryption": ("good", no_encryption),
}


def tls(name, change=None):
    context = authority().context(name, change)
    return lambda connection: context.wrap_socket(connection, server_side=True)


def over_tls(endpoint, host="127.0.0.1"):
    return f"https://{host}:{endpoint.port}"


@case("a good certificate of a named authority is taken")
def good(place):
    store = Store({PREFIX + b"a": b"hello"})
    with Endpoint(store, tls("good")) as endpoint:
        arguments = ["pull", place.mirror, OSS, "--ca-file", authority().path("ca.pem")]
        place.run(*arguments, endpoint=over_tls(endpoint), expected=0)
        # The same without the authority: this machine does not know it.
        seen = len(endpoint.requests)
        place.run("pull", place.mirror, endpoint=over_tls(endpoint), expected=6)
        equal(len(endpoint.requests), seen)
    equal(place.files(), {b"a": b"hello"})


@case("a bad certificate or protocol ends the run at once", BAD)
def bad(place, parameter):
    with Endpoint(Store({PREFIX + b"a": b"evil"}), tls(*parameter)) as endpoint:
        arguments = ["pull", place.mirror, OSS, "--ca-file", authority().path("ca.pem")]
        outcome = place.run(*arguments, "--insecure-http", endpoint=over_tls(endpoint), expected=6)
        expect("TLS" in outcome.text, str(outcome))
        equal(endpoint.requests, [], "a request was sent")
        equal(endpoint.connections, 1, "it was tried again")
    equal(place.files(), {})


@case("an endpoint that speaks no TLS gets no request, and http is not tried")
def no_tls(place):
    with Endpoint(Store({PREFIX + b"a": b"evil"})) as endpoint:
        endpoint.read = lambda connection: endpoint.sent(connection)

        def keep(connection):
            endpoint.received += connection.recv(1 << 16)
            connection.sendall(reply(200, b"hello"))
        endpoint.sent = keep
        place.run("pull", place.mirror, OSS, endpoint=over_tls(endpoint), expected=6)
        expect(endpoint.received.startswith(b"\x16\x03"), "no handshake")
        expect(b"HTTP" not in endpoint.received and KEY_ID.encode() not in endpoint.received)


@case("a certificate that turns bad during the run ends it")
def turned(place):
    good_one, bad_one, count = tls("good"), tls("expired"), [0]

    def wrap(connection):
        count[0] += 1
        return (good_one if count[0] < 4 else bad_one)(connection)
    store = Store({PREFIX + b"%03d" % number: b"x" for number in range(50)})
    with Endpoint(store, wrap) as endpoint:
        place.run("pull", place.mirror, OSS, "-j", "1", "--ca-file", authority().path("ca.pem"),
                  endpoint=over_tls(endpoint), expected=(1, 6))
        equal(len(endpoint.requests), 3)


# MARK: Proxies

def flood(start):
    yield start
    while True:
        yield b"X-Flood: " + b"f" * 8000 + b"\r\n"


def babble(start):
    yield start
    while True:
        yield b"b" * (1 << 16)


PROXIES = {
    "wants credentials": lambda _: reply(407, b"no", "Proxy-Authenticate: Basic realm=\"x\""),
    "wants others": lambda _: reply(407, b"no", "Proxy-Authenticate: NTLM"),
    "refuses": lambda _: reply(403, b"forbidden \x1b[2J"),
    "redirects": lambda _: reply(302, b"", "Location: http://127.0.0.1:1/"),
    "answers with a page": lambda _: reply(200, b"", length=False) + b"<html>welcome</html>",
    "sends headers without end": lambda _: flood(b"HTTP/1.1 200 OK\r\n"),
    "sends interim answers without end": lambda _: iter(lambda: b"HTTP/1.1 100 Go\r\n\r\n", 0),
    "sends a body without end": lambda _: babble(b"HTTP/1.1 502 Bad\r\n\r\n"),
    "sends a first line without end": lambda _: babble(b"HTTP/1.1 200 "),
    "hangs up": lambda _: None, "is no proxy": lambda _: b"\x00\xff\x00\xff" * 100,
}


@case("a hostile proxy learns nothing and ends the run", PROXIES)
def proxy(place, answer):
    with Endpoint(answer) as endpoint:
        address = f"http://proxy-user:{PROXY_PASSWORD}@127.0.0.1:{endpoint.port}"
        outcome = place.run("pull", place.mirror, OSS, endpoint=FAR, expected=6,
                            environment={"https_proxy": address})
        expect(outcome.seconds < 30, str(outcome))
        for request in endpoint.requests:
            equal(request.method, b"CONNECT")
            expect("oss.example.test:443" in request.target, request.target)
        for secret in [KEY_ID, SECRET, TOKEN]:
            expect(secret.encode() not in endpoint.received, "the proxy saw credentials")


@case("a proxy's address that can't be used is told without its password", {
    word: word for word in ["http://u:{}@127.0.0.1:1", "ftp://u:{}@127.0.0.1:9", "u:{}@127.0.0.1:9",
                            "http://u:{}@[::bad", "http://u:{}@a b:9", "http://u:{}@host:99999",
                            "http://u:{}@", "nosuch://{}", "http://u:{}@no-such-host.invalid:9"]})
def proxy_address(place, form):
    def stop(process):
        timer = threading.Timer(2, process.send, [signal.SIGINT])
        timer.daemon = True
        timer.start()
    for arguments in [["ls", OSS], ["doctor"], ["init", place.mirror, OSS]]:
        outcome = place.run(*arguments, endpoint=FAR, started=stop,
                            environment={"https_proxy": form.format(PROXY_PASSWORD)})
        expect(outcome.status != 0 or arguments == ["doctor"], str(outcome))


@case("a proxy that stands between is found by its certificate")
def intercepting(place):
    inner = tls("unknown")

    class Interceptor(Endpoint):
        def serve(self, connection):
            connection.settimeout(20)
            try:
                if self.read(connection):
                    connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                    Endpoint.serve(self, connection)
            except OSError:
                pass

    with Interceptor(Store({PREFIX + b"a": b"evil"})) as endpoint:
        original = endpoint.read
        first = []

        def read(connection):
            if connection not in first:
                first.append(connection)
                return original(connection)
            return original(inner(connection))
        endpoint.read = read
        outcome = place.run("pull", place.mirror, OSS, endpoint=FAR, expected=6, environment={
            "https_proxy": f"http://127.0.0.1:{endpoint.port}"})
        expect("TLS" in outcome.text and "oss.example.test" in str(endpoint.received), str(outcome))
        expect(SECRET.encode() not in endpoint.received, "the proxy saw credentials")


@case("what an answer says of other places is told and not used")
def hints(place):
    with Endpoint() as other:
        address = f"127.0.0.1:{other.port}"
        body = [f"<Endpoint>{address}</Endpoint>".encode(), b"<Region>evil.example/x</Region>"]
        for remote, code in [(OSS, b"AccessDenied"), (S3, b"PermanentRedirect"),
                             (S3, b"AuthorizationHeaderMalformed")]:
            refuse = error(403, code, b"use another", *body)
            with Endpoint(lambda _, refuse=refuse: refuse) as endpoint:
                place.run("ls", remote, endpoint=endpoint.url, expected=(1, 4, 6))
                expect(len(endpoint.requests) == 1, "it asked again")
        equal(other.connections, 0)
