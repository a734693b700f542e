"""Rows F020 to F023, F026, F027, F036, F152, F156 and F160: what a service says instead."""

import email.utils
import os
import time

import wire
from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER, ends_in_step, pulled, recovers, skips, stops
from stage import ramp


def failing(status, code, **more):
    return {"fail": {"status": status, "code": code, **more}}


@case("F020", "errors of the server are repeated")
def _(place):
    tree = pulled(place)
    errors = [(500, "InternalError"), (502, "BadGateway"), (504, "GatewayTimeout"),
              (500, "Unknown")]
    place.faults(*[place.fault("GetObject", failing(*error), "victim", occurrence=number + 1)
                   for number, error in enumerate(errors)])
    ends_in_step(place, place.pull("--delete"), tree)
    equal(len(place.requests("GetObject", "victim")), 5, "requests of the victim")


@case("F020", "an error of the server that stays is one item's failure")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", failing(500, "InternalError"), "victim"))
    result = place.pull("--delete", "--retries", "3")
    skips(place, result, tree, "500 InternalError")
    equal(len(place.requests("GetObject", "victim")), 4, "requests of the victim")
    expect(result.items("victim")[-1].get("request_id"), "no request's id is told")
    recovers(place, tree)


@case("F020", "errors of the server to every request end a run within bounds")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("ListObjectsV2", failing(500, "InternalError")))
    stops(place, place.pull("--delete", "--retries", "4"), 6, "500 InternalError")
    equal(len(place.requests("ListObjectsV2")), 5, "listings")
    recovers(place, tree)


@case("F021", "a service that asks for less is asked again later, within limits")
def _(place):
    tree = pulled(place)
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    past = email.utils.formatdate(time.time() - 9999, usegmt=True)
    for value in ("0", "30", "-5", "1000000000", "99999999999999999999", "soon", soon, past):
        place.put("victim", ramp(len(NEW), len(value)))
        headers = {"Retry-After": value}
        place.faults(place.fault("GetObject", failing(503, "SlowDown", headers=headers), "victim",
                                 occurrence=1),
                     place.fault("GetObject", failing(503, "ServiceUnavailable", headers=headers),
                                 "victim", occurrence=2))
        result = place.in_step(place.pull())
        expect(result.seconds < 5, f"Retry-After {value} took {result.seconds} s")
        equal(place.tree()["victim"], ramp(len(NEW), len(value)), f"the victim after {value}")
    place.faults()
    tree["victim"] = place.get("victim")
    recovers(place, tree)


@case("F021", "a service's pause is honoured")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", failing(503, "SlowDown", retryAfter=1), "victim",
                             first=1))
    result = place.pull("--delete", "--retry-wait", "30")
    ends_in_step(place, result, tree)
    expect(1 <= result.seconds < 5, f"it took {result.seconds} s")


@case("F022", "too many requests are repeated later")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", failing(429, "TooManyRequests"), "victim", occurrence=1),
                 place.fault("GetObject", failing(503, "QpsLimitExceeded"), "victim", occurrence=2),
                 place.fault("ListObjectsV2", failing(503, "TotalQpsLimitExceeded"), first=1))
    ends_in_step(place, place.pull("--delete"), tree)


@case("F022", "a service that never has time ends a run within bounds")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", failing(429, "TooManyRequests")))
    result = place.pull("--delete", "--retries", "3")
    equal(result.status, 1, f"exit of {result}")
    equal(result.count("failed"), 2, "failed")
    equal(len(place.requests("GetObject")), 8, "requests")
    recovers(place, tree)


ERROR = ('<?xml version="1.0" encoding="UTF-8"?><Error><Code>{}</Code><Message>m</Message>'
         '<RequestId>R</RequestId></Error>')


@case("F023", "an error with the status of a success is the error it is: a listing")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("ListObjectsV2", {"body": ERROR.format("InternalError")}, first=2))
    ends_in_step(place, place.pull("--delete"), tree)
    place.faults(place.fault("ListObjectsV2", {"body": ERROR.format("AccessDenied")}))
    result = place.pull("--delete")
    equal((result.status, place.tree()), (4, tree), f"exit and tree of {result}")


@case("F023", "an error with the status of a success is the error it is: a Complete")
def _(place):
    place.write("big", ramp(3 << 20))
    between = place.wire()
    between.on("CompleteMultipartUpload",
               wire.answering(200, ERROR.format("InternalError").encode()), first=2)
    place.in_step(place.push("--part-size", "1M"))
    equal(place.get("big"), ramp(3 << 20), "the object")
    equal(place.uploads(), 0, "uploads left open")
    equal(len(between.seen("UploadPart")), 3, "parts that were sent")


@case("F023", "an error with the status of a success is the error it is: a copy")
def _(place):
    place.write("old", ramp(2 << 20))
    place.in_step(place.push())
    os.rename(place.path("old"), place.path("new"))
    between = place.wire()
    between.on("CopyObject", wire.answering(200, ERROR.format("AccessDenied").encode()))
    result = place.in_step(place.push("--delete"))
    equal((result.count("transferred"), result.count("deleted")), (1, 1), f"counts of {result}")
    equal((place.get("new"), place.get("old")), (ramp(2 << 20), None), "the objects")


BODIES = {"ten megabytes": b"x" * (10 << 20), "no text": bytes(range(256)) * 40,
          "not UTF-8": ERROR.format("A\x1b[2Jccess").encode() + b"\xff\xfe\x00",
          "controls": ERROR.replace(">m<", ">\x1b[31m\x07\u202e<").format("Odd\x7f").encode(),
          "nothing": b""}


@case("F026", "error bodies of any kind end in a short message that is safe to print")
def _(place):
    tree = pulled(place)
    between = place.wire()
    for name, body in BODIES.items():
        between.clear()
        between.on("GetObject", wire.answering(403, body), key="victim")
        result = place.pull("--delete")
        equal(result.status, 1, f"exit with {name}: {result}")
        said = result.said("victim")
        expect(len(said) < 700 and "403" in said, f"{name}: {said}")
        equal(place.tree()["victim"], OLD, f"the victim with {name}")
    between.clear()
    recovers(place, tree)


@case("F026", "an error body that never ends is read no further than 64 KiB")
def _(place):
    tree = pulled(place)
    between = place.wire()

    sent = []

    def endless(request, forward):
        yield b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunk = b"4000\r\n" + b"y" * 16384 + b"\r\n"
        for _ in range(25_000):
            yield chunk
            sent.append(len(chunk))
    between.on("GetObject", endless, key="victim")
    result = place.pull("--delete")
    skips(place, result, tree, "403")
    equal(len(between.seen("GetObject", "victim")), 1, "requests")
    # What is read, and what the sockets' buffers hold until the connection is closed.
    expect(sum(sent) < 6 << 20, f"{sum(sent)} bytes of 400 MB were sent")
    between.clear()
    recovers(place, tree)


def flood(*lines):
    def effect(request, forward):
        answer = forward()
        return [answer.head()[:-2], *lines, b"\r\n" + answer.body, wire.CLOSE]
    return effect


HEADS = {"3 MB in one header": [b"X-Flood: " + b"f" * (3 << 20) + b"\r\n"],
         "10,000 headers": [b"X-Flood-%d: f\r\n" % number for number in range(10_000)],
         "a control character": [b"X-Odd: \x1b[2J\x00\r\n"],
         "no colon": [b"nothing of a header\r\n"]}


@case("F027", "heads that are too long or no heads are refused twice, and the item is given up")
def _(place):
    tree = pulled(place)
    between = place.wire()
    for name, lines in HEADS.items():
        between.clear()
        between.requests.clear()
        between.on("GetObject", flood(*lines), key="victim")
        result = place.pull("--delete")
        equal(result.status, 1, f"exit with {name}: {result}")
        equal(place.tree()["victim"], OLD, f"the victim with {name}")
        equal(len(between.seen("GetObject", "victim")), 2, f"requests with {name}")
    between.clear()
    recovers(place, tree)


@case("F027", "interim answers are passed over, but not without end")
def _(place):
    tree = pulled(place)
    between = place.wire()
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"

    def some(request, forward):
        return [b"HTTP/1.1 100 Continue\r\n\r\n", interim, forward().bytes(), wire.KEEP]
    between.on("GetObject", some)
    ends_in_step(place, place.pull("--delete"), tree)
    place.put("victim", OTHER)
    between.clear()
    between.on("GetObject", lambda request, forward: [interim] * 50_000 + [wire.CLOSE], "victim")
    result = place.pull()
    equal((result.status, place.tree()["victim"]), (1, NEW), f"exit and victim of {result}")


@case("F036", "an upload never waits for leave to send its body")
def _(place):
    between = place.wire()
    place.write("large", ramp(3 << 20))
    place.write("small", OTHER)
    result = place.in_step(place.push("--part-size", "1M"))
    expect(all("expect" not in request.headers for request in between.seen()), "it asked for leave")
    expect(result.seconds < 5, f"it took {result.seconds} s")


@case("F036", "a refusal to read a body is the file's failure")
def _(place):
    place.write("small", OTHER)
    place.write("more", NEW)
    place.faults(place.fault("PutObject", failing(417, "ExpectationFailed"), "small"))
    result = place.push()
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect("417" in result.said("small"), result.said("small"))
    equal((place.get("small"), place.get("more")), (None, NEW), "the objects")


@case("F152 F156", "a key that may not be read is one item's failure, and nothing is deleted")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", failing(403, "AccessDenied"), "victim"))
    skips(place, place.pull("--delete"), tree, "403 AccessDenied", "permissions")
    equal(len(place.requests("GetObject", "victim")), 1, "requests of the victim")
    recovers(place, tree)


@case("F156", "a bucket that may not be listed ends the run with 4, and deletes nothing")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("ListObjectsV2", failing(403, "AccessDenied")))
    stops(place, place.pull("--delete"), 4, "AccessDenied", "permissions")
    recovers(place, tree)


@case("F156", "a deletion that is not permitted is that object's failure")
def _(place):
    for name in ("a", "b", "c"):
        place.write(name, OTHER)
    place.in_step(place.push())
    os.remove(place.path("a"))
    os.remove(place.path("b"))
    place.faults(place.fault("DeleteMultipleObjects", failing(403, "AccessDenied")))
    result = place.push("--delete")
    equal((result.status, result.count("failed"), result.count("deleted")), (1, 2, 0), str(result))
    equal(place.get("a"), OTHER, "the object")
    place.faults()
    equal(place.in_step(place.push("--delete")).count("deleted"), 2, "deleted later")


@case("F160", "a blocked account ends the run with 4")
def _(place):
    tree = pulled(place)
    for operation in ("ListObjectsV2", "GetObject"):
        place.faults(place.fault(operation, failing(403, "UserDisable")))
        stops(place, place.pull("--delete"), 4, "UserDisable", "unpaid bill")
    recovers(place, tree)


@case("F160", "a bucket whose requester has to pay, or whose traffic is used up, deletes nothing")
def _(place):
    tree = pulled(place)
    for code in ("AccessDenied", "DownloadTrafficExceeded"):
        refusal = {"fail": {"status": 403, "code": code, "message": "who pays for this?"}}
        place.faults(place.fault("ListObjectsV2", refusal))
        stops(place, place.pull("--delete"), 4, code, "who pays for this?")
        place.faults(place.fault("GetObject", refusal, "victim"))
        skips(place, place.pull("--delete"), tree, code, "who pays for this?")
    recovers(place, tree)
