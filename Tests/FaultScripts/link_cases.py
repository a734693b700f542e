"""Rows F184, F201 and F202: link objects, markers without their slash, tags that prove nothing."""

import os

import wire
from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER
from stage import ramp

MIB = 1 << 20
# No tool uses parts of this size, so that nobody can compute the tag of the whole.
ODD_PART = 5 * MIB + 1


def link(place, name, target):
    """A link object to a key of the bucket, however it is outside of the prefix."""
    place.put(name, query={"symlink": ""}, headers={
        "x-oss-symlink-target": target.replace("/", "%2F")})


def put_outside(place, content):
    """An object of the bucket that is beside the mirrored prefix; its key."""
    key = f"{place.prefix}-private/salaries"
    equal(place.server.call("PUT", key, body=content)[0], 200, "putting the secret")
    return key


@case("F184", "a link that leads out of the prefix is named, and its target neither read nor sent")
def _(place):
    secret = put_outside(place, b"the secret" * 50)
    place.put("kept", OLD)
    place.put("gone", OTHER)
    place.in_step(place.pull())
    link(place, "x", secret)
    link(place, "chain", f"{place.prefix}/x")
    link(place, "state", f"{place.prefix}/.osssync/config")
    place.delete("gone")
    place.server.forget_requests()
    for command in (place.pull, place.pull, place.push):
        result = command("--delete")
        # What only the bucket has is nothing to a push.
        equal((result.status, result.count("failed")), (0 if command == place.push else 1, 0),
              str(result))
        for name in ("x", "chain", "state"):
            said = command == place.push or "not followed" in result.said(name)
            expect(said, f"nothing was said of '{name}'")
        # What it cannot read says nothing of the others.
        equal(place.tree(), {"kept": OLD}, "the tree")
    equal(place.requests("GetObject"), [], "downloads")
    read = [request["key"] for request in place.server.requests()
            if request["operation"] == "HeadObject"]
    expect(secret not in read, f"the target was asked for: {read}")
    # Named and left out, it does not keep a run from being in step.
    place.in_step(place.pull("--exclude", "/x", "--exclude", "/chain", "--exclude", "/state"))


@case("F184", "a file that came through a link does not become an object when the link goes")
def _(place):
    place.put("target", NEW)
    link(place, "x", f"{place.prefix}/target")
    place.in_step(place.pull())
    equal(place.tree(), {"target": NEW, "x": NEW}, "the tree")
    place.delete("x")
    for options in ([], ["--delete"], ["--checksum"]):
        result = place.push(*options)
        equal((result.status, result.count("transferred")), (1, 0), str(result))
        expect("was a link" in result.said("x"), result.said("x"))
        equal(place.get("x"), None, "the object")
    result = place.in_step(place.pull("--delete"))
    equal((result.count("deleted"), place.tree()), (1, {"target": NEW}), "after a pull that deletes")


@case("F184", "an object that turns into a link during the run is not followed")
def _(place):
    secret = put_outside(place, ramp(9 * MIB, 5))
    for size in (300, 9 * MIB):
        place.put("x", ramp(size))
        between = place.wire()

        def turn(request, forward):
            link(place, "x", secret)
            return None
        between.on("GetObject", turn, "x")
        result = place.pull("--part-size", "1M")
        equal((result.status, result.count("failed")), (1, 1), str(result))
        expect("became a link" in result.said("x"), result.said("x"))
        equal(place.tree(), {}, "the tree")
        place.endpoint = place.server.url
        result = place.pull()
        expect("not followed" in result.said("x"), result.said("x"))
        equal(place.tree(), {}, "the tree after another pull")


@case("F184", "thousands of links cost a request each and one for each target")
def _(place):
    place.put("target", NEW)
    for index in range(2_000):
        link(place, f"l{index:04}", f"{place.prefix}/target" if index % 2 else "elsewhere/x")
    place.most_requests = 10_000
    result = place.pull()
    # With equal content most of them are copies on the disk.
    made = result.count("transferred") + result.count("renamed")
    equal((result.status, made, result.count("skipped")), (1, 1_001, 1_000), str(result))
    place.server.forget_requests()
    result = place.pull()
    equal((result.status, result.count("transferred")), (1, 0), str(result))
    asked = [request["operation"] for request in place.server.requests()]
    equal(asked.count("GetSymlink"), 2_000, "questions for links")
    # One for each page of the listing.
    expect(asked.count("HeadObject") <= 3, f"{asked.count('HeadObject')} questions for the target")


@case("F201", "a store that drops the slash of a marker is known by it, and directories stay so")
def _(place):
    place.scheme = "s3"
    between = place.wire()

    def shorten(request, forward):
        if not request.key.endswith("/"):
            return None
        answer = forward()
        name = request.key[:-1]
        place.delete(name + "/")
        place.put(name, headers={"Content-Type": "application/x-directory"})
        return [answer.bytes(), wire.KEEP]
    between.on("PutObject", shorten)
    place.write("file", NEW)
    place.write("empty-file", b"")
    os.makedirs(place.path("empty"))
    os.makedirs(place.path("a/b.c"))
    equal(place.in_step(place.push()).count("transferred"), 4, "sent")
    for command in (place.push, place.pull, lambda *options: place.run("sync", *options)):
        result = place.in_step(command("--delete"))
        equal((result.count("transferred"), result.count("deleted")), (0, 0), str(result))
    place.directory += "-elsewhere"
    for expected in (4, 0):
        result = place.in_step(place.pull())
        equal(result.count("transferred"), expected, str(result))
    expect(os.path.isdir(place.path("empty")) and os.path.isdir(place.path("a/b.c")),
           "the directories elsewhere")
    equal(place.tree(), {"file": NEW, "empty-file": b""}, "the tree elsewhere")


def put_in_parts(place, name, content):
    upload = place.server.call("POST", f"{place.prefix}/{name}", {"uploads": ""})[2].decode()
    identity = upload.split("<UploadId>")[1].split("<")[0]
    parts = ""
    for number, start in enumerate(range(0, len(content), ODD_PART), 1):
        _, headers, _ = place.server.call(
            "PUT", f"{place.prefix}/{name}", {"partNumber": str(number), "uploadId": identity},
            content[start:start + ODD_PART])
        parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{headers['ETag']}</ETag></Part>"
    place.put(name, f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode(),
              query={"uploadId": identity}, method="POST")


@case("F202", "a copy of objects whose tags prove nothing is recorded after fetching them once")
def _(place):
    place.scheme = "s3"
    same, other = ramp(11 * MIB), ramp(11 * MIB, 9)
    put_in_parts(place, "same", same)
    put_in_parts(place, "other", same)
    for command in (place.push, place.pull, lambda *options: place.run("sync", *options)):
        place.write("same", same)
        place.write("other", other)
        result = command("--part-size", "1M")
        equal((result.status, result.count("adopted"), result.count("conflicts")), (1, 1, 1),
              str(result))
        equal(result.count("bytes"), 22 * MIB, "each was fetched once")
        found = place.tree()
        equal(found.pop("same"), same, "the equal file")
        contents = sorted(found.values(), key=other.__eq__)
        equal(contents, [other] if command == place.push else [same, other], "the other file")
        expect(not os.listdir(place.path(".osssync/partial")), "partial files are left")
        again = command("--part-size", "1M")
        if command == place.push:
            equal((again.count("bytes"), again.count("conflicts")), (0, 1), f"again: {again}")
        place.directory += "-next"


@case("F202", "a comparison that is cut off goes on where it stopped")
def _(place):
    place.scheme = "s3"
    content = ramp(11 * MIB)
    put_in_parts(place, "same", content)
    place.write("same", content)
    place.faults(place.fault("GetObject", {"fail": {"status": 403, "code": "AccessDenied"}}, "same",
                             rangeStart=10 * MIB))
    cut = place.push("--part-size", "1M")
    equal((cut.status, cut.count("adopted")), (1, 0), str(cut))
    place.faults()
    result = place.in_step(place.push("--part-size", "1M"))
    equal((result.count("adopted"), result.count("conflicts")), (1, 0), str(result))
    # The refusal ends the other three streams with what they have of their parts.
    expect(result.count("bytes") <= 4 * MIB, f"fetched again: {result.count('bytes')} bytes")
