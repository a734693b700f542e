"""Rows F007, F008, F012 to F019, F024, F051 and F052: answers that are not what was asked for."""

import gzip

import wire
from case_table import case, equal, expect
from scenes import FRESH, NEW, OLD, ends_in_step, pulled, recovers, skips
from stage import ramp

MIB = 1 << 20


def once_and_always(place, effect, *words, attempts):
    """A wrong answer is made up for if it comes once, and ends in a skipped item if it stays."""
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", effect, key="victim")
    result = place.pull("--delete")
    skips(place, result, tree, *words)
    gets = between.seen("GetObject", "victim")
    equal(len(gets), attempts, "requests of the victim")
    between.clear()
    between.on("GetObject", effect, key="victim", first=1)
    recovers(place, tree)
    return gets


def with_length(value, extra=b""):
    def change(answer):
        answer.set("Content-Length", value)
        answer.body += extra
    return wire.changed(change, wire.CLOSE)


@case("F007", "a body longer than the range that was asked for is refused at its head")
def _(place):
    once_and_always(place, with_length(str(len(NEW) + 10), b"0123456789"),
                    "the server announced 5010 bytes where 5000 were asked for", attempts=3)


@case("F007", "a body without a length that goes on too long is refused, and nothing of it stored")
def _(place):
    def longer(answer):
        answer.set("Content-Length", None).set("Connection", "close")
        return [answer.head() + answer.body + b"surplus" * 1000, wire.CLOSE]
    once_and_always(place, wire.raw(longer), "the server sent more than was asked for", attempts=2)


@case("F007", "bytes after the announced length belong to no answer")
def _(place):
    tree = pulled(place)
    between = place.wire()
    surplus = b"HTTP/1.1 200 OK\r\n\r\n" * 9
    between.on("GetObject", wire.raw(lambda answer: [answer.bytes() + surplus, wire.CLOSE]))
    ends_in_step(place, place.pull("--delete", "--jobs", "1"), tree)


@case("F008", "two different lengths are refused")
def _(place):
    def twice(answer):
        return [answer.head("Content-Length: 4999") + answer.body, wire.CLOSE]
    once_and_always(place, wire.raw(twice), "two different lengths", attempts=2)


@case("F008", "a negative length is refused")
def _(place):
    once_and_always(place, with_length("-5000"), "malformed", attempts=2)


@case("F008", "a length of twenty digits is refused")
def _(place):
    once_and_always(place, with_length("99999999999999999999"), "failed", attempts=2)


@case("F012", "the whole object in answer to its only range is that range")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"ignoreRange": True}))
    ends_in_step(place, place.pull("--delete"), tree)


@case("F012", "the whole object in answer to one range of several is refused after two tries")
def _(place):
    place.put("big", ramp(6 * MIB))
    place.faults(place.fault("GetObject", {"ignoreRange": True}, "big"))
    result = place.pull("--part-size", "4M", "--jobs", "1")
    equal(result.status, 1, f"exit of {result}")
    expect("ignored the requested range" in result.said("big"), result.said("big"))
    equal(place.tree(), {}, "the tree")
    # The other range may have been asked for between the two tries of the first that failed.
    asked = [request["range"] for request in place.requests("GetObject", "big")]
    equal(max(asked.count(part) for part in asked), 2, f"requests for one range of {asked}")
    place.faults()
    # Little more than the head of each: nobody reads gigabytes to throw them away.
    between = place.wire()
    sent = []

    def whole(request, forward):
        request.headers.pop("range", None)
        answer = forward()
        answer.set("Content-Length", str(1 << 30))
        yield answer.head()
        for _ in range(1 << 14):
            yield answer.body[:1 << 16]
            sent.append(1 << 16)
    between.on("GetObject", whole, "big")
    result = place.pull("--part-size", "4M", "--jobs", "1")
    equal(result.status, 1, f"exit of {result}")
    asked = len(between.seen("GetObject", "big"))
    expect(sum(sent) < asked * (6 << 20), f"{sum(sent)} bytes came in {asked} answers of 1 GiB")
    equal(result.count("bytes"), 0, f"bytes of {result}")
    place.endpoint = place.server.url
    place.in_step(place.pull("--part-size", "4M"))
    equal(place.tree(), {"big": ramp(6 * MIB)}, "the tree")


RANGES = {"another start": "bytes 1-5000/5000", "another end": "bytes 0-4998/5000",
          "no numbers": "bytes */5000", "another unit": "lines 0-4999/5000",
          "a hostile number": "bytes 0-9223372036854775807/9223372036854775807",
          "other digits": "bytes 0-\u00b2\u00b9/5000", "nothing": ""}


@case("F013", "a part whose range is not the one that was asked for is refused")
def _(place):
    tree = pulled(place)
    between = place.wire()
    for name, value in RANGES.items():
        between.clear()
        between.requests.clear()
        between.on("GetObject", wire.changed(lambda answer, value=value:
                                             answer.set("Content-Range", value)), key="victim")
        result = place.pull()
        equal(result.status, 1, f"exit with {name}: {result}")
        expect("range" in result.said("victim") or "which" in result.said("victim"),
               f"{name}: {result.said('victim')}")
        equal(place.tree()["victim"], OLD, f"the victim with {name}")
        equal(len(between.seen("GetObject", "victim")), 3, f"requests with {name}")
    between.clear()
    recovers(place, tree)


@case("F013", "a part that does not say which range it is, is refused")
def _(place):
    once_and_always(place, wire.changed(lambda answer: answer.set("Content-Range", None)),
                    "without saying which", attempts=3)


@case("F013", "a part in the form of several ranges is refused")
def _(place):
    def several(answer):
        answer.set("Content-Range", None).set("Content-Type", "multipart/byteranges; boundary=b")
        head = b"--b\r\nContent-Range: bytes 0-4999/5000\r\n\r\n"
        answer.body = head + answer.body + b"\r\n--b--"
        answer.set("Content-Length", str(len(answer.body)))
    once_and_always(place, wire.changed(several), "without saying which", attempts=3)


@case("F014", "a part of another version starts the object over, three times at most")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", wire.changed(lambda answer: answer.set("ETag", '"another"')), "victim")
    skips(place, place.pull("--delete"), tree, "was replaced 4 times")
    equal(len(between.seen("GetObject", "victim")), 4, "requests of the victim")
    between.clear()
    between.on("GetObject", wire.changed(lambda answer: answer.set("ETag", '"another"')), "victim",
               first=1)
    recovers(place, tree)


@case("F014", "a part without an ETag is taken if its checksum is right")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", wire.changed(lambda answer: answer.set("ETag", None)))
    ends_in_step(place, place.pull("--delete"), tree)


@case("F015 F143", "an object that is replaced in the middle ends as one version")
def _(place):
    place.put("big", ramp(9 * MIB, 1))
    place.faults(place.fault("GetObject", {"replaceObject": {"at": MIB}}, "big",
                             rangeStart=4 * MIB, first=1),
                 place.fault("GetObject", {"cut": {"at": 2 * MIB, "how": "fin"}}, "big",
                             rangeStart=4 * MIB, first=1))
    place.in_step(place.pull("--part-size", "4M", "--jobs", "2"))
    equal(place.tree()["big"], place.get("big"), "the file, and the object of now")


@case("F015", "an object that is replaced each time is given up and the old file stays")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"replaceObject": {"at": 0}}, "victim"))
    skips(place, place.pull("--delete"), tree, "was replaced 4 times", "local file is unchanged")
    equal(len(place.requests("GetObject", "victim")), 4, "requests of the victim")
    tree["victim"] = place.get("victim")
    recovers(place, tree)


@case("F016", "a range that cannot be satisfied starts the object over")
def _(place):
    place.put("big", ramp(9 * MIB))
    place.faults(place.fault("GetObject", {"fail": {"status": 403, "code": "AccessDenied"}}, "big",
                             rangeStart=8 * MIB))
    equal(place.pull("--part-size", "4M").status, 1, "exit of the interrupted run")
    place.faults(place.fault("GetObject", {"fail": {"status": 416, "code": "InvalidRange"}}, "big",
                             first=1))
    place.in_step(place.pull("--part-size", "4M"))
    equal(place.tree()["big"], ramp(9 * MIB), "the file")


@case("F016", "a checkpoint of an object that shrank is of no use")
def _(place):
    place.put("big", ramp(9 * MIB))
    place.faults(place.fault("GetObject", {"fail": {"status": 403, "code": "AccessDenied"}}, "big",
                             rangeStart=8 * MIB))
    equal(place.pull("--part-size", "4M").status, 1, "exit of the interrupted run")
    place.faults()
    place.put("big", ramp(5 * MIB, 7))
    result = place.in_step(place.pull("--part-size", "4M"))
    equal(result.count("bytes_resumed"), 0, "bytes resumed")
    equal(place.tree()["big"], ramp(5 * MIB, 7), "the file")


@case("F017", "an unasked 304 is asked again past all caches, and then reported")
def _(place):
    gets = once_and_always(place, wire.answering(304), "304", attempts=2)
    equal([request.headers.get("cache-control") for request in gets], [None, "no-cache"],
          "what the requests said to caches")


@case("F018", "a success without a body is no object")
def _(place):
    once_and_always(place, wire.answering(204, length=False), "status 204", attempts=3)


@case("F018", "an answer that was accepted but not given is no object")
def _(place):
    once_and_always(place, wire.answering(202), "status 202", attempts=3)


@case("F019", "content that a proxy has compressed is refused")
def _(place):
    def compress(answer):
        answer.body = gzip.compress(answer.body)
        answer.set("Content-Encoding", "gzip").set("Content-Length", None).set("ETag", None)
        answer.set("Content-Length", str(len(answer.body)))
    once_and_always(place, wire.changed(compress), "bytes", attempts=3)


@case("F019", "an object that is stored compressed is stored so")
def _(place):
    content = gzip.compress(ramp(9_000), mtime=0)
    place.put("packed", content, headers={"Content-Encoding": "gzip"})
    place.in_step(place.pull())
    equal(place.tree(), {"packed": content}, "the tree")


@case("F024", "an object that is an error document is data")
def _(place):
    content = b'<?xml version="1.0"?><Error><Code>InternalError</Code><Message>no</Message></Error>'
    place.put("victim", content)
    place.in_step(place.pull())
    equal(place.tree(), {"victim": content}, "the tree")


@case("F051", "content whose checksum is wrong is fetched once more and then given up")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"flip": 2000}, "victim"))
    skips(place, place.pull("--delete"), tree, "CRC-64", "twice", "local file is unchanged")
    equal(len(place.requests("GetObject", "victim")), 2, "requests of the victim")
    recovers(place, tree)


@case("F052", "content that was damaged once is right the second time")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"flip": 2000}, "victim", first=1))
    result = place.pull("--delete")
    ends_in_step(place, result, tree)
    equal(result.count("bytes"), 2 * len(NEW) + len(FRESH), "bytes, the wrong ones counted")
