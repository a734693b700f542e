"""Rows F025, F028 to F032, F035, F037 to F040 and F157: what stands where the service should."""

import os
import socket
import stat
import threading
import time

import program
import wire
from case_table import case, equal, expect
from machine import until
from scenes import NEW, OLD, OTHER, ends_in_step, pulled, recovers, skips, stops
from stage import BUCKET, REGION, Server, ramp
from Support.certificates import ELLIPTIC, Authority, old_protocol

ERROR = ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{}</Code><Message>m</Message>"
         "<RequestId>R</RequestId></Error>")
PAGE = b"<html><head><title>Wi-Fi</title></head><body>Please log in</body></html>"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@case("F025", "a page of a captive portal is no listing, and nothing is deleted")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("ListObjectsV2", {"body": PAGE.decode()}))
    result = place.pull("--delete")
    stops(place, result, 6, "did not answer as an object store", "login portal")
    equal(len(place.requests()), 3, "requests")
    recovers(place, tree)


@case("F025", "a page of a captive portal is no object")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", wire.answering(200, PAGE), key="victim")
    skips(place, place.pull("--delete"), tree, "whole object")
    between.clear()
    between.on("GetObject", wire.answering(200, PAGE, length=False), key="victim")
    skips(place, place.pull("--delete"), {**tree, "other": tree["other"]}, "whole object")
    between.clear()
    recovers(place, tree)


@case("F028", "a name without an address ends the run with 6 after the last try")
def _(place):
    pulled(place)
    place.endpoint = "http://no-such-host.invalid"
    # The manifest is of another host, and must not be the reason.
    result = place.pull("--delete", "--insecure-http", "--rebind", "--addressing", "path",
                        "--timeout", "5", "--retries", "2")
    stops(place, result, 6, "could not be resolved", "Check the endpoint")
    equal(result.count("requests"), 3, f"requests of {result}")


@case("F028", "an address that is dead is passed over for the next one of the same name")
def _(place):
    # libcurl knows both addresses of this name by itself; the server listens at one of them.
    place.put("a", OTHER)
    place.endpoint = place.endpoint.replace("127.0.0.1", "localhost")
    place.in_step(place.pull())
    equal(place.tree(), {"a": OTHER}, "the tree")


@case("F029", "a port that nobody listens at ends the run with 6 after the last try")
def _(place):
    tree = pulled(place)
    real = place.endpoint
    place.endpoint = f"http://127.0.0.1:{free_port()}"
    for command in (place.pull, place.push):
        result = command("--delete", "--retry-wait", "0.1")
        stops(place, result, 6, "there is no connection", "Check the endpoint")
        equal((result.count("requests"), result.count("retries")), (8, 7), f"tries of {result}")
        equal([line["attempt"] for line in result.all("retry")], list(range(1, 8)), "tries told")
        expect(all(line["outage"] and "connection" in line["cause"]
                   for line in result.all("retry")), f"causes: {result.all('retry')}")
    place.endpoint = real
    recovers(place, tree)


@case("F029", "a network that goes in the middle keeps what came, and the next run goes on")
def _(place):
    place.put("big", ramp(12 << 20))
    place.put("small", OTHER)
    place.in_step(place.pull())
    place.put("big", ramp(12 << 20, 9))
    place.delete("small")
    between = place.wire()

    def gone(request, forward):
        between.close()
        answer = forward()
        return [answer.head() + answer.body[:3 << 20], 0.3, wire.RESET]
    between.on("GetObject", gone, only=3)
    result = place.pull("--delete", "--part-size", "4M", "--jobs", "1")
    equal(result.status, 6, f"exit of {result}")
    expect("connection" in result.error["message"], str(result.error))
    equal(place.tree(), {"big": ramp(12 << 20), "small": OTHER}, "the tree without a network")
    place.endpoint = place.server.url
    result = place.in_step(place.pull("--delete", "--part-size", "4M"))
    expect(result.count("bytes_resumed") >= 8 << 20, f"too little resumed: {result}")
    equal(place.tree(), {"big": ramp(12 << 20, 9)}, "the tree")


@case("F030", "a certificate that is wrong in any way ends the run at once, before any request")
def _(place):
    tree = pulled(place)
    authority = Authority(os.path.join(place.folder, "tls"), ELLIPTIC)
    for name, words in {"self": "certificate", "expired": "expired", "elsewhere": "match",
                        "unknown": "certificate", "old protocol": "version"}.items():
        context = (authority.context("good", old_protocol) if name == "old protocol"
                   else authority.context(name))
        between = place.wire(certificate=context)
        result = place.pull("--delete", "--ca-file", authority.path("ca.pem"))
        stops(place, result, 6, "TLS", words, "Nothing was sent")
        equal(between.seen(), [], f"requests with the certificate {name}")
        equal(between.connections, 1, f"connections with the certificate {name}")
    between = place.wire(certificate=authority.context("good"))
    ends_in_step(place, place.pull("--delete", "--ca-file", authority.path("ca.pem")), tree)


@case("F030", "plain text in answer to TLS ends the run, and is not spoken in turn")
def _(place):
    tree = pulled(place)
    real = place.endpoint
    between = place.wire()
    place.endpoint = between.url.replace("http://", "https://")
    result = place.pull("--delete")
    stops(place, result, 6, "TLS")
    equal(between.seen(), [], "requests")
    place.endpoint = real
    recovers(place, tree)


@case("F031", "a TLS connection that is cut off is no end of a body")
def _(place):
    tree = pulled(place)
    authority = Authority(os.path.join(place.folder, "tls"), ELLIPTIC)
    between = place.wire(certificate=authority.context("good"))

    def cut(answer):
        answer.set("Content-Length", None).set("Connection", "close")
        return [answer.head() + answer.body[:2000], wire.CLOSE]
    between.on("GetObject", wire.raw(cut), key="victim", first=1)
    ends_in_step(place, place.pull("--delete", "--ca-file", authority.path("ca.pem")), tree)
    equal([request.range_start for request in between.seen("GetObject", "victim")], [0, 2000],
          "where the requests began")


PROXIES = {"asks for credentials": (wire.answering(407, b"x" * 5000), "asks for credentials"),
           "refuses": (wire.answering(403), "403"),
           "floods": (lambda request, forward: [b"HTTP/1.1 200 OK\r\n"]
                      + [b"X-Flood: " + b"f" * 1000 + b"\r\n"] * 5000 + [wire.CLOSE], "proxy"),
           "dies": (lambda request, forward: [wire.RESET], "the proxy ended the connection")}


@case("F032", "a proxy that fails is named as what failed, without its password")
def _(place):
    for name, (effect, words) in PROXIES.items():
        proxy = wire.Wire(place.server.port)
        place.closers.append(proxy.close)
        proxy.on(None, effect)
        place.environment = {"https_proxy": f"http://user:{program.SECRET}@127.0.0.1:{proxy.port}"}
        place.endpoint = "https://store.example"
        result = place.pull("--addressing", "path", "--timeout", "5")
        equal(result.status, 6, f"exit of a proxy that {name}: {result}")
        expect(words in result.error["message"], f"{name}: {result.error}")
        expect(len(proxy.seen()) <= 8, f"requests of a proxy that {name}")
        expect(all(request.method == "CONNECT" for request in proxy.seen()), "a request in clear")


@case("F035", "no redirect is followed, wherever it leads")
def _(place):
    tree = pulled(place)
    other = wire.Wire(place.server.port)
    place.closers.append(other.close)
    between = place.wire()
    for status in (301, 302, 307, 308):
        for target in (f"{other.url}/bucket/x?Signature={program.SECRET}", "file:///etc/passwd",
                       f"ftp://127.0.0.1:{other.port}/x", between.url + "/loop",
                       "https://oss-cn-other.example.com/bucket/x"):
            between.clear()
            redirect = wire.answering(status, headers=[("Location", target)])
            between.on("GetObject", redirect, "victim")
            result = place.pull("--delete")
            skips(place, result, tree, str(status), "endpoint")
    between.requests.clear()
    between.clear()
    between.on("ListObjectsV2", wire.answering(307, headers=[("Location", other.url + "/x")]))
    stops(place, place.pull("--delete"), 2, "307", f"endpoint '127.0.0.1:{other.port}'")
    equal(len(between.seen()), 1, "requests of a listing that is redirected")
    equal((other.seen(), other.connections), ([], 0), "what came to the other server")
    between.clear()
    recovers(place, tree)


MOVED = ('<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>The bucket'
         ' you are attempting to access must be addressed using the specified endpoint.</Message>'
         '<RequestId>R</RequestId><Endpoint>oss-cn-other.aliyuncs.com</Endpoint></Error>')


@case("F040", "a signed address that has expired is asked for once, and said to have")
def _(place):
    server = Server(os.path.dirname(place.server.osssync), "--clock-offset", "864000")
    place.closers.append(server.stop)
    place.endpoint = server.url
    signed = place.start("presign", "--expires", "1h", f"oss://{BUCKET}/film")
    equal(signed.status, 0, f"the exit status of {signed}")
    address = signed.output.strip()
    path = os.path.join(place.folder, "film")
    result = place.start("get", address, path)
    equal(result.status, 4, f"the exit status of {result}")
    expect("expired" in result.errors, f"what was said: {result.errors}")
    expect("ignature" not in result.errors + result.output, f"the address is shown: {result}")
    equal(os.path.exists(path), False, "the file")
    asked = [request for request in server.requests() if request["key"] == "film"]
    equal([request["method"] for request in asked], ["GET"], "requests")


@case("F157", "a bucket that does not exist or is elsewhere ends the run, with what to configure")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("ListObjectsV2", {"fail": {"status": 404, "code": "NoSuchBucket"}}))
    stops(place, place.pull("--delete"), 2, "NoSuchBucket", "There is no bucket '")
    place.faults(place.fault("ListObjectsV2", {"status": 403, "body": MOVED}))
    stops(place, place.pull("--delete"), 4, "Use the endpoint 'oss-cn-other.aliyuncs.com'")
    place.faults()
    place.environment = {"OSS_REGION": "cn-elsewhere-7"}
    stops(place, place.pull("--delete"), 2, "--region")
    place.environment = {}
    recovers(place, tree)


@case("F037", "a clock that is wrong by a day is corrected by the service's, and named")
def _(place):
    for offset in (-86_400, 86_400):
        server = Server(os.path.dirname(place.server.osssync), "--clock-offset", str(offset))
        place.closers.append(server.stop)
        place.endpoint = server.url
        place.write("a", OTHER)
        result = place.in_step(place.push("--rebind"))
        warnings = [event["message"] for event in result.all("warning")]
        expect(any("clock is 86" in text for text in warnings), f"no warning: {warnings}")
        expect(result.count("requests") <= 6, f"requests of {result}")


@case("F037", "a service that refuses any time ends the run with 4")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("ListObjectsV2", {"fail": {"status": 403,
                                                        "code": "RequestTimeTooSkewed"}}))
    stops(place, place.pull("--delete"), 4, "RequestTimeTooSkewed", "clock")
    expect(len(place.requests("ListObjectsV2")) <= 2, "it was asked again and again")
    recovers(place, tree)


@case("F038", "keys that expire in the middle end the run with 4, and keep what came")
def _(place):
    for index in range(20):
        place.put(f"f{index:02}", ramp(100, index))
    place.faults(place.fault("GetObject", {"fail": {"status": 403, "code": "SecurityTokenExpired"}},
                             **{"from": 6}))
    result = place.pull("--delete", "--jobs", "2")
    equal(result.status, 4, f"exit of {result}")
    expect("Get new temporary credentials" in result.error["message"], str(result.error))
    place.faults()
    again = place.in_step(place.pull())
    equal(len(place.tree()), 20, "files")
    equal(result.count("transferred") + again.count("transferred"), 20, "transfers of both runs")


@case("F038", "keys that expire in the middle are fetched anew, once for all requests")
def _(place):
    calls = os.path.join(place.folder, "calls")
    script = os.path.join(place.folder, "keys")
    # Each answer is another one, as a service's is, and takes a while: whoever is refused asks.
    with open(script, "w") as file:
        file.write(f"""#!/bin/sh
echo call >> {calls}
id={program.KEY}-$(wc -l < {calls})
sleep 0.3
echo '{{"AccessKeyId": "'$id'", "AccessKeySecret": "{program.SECRET}"}}'
""")
    os.chmod(script, stat.S_IRWXU)
    configuration = os.path.join(place.home, ".config", "osssync", "config")
    os.makedirs(os.path.dirname(configuration))
    with open(configuration, "w") as file:
        file.write(f"[default]\ncredential-process = {script}\n")
    os.chmod(configuration, 0o600)
    place.environment = {"OSS_ACCESS_KEY_ID": "", "OSS_ACCESS_KEY_SECRET": ""}
    contents = {f"f{index:02}": ramp(100, index) for index in range(40)}
    for name, content in contents.items():
        place.put(name, content)

    def count():
        with open(calls) as file:
            return len(file.readlines())
    between = place.wire()
    served, expired, waiting, lock = [], [], [], threading.Lock()

    def expire(request, forward):
        key = request.headers["authorization"].split("Credential=")[1].split("/")[0]
        with lock:
            if len(served) < 5:
                served.append(request)
                return None
            if not expired:
                expired.extend([key, count()])
            if key != expired[0]:
                return None
            waiting.append(request)
        # Refused side by side, so that many notice at once.
        until(lambda: len(waiting) >= 4, "requests beside the first one that is refused")
        document = ERROR.format("SecurityTokenExpired").encode()
        return [wire.plain(403, document).bytes(), wire.KEEP]
    between.on("GetObject", expire)
    place.in_step(place.pull("--jobs", "8"))
    equal(place.tree(), contents, "the tree")
    expect(len(waiting) >= 4, f"{len(waiting)} requests were refused")
    equal(count(), expired[1] + 1, "calls of the process")


@case("F039", "a credentials process that prints no keys ends the run with 4, and is not quoted")
def _(place):
    for name, body in {"garbage": "head -c 5000 /dev/urandom", "no keys": "echo '{}'",
                       "too much": "yes 'secret' | head -c 300000", "a failure": "exit 3",
                       "a secret": f"echo {program.SECRET}; exit 1",
                       "nothing": "true"}.items():
        script = os.path.join(place.folder, "keys")
        with open(script, "w") as file:
            file.write(f"#!/bin/sh\n{body}\n")
        os.chmod(script, stat.S_IRWXU)
        configuration = os.path.join(place.home, ".config", "osssync", "config")
        os.makedirs(os.path.dirname(configuration), exist_ok=True)
        with open(configuration, "w") as file:
            file.write(f"[default]\ncredential-process = {script}\n")
        os.chmod(configuration, 0o600)
        place.environment = {"OSS_ACCESS_KEY_ID": "", "OSS_ACCESS_KEY_SECRET": ""}
        result = place.pull()
        equal(result.status, 4, f"exit with {name}: {result}")
        expect("process" in result.error["message"], f"{name}: {result.error}")
    equal(place.requests(), [], "requests")


@case("F039", "a credentials process that hangs is ended after ten seconds")
def _(place):
    script = os.path.join(place.folder, "keys")
    with open(script, "w") as file:
        file.write("#!/bin/sh\nexec sleep 60\n")
    os.chmod(script, stat.S_IRWXU)
    configuration = os.path.join(place.home, ".config", "osssync", "config")
    os.makedirs(os.path.dirname(configuration))
    with open(configuration, "w") as file:
        file.write(f"[default]\ncredential-process = {script}\n")
    os.chmod(configuration, 0o600)
    place.environment = {"OSS_ACCESS_KEY_ID": "", "OSS_ACCESS_KEY_SECRET": ""}
    begin = time.monotonic()
    result = place.pull()
    equal(result.status, 4, f"exit of {result}")
    expect(9 < time.monotonic() - begin < 20, f"it took {result.seconds} s")
