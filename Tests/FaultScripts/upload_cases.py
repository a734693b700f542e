"""Rows F041 to F050, F053, F158, F159, F161 to F163, F204 and F214: uploads that do not go as asked."""

import os
import re

import wire
from case_table import case, equal, expect
from machine import until
from scenes import NEW, OLD, OTHER
from shards import holding
from stage import BUCKET, ramp

MIB = 1 << 20
SIZE = 5 * MIB
CONTENT = ramp(SIZE, 5)
PARTS = ["--part-size", "1M"]


def uploaded(place, result, content=CONTENT, key="big"):
    """The object is whole, nothing is left open, and another push moves nothing."""
    place.in_step(result)
    equal(place.get(key), content, "the object")
    equal(place.uploads(), 0, "uploads left open")
    again = place.in_step(place.push(*PARTS))
    equal((again.count("transferred"), again.count("bytes")), (0, 0), f"the next push: {again}")


def parts_sent(place, key="big"):
    return [request["part"] for request in place.requests("UploadPart", key)
            if request["status"] == 200]


@case("F041", "an initiation whose answer is lost leaves no second upload")
def _(place):
    place.write("big", CONTENT)
    for when in ("before", "after"):
        place.faults(place.fault("InitiateMultipartUpload", {"close": {"when": when, "how": "rst"}},
                                 "big", first=2))
        uploaded(place, place.push(*PARTS))
        place.delete("big")
        place.write("big", CONTENT)
    place.faults(place.fault("InitiateMultipartUpload", {"close": {"when": "after", "how": "rst"}},
                             "big"))
    result = place.push(*PARTS)
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect(place.uploads() <= 1, "more than one upload is open")
    place.faults()
    uploaded(place, place.push(*PARTS))


@case("F042", "a part whose answer is lost is sent again under its number")
def _(place):
    place.write("big", CONTENT)
    place.faults(place.fault("UploadPart", {"close": {"when": "after", "how": "rst"}}, "big",
                             part=3, first=2))
    uploaded(place, place.push(*PARTS))
    equal(len(place.requests("UploadPart", "big")), 7, "parts that were sent")


@case("F043", "a Complete whose answer is lost is settled by a look, not by sending again")
def _(place):
    place.write("big", CONTENT)
    place.faults(place.fault("CompleteMultipartUpload", {"close": {"when": "after", "how": "rst"}},
                             "big"))
    uploaded(place, place.push(*PARTS))
    equal(len(place.requests("UploadPart", "big")), 5, "parts that were sent")
    equal(len(place.requests("CompleteMultipartUpload", "big")), 1, "Completes")


@case("F043", "a Complete that never came is made again")
def _(place):
    place.write("big", CONTENT)
    place.faults(place.fault("CompleteMultipartUpload", {"close": {"when": "before", "how": "rst"}},
                             "big", first=2))
    uploaded(place, place.push(*PARTS))
    equal(len(place.requests("UploadPart", "big")), 5, "parts that were sent")


@case("F043", "an object of somebody else's is not taken for the lost answer's")
def _(place):
    place.write("big", CONTENT)
    between = place.wire()

    def other_writer(request, forward):
        forward()
        place.put("big", ramp(SIZE, 6))
        return [wire.RESET]
    between.on("CompleteMultipartUpload", other_writer, first=1)
    result = place.push(*PARTS)
    equal(result.status, 1, f"exit of {result}")
    equal(place.get("big"), ramp(SIZE, 6), "the other writer's object")
    equal(place.uploads(), 0, "uploads left open")


@case("F044", "a Complete that arrives twice makes one object and one success")
def _(place):
    place.write("big", CONTENT)
    between = place.wire()

    def twice(request, forward):
        forward()
        return [forward().bytes(), wire.KEEP]
    between.on("CompleteMultipartUpload", twice)
    result = place.push(*PARTS)
    uploaded(place, result)
    equal(result.count("transferred"), 1, "transferred")


@case("F046", "an upload that somebody aborted begins again from part 1, once")
def _(place):
    place.write("big", CONTENT)
    place.faults(place.fault("UploadPart", {"abortUpload": True}, "big", part=4, first=1))
    uploaded(place, place.push(*PARTS))
    place.write("big", ramp(SIZE, 8))
    place.faults(place.fault("UploadPart", {"abortUpload": True}, "big", part=4))
    result = place.push(*PARTS)
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect("dropped the unfinished upload" in result.said("big"), result.said("big"))
    equal(place.get("big"), CONTENT, "the object, which is the old one")
    place.faults()
    uploaded(place, place.push(*PARTS), ramp(SIZE, 8))


@case("F047", "parts that the service calls too small are one item's failure, with its words")
def _(place):
    place.write("big", CONTENT)
    place.write("small", OTHER)
    place.faults(place.fault("CompleteMultipartUpload",
                             {"fail": {"status": 400, "code": "EntityTooSmall",
                                       "message": "part 3 has 1048576 of at least 5242880"}},
                             "big"))
    result = place.push(*PARTS)
    equal((result.status, result.count("failed"), result.count("transferred")), (1, 1, 1),
          f"exit, failed and transferred of {result}")
    for words in ("400 EntityTooSmall", "part 3 has 1048576 of at least 5242880"):
        expect(words in result.said("big"), f"'{words}' is not in {result.said('big')}")
    expect(result.count("requests") < 60, f"requests of {result}")
    equal(place.get("small"), OTHER, "the other object")
    place.faults()
    uploaded(place, place.push(*PARTS))


@case("F048", "parts that are refused at Complete are compared, and only wrong ones sent again")
def _(place):
    place.write("big", CONTENT)
    place.faults(place.fault("CompleteMultipartUpload",
                             {"fail": {"status": 400, "code": "InvalidPart"}}, "big", first=1))
    uploaded(place, place.push(*PARTS))
    equal(len(place.requests("ListParts", "big")), 1, "listings of parts")
    equal(len(place.requests("UploadPart", "big")), 5, "parts that were sent")
    # A part that the service has not as it said: that one is sent again, and nothing else.
    place.write("big", ramp(SIZE, 12))
    between = place.wire()

    def damage(request, forward):
        answer = forward()
        status, _, text = place.server.call("PUT", f"{place.prefix}/big", dict(request.query),
                                            b"x" * len(request.body))
        equal(status, 200, f"damaging a part: {text}")
        return [answer.bytes(), wire.KEEP]
    between.on("UploadPart", lambda request, forward: damage(request, forward)
               if request.query["partNumber"] == "3" and not between.seen("ListParts") else None)
    uploaded(place, place.push(*PARTS), ramp(SIZE, 12))
    sent = sorted(int(request.query["partNumber"]) for request in between.seen("UploadPart"))
    equal(sent, [1, 2, 3, 3, 4, 5], "parts that were sent")
    place.endpoint = place.server.url
    place.write("big", ramp(SIZE, 9))
    place.faults(place.fault("CompleteMultipartUpload",
                             {"fail": {"status": 400, "code": "InvalidPart"}}, "big"))
    result = place.push(*PARTS)
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    equal(place.uploads(), 0, "uploads left open")
    place.faults()
    uploaded(place, place.push(*PARTS), ramp(SIZE, 9))


def interrupted(place):
    """An upload whose fourth part failed for good once those before it were stored.

    The failure cancels what is under way, and nobody knows in which order parts are sent.
    """
    place.write("big", CONTENT)
    refused = place.fault("UploadPart", {"fail": {"status": 403, "code": "AccessDenied"}}, "big",
                          part=4)
    running = holding(place, [{"match": refused["match"],
                               "effects": [{"hold": True}, refused["effect"]]}],
                      "push", *PARTS)
    until(lambda: {1, 2, 3} <= set(parts_sent(place)), "the parts before the fourth")
    place.faults(refused)
    equal(running.result().status, 1, "exit of the interrupted push")
    place.faults()
    place.server.forget_requests()


def without_part(number):
    def change(answer):
        text = answer.body.decode()
        parts = re.findall(r"<Part>.*?</Part>", text, re.S)
        for part in parts:
            if f"<PartNumber>{number}</PartNumber>" in part:
                text = text.replace(part, "")
        answer.body = text.encode()
        answer.set("Content-Length", str(len(answer.body)))
    return change


def replacing(pattern, replacement):
    def change(answer):
        answer.body = re.sub(pattern, replacement, answer.body.decode(), flags=re.S).encode()
        answer.set("Content-Length", str(len(answer.body)))
    return change


PART_2 = r"(<Part>\s*<PartNumber>2</PartNumber>.*?)"
LISTINGS = {"a missing part": without_part(2),
            "another size": replacing(PART_2 + r"<Size>\d+</Size>", r"\1<Size>999</Size>"),
            "another tag": replacing(PART_2 + r"<ETag>.*?</ETag>", r'\1<ETag>"0123"</ETag>'),
            "another checksum": replacing(PART_2 + r"<HashCrc64ecma>\d+</HashCrc64ecma>",
                                          r"\1<HashCrc64ecma>77</HashCrc64ecma>")}


@case("F049", "a listing of parts that disagrees with what is known costs the doubtful part")
def _(place):
    for name, change in LISTINGS.items():
        interrupted(place)
        between = place.wire()
        between.on("ListParts", wire.changed(change))
        place.in_step(place.push(*PARTS))
        equal(place.get("big"), CONTENT, f"the object after {name}")
        expect(2 in parts_sent(place), f"part 2 was not sent again after {name}")
        expect(1 not in parts_sent(place), f"part 1 was sent again after {name}")
        equal(place.uploads(), 0, "uploads left open")
        place.endpoint = place.server.url
        place.delete("big")
        place.in_step(place.pull("--delete", "--allow-empty", "--max-delete", "100%"))


@case("F049", "a part that nobody has recorded counts by its content")
def _(place):
    interrupted(place)
    extra = r"\1<Part><PartNumber>9</PartNumber><ETag>X</ETag><Size>5</Size>" \
            r"<LastModified>2026-01-01T00:00:00.000Z</LastModified></Part></ListPartsResult>"
    between = place.wire()
    between.on("ListParts", wire.changed(replacing(r"()</ListPartsResult>", extra)))
    uploaded(place, place.push(*PARTS))


@case("F049", "a listing of parts that is cut off is no listing")
def _(place):
    interrupted(place)
    place.faults(place.fault("ListParts", {"truncate": 300}, "big", first=1))
    uploaded(place, place.push(*PARTS))
    equal(len(place.requests("ListParts", "big")), 2, "listings of parts")


@case("F162", "parts are listed page by page")
def _(place):
    interrupted(place)
    between = place.wire()

    def first_page(answer):
        # The fifth may have been sent beside the fourth.
        for number in (2, 3, 5):
            without_part(number)(answer)
        replacing("<IsTruncated>false", "<IsTruncated>true")(answer)
        replacing(r"<NextPartNumberMarker>.*?</NextPartNumberMarker>", "")(answer)
        replacing("</ListPartsResult>",
                  "<NextPartNumberMarker>1</NextPartNumberMarker></ListPartsResult>")(answer)
    between.on("ListParts", wire.changed(first_page), first=1)
    uploaded(place, place.push(*PARTS))
    equal([part for part in parts_sent(place) if part < 4], [], "known parts that were sent")
    equal([request.query.get("part-number-marker") for request in between.seen("ListParts")],
          [None, "1"], "where the pages began")


@case("F162", "a listing of parts that goes in circles ends")
def _(place):
    interrupted(place)
    between = place.wire()

    def circle(answer):
        replacing("<IsTruncated>false", "<IsTruncated>true")(answer)
        replacing(r"<NextPartNumberMarker>.*?</NextPartNumberMarker>", "")(answer)
        replacing("</ListPartsResult>",
                  "<NextPartNumberMarker>3</NextPartNumberMarker></ListPartsResult>")(answer)
    between.on("ListParts", wire.changed(circle))
    result = place.push(*PARTS)
    expect(len(between.seen("ListParts")) <= 6, "it went on and on")
    expect(result.status in (0, 1), f"exit of {result}")
    between.clear()
    uploaded(place, place.push(*PARTS))


@case("F050", "a part whose checksum comes back wrong is sent three times and given up")
def _(place):
    place.write("big", CONTENT)
    wrong = {"headers": {"set": {"x-oss-hash-crc64ecma": "12345"}}}
    place.faults(place.fault("UploadPart", wrong, "big", part=2, first=2))
    uploaded(place, place.push(*PARTS))
    place.write("big", ramp(SIZE, 10))
    place.faults(place.fault("UploadPart", wrong, "big", part=2))
    place.server.forget_requests()
    result = place.push(*PARTS)
    equal(parts_sent(place).count(2), 3, "how often the part was sent")
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect("CRC-64" in result.said("big"), result.said("big"))
    equal(place.get("big"), CONTENT, "the object, which is the old one")
    place.faults()
    uploaded(place, place.push(*PARTS), ramp(SIZE, 10))


@case("F050", "an object whose checksum comes back wrong is no success")
def _(place):
    place.write("big", CONTENT)
    place.write("small", OTHER)
    wrong = {"headers": {"set": {"x-oss-hash-crc64ecma": "12345"}}}
    place.faults(place.fault("CompleteMultipartUpload", wrong, "big"),
                 place.fault("PutObject", wrong, "small"))
    result = place.push(*PARTS)
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect("CRC-64" in result.said("big"), result.said("big"))
    # The small one was looked at, and is what was sent: only the answer was wrong.
    equal(place.get("small"), OTHER, "the small object")
    place.faults()
    # The content is right all the same, and the next run finds that by comparing.
    again = place.in_step(place.push(*PARTS))
    equal((again.count("bytes"), place.get("big")), (0, CONTENT), f"the objects after {again}")


@case("F050", "a file that is damaged on its way is refused, and the old object stays")
def _(place):
    place.write("small", OLD)
    place.in_step(place.push())
    place.write("small", OTHER)
    between = place.wire()

    def damage(request, forward):
        request.body = bytes([request.body[0] ^ 1]) + request.body[1:]
        return [forward().bytes(), wire.KEEP]
    between.on("PutObject", damage, "small")
    result = place.push()
    equal((result.status, result.count("failed"), result.count("transferred")), (1, 1, 0),
          f"exit, failed and transferred of {result}")
    expect("InvalidDigest" in result.said("small"), result.said("small"))
    equal((place.get("small"), len(between.seen("PutObject"))), (OLD, 2), "the object, and PUTs")
    between.clear()
    between.on("PutObject", damage, "small", first=1)
    place.in_step(place.push())
    equal(place.get("small"), OTHER, "the object")


@case("F050", "a server that stores damaged bytes is caught, and its object replaced")
def _(place):
    place.write("small", OTHER)
    between = place.wire()

    def damage(request, forward):
        # As if the service itself had damaged it: a digest of the wrong bytes, not signed here.
        request.body = bytes([request.body[0] ^ 1]) + request.body[1:]
        status, headers, body = place.server.call(
            "PUT", f"{place.prefix}/small", body=request.body,
            headers={name: value for name, value in request.headers.items()
                     if name.startswith("x-oss-meta-")})
        answer = wire.plain(status, body, [(name, headers[name]) for name in headers
                                           if name.lower() in ("etag", "x-oss-hash-crc64ecma")])
        return [answer.bytes(), wire.KEEP]
    between.on("PutObject", damage, "small", first=2)
    result = place.push()
    equal((result.status, place.get("small")), (0, OTHER), f"exit and object of {result}")
    place.write("small", NEW)
    between.clear()
    between.on("PutObject", damage, "small")
    result = place.push()
    equal((result.status, result.count("failed"), result.count("transferred")), (1, 1, 0),
          f"exit, failed and transferred of {result}")
    expect("CRC-64" in result.said("small"), result.said("small"))


@case("F053", "a single PUT whose answer is lost is settled by a look")
def _(place):
    place.write("small", OTHER)
    place.write("more", NEW)
    place.faults(place.fault("PutObject", {"close": {"when": "after", "how": "rst"}}))
    place.in_step(place.push())
    equal((place.get("small"), place.get("more")), (OTHER, NEW), "the objects")
    equal(len(place.requests("PutObject")), 2, "PUTs")
    # And one at the address, which could be an object's.
    equal(len(place.requests("HeadObject")), 3, "looks")


@case("F158", "an object that may not be overwritten is one item's failure")
def _(place):
    for name in ("locked", "free"):
        place.write(name, OLD)
    place.in_step(place.push())
    for name in ("locked", "free"):
        place.write(name, NEW)
    for status, code in ((403, "FileImmutable"), (409, "ObjectNotAppendable")):
        place.faults(place.fault("PutObject", {"fail": {"status": status, "code": code}}, "locked"))
        result = place.push()
        equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
        expect(code in result.said("locked"), result.said("locked"))
        equal((place.get("locked"), place.get("free")), (OLD, NEW), "the objects")


@case("F158", "an object that may not be deleted stays, and the others go")
def _(place):
    for name in ("a", "b", "locked"):
        place.write(name, OLD)
    place.in_step(place.push())
    os.remove(place.path("a"))
    os.remove(place.path("locked"))
    between = place.wire()

    def refuse(answer):
        key = f"{place.prefix}%2Flocked"
        answer.body = re.sub(rf"<Deleted>\s*<Key>{key}</Key>.*?</Deleted>",
                             f"<Error><Key>{key}</Key><Code>FileImmutable</Code></Error>",
                             answer.body.decode(), flags=re.S).encode()
        answer.set("Content-Length", str(len(answer.body)))
    between.on("DeleteMultipleObjects", wire.changed(refuse))
    result = place.push("--delete")
    equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 1), str(result))
    expect("FileImmutable" in result.said("locked"), result.said("locked"))


@case("F159", "an object that somebody makes during a push stays theirs")
def _(place):
    for scheme in ("oss", "s3"):
        place.scheme = scheme
        place.write("new", NEW)
        place.write("big", ramp(6 * MIB))
        between = place.wire()
        made = []

        def other_writer(request, forward):
            if request.key not in made:
                made.append(request.key)
                place.put(request.key, OTHER)
            return None
        between.on("PutObject", other_writer, "new")
        between.on("CompleteMultipartUpload", other_writer, "big")
        result = place.push("--part-size", "5M", "--rebind")
        equal((result.status, result.count("conflicts")), (1, 2), f"{scheme}: {result}")
        expect("another writer" in result.said("new"), result.said("new"))
        equal((place.get("new"), place.get("big")), (OTHER, OTHER), "the other writer's objects")
        equal(place.uploads(), 0, "uploads left open")
        place.endpoint = place.server.url
        place.delete("new")
        place.delete("big")


@case("F161", "uploads of others are left alone, and those of an earlier run are ended")
def _(place):
    place.put("big", method="POST", query={"uploads": ""})
    place.put("foreign", method="POST", query={"uploads": ""})
    equal(place.uploads(), 2, "uploads of somebody else")
    listed = place.start("uploads", f"oss://{BUCKET}/{place.prefix}", "--json")
    equal((listed.status, len(listed.all("upload"))), (0, 2), f"what is said of them: {listed.output}")
    interrupted(place)
    equal(place.uploads(), 3, "with that of the interrupted run")
    # The file is another one now: what was begun is of no use.
    place.write("big", ramp(SIZE, 11))
    place.in_step(place.push(*PARTS))
    equal(place.get("big"), ramp(SIZE, 11), "the object")
    equal(place.uploads(), 2, "uploads left open")


@case("F163", "an upload whose tag a proxy has changed is found equal by the next run")
def _(place):
    place.write("small", OTHER)
    place.write("big", CONTENT)
    between = place.wire()
    for operation in ("PutObject", "CompleteMultipartUpload"):
        between.on(operation, wire.changed(lambda answer: answer.set("ETag", 'W/"proxy"')))
    place.in_step(place.push(*PARTS))
    between.clear()
    again = place.in_step(place.push(*PARTS))
    equal((again.count("transferred"), again.count("bytes")), (0, 0), f"the next push: {again}")
    equal((place.get("small"), place.get("big")), (OTHER, CONTENT), "the objects")


@case("F204", "a line that carries little before it is cut takes the parts of a file one by one")
def _(place):
    content = ramp(8 * MIB, 3)
    place.write("big", content)
    line = place.line(rate=16 * MIB, life=3 * MIB // 2)
    result = place.in_step(place.push(*PARTS))
    equal(place.get("big"), content, "the object")
    expect(line.lives >= 5, f"it was cut {line.lives} times")
    equal(result.count("failed"), 0, f"the counts of {result}")


@case("F204", "a line that carries little before it is cut takes many files one by one")
def _(place):
    tree = {f"{number:02}": ramp(MIB, number) for number in range(16)}
    for name, content in tree.items():
        place.write(name, content)
    line = place.line(rate=16 * MIB, life=3 * MIB // 2)
    place.in_step(place.push("--part-size", "2M"))
    equal({name: place.get(name) for name in tree}, tree, "the objects")
    expect(line.lives >= 10, f"it was cut {line.lives} times")


NO_MD5 = {"ETag": '"00000000000000000000000000000000"'}
LARGE_PARTS = ["--part-size", "5M", "--jobs", "1"]


def part_statuses(place, key):
    return [request["status"] for request in place.requests("UploadPart", key)]


@case("F214", "parts are proven by MD5 where the store does not compare their checksums")
def _(place):
    place.scheme = "s3"
    # A wrong checksum is refused once, and then the answers' checksums count and not the MD5.
    stores = ((None, [400]), ("believed", [200]), ("ignored", []))
    for number, (store, tried) in enumerate(stores):
        # No content twice: it would be copied in the bucket.
        key, content = f"big-{number}", ramp(11 * MIB, number)
        rule = [{"effect": {"checksums": store}}] if store else []
        place.write(key, content)
        place.faults(*rule, place.fault("UploadPart", {"headers": {"set": NO_MD5}}, key, part=2,
                                        first=9))
        result = place.push(*LARGE_PARTS)
        equal((result.status, result.count("failed")), (1, 1), f"{store}: {result}")
        if store:
            expect("the MD5 that the server computed" in result.said(key), result.said(key))
        else:
            expect("the MD5" not in result.said(key), result.said(key))
        place.faults(*rule)
        place.in_step(place.push(*LARGE_PARTS))
        equal(place.get(key), content, "the object")
        equal(place.uploads(), 0, "uploads left open")
        equal(part_statuses(place, key)[:len(tried) + 1], tried + [200], f"{store}: the first parts")


@case("F214", "a store that answers no checksum any more is asked for MD5 from then on")
def _(place):
    place.scheme = "s3"
    content = ramp(16 * MIB, 9)
    place.write("big", content)
    silent = {"headers": {"remove": ["x-amz-checksum-crc32c"]}}
    rule = {"match": {"operation": "UploadPart", "from": 3}, "effect": silent}
    damaged = place.fault("UploadPart", {"headers": {"set": NO_MD5}}, "big", part=3)
    place.faults(rule, damaged)
    result = place.push(*LARGE_PARTS)
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect("the MD5 that the server computed" in result.said("big"), result.said("big"))
    place.faults(rule)
    place.in_step(place.push(*LARGE_PARTS))
    equal(place.get("big"), content, "the object")
    equal(place.uploads(), 0, "uploads left open")


@case("F214", "a checksum that differs has the part sent again, and then fails the file alone")
def _(place):
    place.scheme = "s3"
    content = ramp(11 * MIB, 9)
    place.write("big", content)
    place.write("small", NEW)
    other = {"headers": {"set": {"x-amz-checksum-crc32c": "AAAAAQ=="}}}
    place.faults(place.fault("UploadPart", other, "big", part=2))
    result = place.push(*LARGE_PARTS)
    equal((result.status, result.count("failed")), (1, 1), f"exit and failed of {result}")
    expect("the CRC-32C that the server computed" in result.said("big"), result.said("big"))
    equal((place.get("big"), place.get("small")), (None, NEW), "the objects")
    place.faults(place.fault("UploadPart", other, "big", part=2, first=1))
    place.in_step(place.push(*LARGE_PARTS))
    equal(place.get("big"), content, "the object")
