"""Rows F140 to F151 and F153 to F155: objects that are not what the listing says."""

import sqlite3

import wire
from case_table import case, equal, expect
from listings import listing, with_field
from scenes import FRESH, NEW, OLD, OTHER, ends_in_step, pulled, recovers, skips
from stage import Server, ramp

MIB = 1 << 20


@case("F140 F142", "an object that only the listing has is counted as vanished, nothing deleted")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"deleteObject": {"at": 0}}, "other"))
    result = place.pull("--delete")
    equal((result.status, result.count("vanished"), result.count("failed")), (1, 1, 0), str(result))
    expect("1 object disappeared" in result.summary["deletions_held_back"], str(result.summary))
    expect("was deleted after it was listed" in result.said("other"), result.said("other"))
    with sqlite3.connect(place.path(".osssync/manifest.db")) as database:
        rows = database.execute("SELECT vanished, failed FROM run ORDER BY run_id").fetchall()
    equal(rows, [(0, 0), (1, 0)], "what the manifest keeps of both runs")
    del tree["other"]
    equal(place.tree(), {**tree, "gone": OTHER}, "the tree")
    recovers(place, tree)


@case("F142", "an object that vanished is no failure of a run that deletes nothing")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"deleteObject": {"at": 0}}, "other"))
    result = place.in_step(place.pull())
    equal((result.count("vanished"), result.count("failed")), (1, 0), str(result))
    # The same content in the same second would be the version that was not there before.
    place.put("other", FRESH + b"!")
    plain = place.start("pull", place.directory)
    equal(plain.status, 0, str(plain))
    expect("1 object disappeared from the remote" in plain.output, plain.output)
    del tree["other"]
    recovers(place, tree)


@case("F142", "a file whose object vanished goes only after a listing without it")
def _(place):
    tree = pulled(place)
    place.delete("other")
    place.faults(place.fault("GetObject", {"deleteObject": {"at": 0}}, "victim"))
    result = place.pull("--delete", "--max-delete", "100%")
    equal((result.status, result.count("vanished"), result.count("deleted")), (1, 1, 0),
          str(result))
    equal(place.tree()["victim"], OLD, "the file")
    place.faults()
    result = place.in_step(place.pull("--delete", "--max-delete", "100%"))
    equal((place.tree(), result.count("deleted")), ({"kept": tree["kept"]}, 2), f"after {result}")


@case("F141", "an object that is replaced after the listing comes as it is then")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"replaceObject": {"at": 0, "size": 7000}}, "victim",
                             first=1))
    result = place.pull("--delete")
    tree["victim"] = place.get("victim")
    ends_in_step(place, result, tree)
    equal(len(tree["victim"]), 7000, "its size")
    place.faults()
    equal(place.in_step(place.pull()).count("transferred"), 0, "what the next run fetched")


@case("F143", "an object that is replaced between its parts is never mixed")
def _(place):
    place.put("big", ramp(9 * MIB))
    place.in_step(place.pull("--part-size", "2M"))
    for at in (0, 1, MIB, 2 * MIB - 1):
        listed = ramp(9 * MIB, 1 + at % 97)
        place.put("big", listed)
        place.faults(place.fault("GetObject", {"replaceObject": {"at": at}}, "big",
                                 rangeStart=4 * MIB, first=1))
        place.in_step(place.pull("--part-size", "2M"))
        # The version that was listed, if all of it was on its way already, or the one of now.
        found = place.tree()["big"]
        expect(found in (listed, place.get("big")), f"a mixture after a change at {at}")
        place.faults()
        place.in_step(place.pull("--part-size", "2M"))
        equal(place.tree()["big"], place.get("big"), "the file, and the object of now")


@case("F144", "an object that was written again with the same content is taken as it is")
def _(place):
    place.write("big", ramp(3 * MIB))
    place.in_step(place.push("--part-size", "8M"))
    # The same bytes, made of parts: another ETag, the same checksum.
    upload = place.server.call("POST", f"{place.prefix}/big", {"uploads": ""})[2].decode()
    identity = upload.split("<UploadId>")[1].split("<")[0]
    parts = ""
    for number in (1, 2, 3):
        _, headers, _ = place.server.call(
            "PUT", f"{place.prefix}/big", {"partNumber": str(number), "uploadId": identity},
            ramp(3 * MIB)[(number - 1) * MIB:number * MIB])
        parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{headers['ETag']}</ETag></Part>"
    place.put("big", f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode(),
              query={"uploadId": identity}, method="POST")
    place.server.forget_requests()
    result = place.in_step(place.pull("--delete"))
    equal((result.count("adopted"), result.count("bytes")), (1, 0), str(result))
    equal(place.requests("GetObject"), [], "downloads")


@case("F145", "other content under the same tag is found out by the checksum")
def _(place):
    tree = pulled(place)
    between = place.wire()

    def other_content(answer):
        answer.body = ramp(len(answer.body), 99)
    between.on("GetObject", wire.changed(other_content), key="victim")
    skips(place, place.pull("--delete"), tree, "CRC-64", "twice")
    between.clear()
    recovers(place, tree)


TAGS = ["unquoted", '"UPPER0123456789ABCDEF0123456789AB"', '"x-3"',
        '"d41d8cd98f00b204e9800998ecf8427e"', '"with space, &amp; and more"']


def tag_all(place, tag):
    """Makes every answer say that the objects have this tag."""
    escaped = tag.replace("&", "&amp;").replace('"', "&quot;")
    between = listing(place, change=lambda page: {**page, "entries": [
        with_field(entry, "ETag", escaped) for entry in page["entries"]]})

    def tagged(request, forward):
        request.headers.pop("if-match", None)
        answer = forward()
        head = [answer.set("ETag", None).head()[:-2], b"ETag: " + tag.encode() + b"\r\n\r\n"]
        return [b"".join(head) + answer.body, wire.KEEP]
    between.on("GetObject", tagged)
    between.on("HeadObject", tagged)


@case("F146", "a weak tag names no version, and nothing is fetched or deleted by it")
def _(place):
    place.put("victim", ramp(3000, 1))
    tag_all(place, 'W/"weak"')
    result = place.pull("--delete")
    equal((result.status, result.count("failed"), place.tree()), (1, 1, {}), str(result))
    expect("weak" in str(result.items("victim", "failed")), f"no word of the tag: {result}")


@case("F146", "a tag is text that is compared, whatever its form")
def _(place):
    for number, tag in enumerate(TAGS):
        place.put("victim", ramp(3000, number))
        tag_all(place, tag)
        place.in_step(place.pull())
        equal(place.tree(), {"victim": ramp(3000, number)}, f"the tree with the tag {tag}")
        again = place.in_step(place.pull())
        equal(again.count("transferred"), 0, f"what the next run fetched with the tag {tag}")
        place.endpoint = place.server.url


@case("F146", "a tag of ten kilobytes is no tag")
def _(place):
    tree = pulled(place)
    listing(place, change=lambda page: {**page, "entries": [
        with_field(entry, "ETag", "x" * 10_000) if "victim" in entry else entry
        for entry in page["entries"]]})
    result = place.pull("--delete")
    expect(result.status in (1, 6), f"exit of {result}")
    equal((place.tree()["victim"], place.tree()["gone"]), (OLD, OTHER), "the victim and the gone")
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F147", "of a bucket with versions the latest counts, and a delete marker is a deletion")
def _(place):
    server = Server(place.server.osssync.rsplit("/", 1)[0])
    place.closers.append(server.stop)
    place.server, place.endpoint = server, server.url
    document = (b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
    status, _, text = server.call("PUT", "", {"versioning": ""}, document)
    equal(status, 200, f"switching versions on: {text}")
    tree = pulled(place)
    ends_in_step(place, place.pull("--delete"), tree)


@case("F148", "an archived object is left alone, and so is its file")
def _(place):
    tree = pulled(place)
    place.put("victim", NEW, headers={"x-oss-storage-class": "Archive"})
    result = place.pull("--delete")
    skips(place, result, tree, "archived", "restore", failed=0, skipped=1)
    equal(place.requests("GetObject", "victim"), [], "downloads of the victim")
    # The same where only the download tells.
    place.put("victim", NEW)
    place.faults(place.fault("GetObject", {"fail": {"status": 403, "code": "InvalidObjectState"}},
                             "victim"))
    skips(place, place.pull("--delete"), tree, "archived", "restored", failed=0, skipped=1)
    equal(len(place.requests("GetObject", "victim")), 1, "downloads of the victim")
    recovers(place, tree)


@case("F149", "an object whose restore is under way or has run out is left alone")
def _(place):
    tree = pulled(place)
    place.put("victim", NEW, headers={"x-oss-storage-class": "Archive"})
    place.faults(place.fault("GetObject", {"fail": {"status": 403, "code": "InvalidObjectState"}},
                             "victim"))
    listing(place, size=10, change=lambda page: {**page, "entries": [
        entry.replace("</Contents>", '<RestoreInfo>ongoing-request="true"</RestoreInfo></Contents>')
        for entry in page["entries"]]})
    skips(place, place.pull("--delete"), tree, "is still being restored", failed=0, skipped=1)
    place.endpoint = place.server.url
    listing(place, size=10, change=lambda page: {**page, "entries": [
        entry.replace("</Contents>", '<RestoreInfo>ongoing-request="false", expiry-date="Thu, 24 '
                                     'Sep 2020 12:40:33 GMT"</RestoreInfo></Contents>')
        for entry in page["entries"]]})
    skips(place, place.pull("--delete"), tree, "must be restored", failed=0, skipped=1)


@case("F150", "a link object is its target, and one without a usable target is left alone")
def _(place):
    place.put("target", NEW)
    for name, target in (("link", "target"), ("lost", "nothing"), ("loop", "loop"),
                         ("cold", "frozen")):
        place.put(name, query={"symlink": ""},
                  headers={"x-oss-symlink-target": f"{place.prefix}%2F{target}"})
    place.put("frozen", OLD, headers={"x-oss-storage-class": "ColdArchive"})
    result = place.pull("--delete")
    equal((result.status, result.count("failed")), (1, 0), f"exit and failed of {result}")
    equal(place.tree(), {"target": NEW, "link": NEW}, "the tree")
    for name in ("lost", "loop", "cold", "frozen"):
        expect(result.said(name), f"nothing was said of '{name}'")
    again = place.pull("--delete")
    equal((again.status, again.count("bytes")), (1, 0), f"the next run is the same: {again}")


@case("F151", "an object that grows while it is fetched is fetched from its first byte")
def _(place):
    def append(content, position):
        place.put("log", content, query={"append": "", "position": str(position)}, method="POST")
    append(ramp(5 * MIB), 0)
    between = place.wire()
    grown = []

    def grow(request, forward):
        if request.range_start and not grown:
            grown.append(1)
            append(b"one more line", 5 * MIB)
        return None
    between.on("GetObject", grow, "log")
    place.in_step(place.pull("--part-size", "2M", "--jobs", "1"))
    equal(place.tree(), {"log": ramp(5 * MIB) + b"one more line"}, "the tree")


@case("F153", "an object of another size than listed is fetched in the size it has")
def _(place):
    tree = pulled(place)
    for size in (4_999, 5_001, 1, 900_000):
        place.put("victim", ramp(len(NEW), size % 89))
        listing(place, size=10, change=lambda page, size=size: {**page, "entries": [
            with_field(entry, "Size", str(size)) if "victim" in entry else entry
            for entry in page["entries"]]})
        result = place.in_step(place.pull())
        equal(place.tree()["victim"], ramp(len(NEW), size % 89), f"the victim, listed with {size}")
        expect(result.count("requests") < 12, f"requests of {result}")
        place.endpoint = place.server.url
    tree["victim"] = place.get("victim")
    recovers(place, tree)


@case("F153", "an object whose sizes never agree is left alone")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", wire.changed(lambda answer: answer.set(
        "Content-Range", "bytes 0-4999/6000")), "victim")
    result = place.pull("--delete")
    equal((result.status, result.count("failed")), (1, 1), str(result))
    equal(place.tree()["victim"], OLD, "the victim")
    between.clear()
    recovers(place, tree)


@case("F154", "a checksum that is missing or no number is no checksum")
def _(place):
    for number, value in enumerate((None, "", "abc", "-1", "1e9", "99999999999999999999999")):
        place.put("victim", ramp(3000, number))
        between = place.wire()
        for operation in ("GetObject", "HeadObject"):
            between.on(operation, wire.changed(
                lambda answer, value=value: answer.set("x-oss-hash-crc64ecma", value)))
        place.in_step(place.pull())
        equal(place.tree(), {"victim": ramp(3000, number)}, f"the tree with the checksum {value!r}")
        equal(place.in_step(place.pull()).count("transferred"), 0, "what the next run fetched")
        place.endpoint = place.server.url


@case("F155", "times of objects that are missing, impossible or far away decide nothing alone")
def _(place):
    times = (None, "", "yesterday", "2999-01-01T00:00:00.000Z", "0000-00-00T00:00:00.000Z",
             "1601-01-01T00:00:00.000Z", "+999999-01-01T00:00:00Z")
    for number, value in enumerate(times):
        place.put("victim", ramp(3000, number))
        between = listing(place, change=lambda page, value=value: {**page, "entries": [
            with_field(entry, "LastModified", value) for entry in page["entries"]]})
        for operation in ("GetObject", "HeadObject"):
            between.on(operation, wire.changed(
                lambda answer, value=value: answer.set("Last-Modified", value)))
        place.in_step(place.pull())
        equal(place.tree(), {"victim": ramp(3000, number)}, f"the tree with the time {value!r}")
        equal(place.in_step(place.pull()).count("transferred"), 0, "what the next run fetched")
        place.endpoint = place.server.url
        equal(place.in_step(place.pull()).count("transferred"), 0, "fetched for the time alone")
