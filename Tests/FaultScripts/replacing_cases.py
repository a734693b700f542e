"""Rows F096, F177, F181, F194 and F203: what is written, and what it takes the place of."""

import os
import re

import wire
from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER
from stage import BUCKET, ramp

MIB = 1 << 20
BIG, BIGGER = ramp(3 * MIB, 21), ramp(3 * MIB, 22)
PARTS = ["--part-size", "1M"]
# Content of smaller files is not looked for under another name.
SEARCHED = 300_000
SCHEMES = ("oss", "s3")


def fresh(place, scheme):
    """Another prefix and another directory."""
    place.rounds = getattr(place, "rounds", 0) + 1
    place.scheme = scheme
    place.endpoint = place.server.url
    place.prefix = f"{os.path.basename(place.folder)}-{place.rounds}"
    place.directory = os.path.join(place.folder, f"tree-{place.rounds}")
    os.mkdir(place.directory)


def mirrored(place, scheme, *names, content=OLD):
    """Mirrored files that were edited since."""
    fresh(place, scheme)
    for name in names:
        place.write(name, content)
    place.in_step(place.push(*PARTS))
    for name in names:
        place.write(name, NEW if content is OLD else BIGGER)
    place.server.forget_requests()


def left(place, result, name, content):
    """The other writer's object stays, and the next run sees the conflict."""
    equal((result.status, result.count("conflicts")), (1, 1), f"exit and conflicts of {result}")
    expect("another writer" in result.said(name), result.said(name))
    equal(place.get(name), content, f"the object after {result}")
    equal(place.uploads(), 0, "uploads left open")


@case("F181", "an object that another writer replaces during a push is left as it is")
def _(place):
    for scheme in SCHEMES:
        mirrored(place, scheme, "a", "b")
        between = place.wire()

        def other_writer(request, forward):
            place.put("b", OTHER)
        between.on("PutObject", other_writer, "a")
        result = place.push("--jobs", "1")
        left(place, result, "b", OTHER)
        equal(place.get("a"), NEW, "the object that nobody else wrote")
        expect(not between.seen("PutObject", "b"), "b was sent although it was to be refused")
        again = place.push()
        equal((again.count("conflicts"), place.get("b")), (1, OTHER), f"the next run: {again}")


@case("F181", "an object that another writer replaces while parts are sent is left as it is")
def _(place):
    for scheme in SCHEMES:
        content = BIG if scheme == "oss" else BIG * 4
        mirrored(place, scheme, "big", content=content)
        place.write("big", content[::-1])
        between = place.wire()

        def other_writer(request, forward):
            place.put("big", OTHER)
        between.on("UploadPart", other_writer, first=1)
        left(place, place.push(*PARTS), "big", OTHER)


@case("F181", "an object that another writer deletes during a push is not made again")
def _(place):
    for scheme in SCHEMES:
        mirrored(place, scheme, "a", "b")
        between = place.wire()

        def other_writer(request, forward):
            place.delete("b")
        between.on("PutObject", other_writer, "a")
        left(place, place.push("--jobs", "1"), "b", None)


@case("F181", "an object that another writer replaces between two tries is left as it is")
def _(place):
    mirrored(place, "oss", "a")
    between = place.wire()

    def busy(request, forward):
        place.put("a", OTHER)
        return [wire.plain(503, b"<Error><Code>SlowDown</Code></Error>").bytes(), wire.CLOSE]
    between.on("PutObject", busy, "a", first=1)
    left(place, place.push(), "a", OTHER)
    equal(len(between.seen("PutObject", "a")), 1, "PUTs")


@case("F181", "a look before replacing that fails is repeated, and without it nothing is replaced")
def _(place):
    failures = {"reset": {"close": {"when": "after", "how": "rst"}},
                "error": {"fail": {"status": 500, "code": "InternalError"}},
                "busy": {"fail": {"status": 503, "code": "SlowDown"}}}
    for scheme in SCHEMES:
        for name, effect in failures.items():
            mirrored(place, scheme, "a", "big")
            place.faults(place.fault("HeadObject", effect, "a", first=1))
            place.in_step(place.push())
            equal(place.get("a"), NEW, f"the object after {name}")
            mirrored(place, scheme, "a", "big")
            place.faults(place.fault("HeadObject", effect, "a"))
            result = place.push()
            equal((result.status, result.count("failed")), (1, 1), f"{name}: {result}")
            equal((place.get("a"), place.get("big")), (OLD, NEW), f"the objects after {name}")
            place.faults()


@case("F181", "whoever may not look at objects replaces them by what the listing says")
def _(place):
    for scheme in SCHEMES:
        mirrored(place, scheme, "a", "b")
        place.faults(place.fault("HeadObject", {"fail": {"status": 403, "code": "AccessDenied"}}))
        place.in_step(place.push())
        equal((place.get("a"), place.get("b")), (NEW, NEW), "the objects")
        mirrored(place, scheme, "a", "b")
        between = place.wire()

        def other_writer(request, forward):
            place.put("b", OTHER)
        between.on("PutObject", other_writer, "a")
        result = place.push("--jobs", "1")
        place.faults()
        left(place, result, "b", OTHER)


@case("F181", "an upload of one run replaces an object with one look and one request")
def _(place):
    mirrored(place, "oss", *(f"f{number}" for number in range(50)))
    result = place.in_step(place.push())
    counts = {name: len(place.requests(name)) for name in ("HeadObject", "PutObject")}
    equal(counts, {"HeadObject": 50, "PutObject": 50}, f"requests of {result}")
    place.server.forget_requests()
    place.in_step(place.push())
    equal(len(place.requests()), 1, "requests with nothing to do")


KEPT = {"Content-Encoding": "gzip", "Cache-Control": "max-age=60", "Content-Language": "de",
        "Content-Disposition": 'attachment; filename="a b.txt"', "Content-Type": "text/x-own",
        "Expires": "Thu, 01 Jan 2032 00:00:00 GMT", "x-oss-meta-owner": "somebody",
        "x-oss-storage-class": "IA"}


def keeps(place, key, what):
    found = {name.lower(): value for name, value in place.head(key).items()}
    for name, value in KEPT.items():
        equal(found.get(name.lower()), value, f"{name} of {what}")
    return found


@case("F194", "what other tools put on an object stays when a push replaces it")
def _(place):
    for scheme in SCHEMES:
        for name, content, new in (("small", OLD, NEW), ("large", BIG, BIGGER)):
            fresh(place, scheme)
            old = {"x-oss-meta-mtime": "1", "x-oss-meta-md5chksum": "AAAAAAAAAAAAAAAAAAAAAA=="}
            place.put(name, content, {**KEPT, **old})
            place.in_step(place.pull())
            place.write(name, new)
            os.utime(place.path(name), ns=(0, 1_700_000_000_500_000_000))
            place.in_step(place.push(*PARTS))
            equal(place.get(name), new, "the object")
            found = keeps(place, name, f"the {name} object of {scheme}")
            equal(found["x-oss-meta-mtime"], "1700000000.500000000", "the time")
            expect("x-oss-meta-md5chksum" not in found, "the digest of the old content is there")
            again = place.in_step(place.pull())
            equal(again.count("transferred"), 0, f"the next run: {again}")


@case("F194", "an object that is renamed here keeps what other tools put on it, and gets its time")
def _(place):
    for scheme in SCHEMES:
        fresh(place, scheme)
        place.put("old", ramp(SEARCHED), KEPT)
        place.put("other", OTHER)
        place.in_step(place.pull())
        moment = os.stat(place.path("old")).st_mtime_ns
        os.rename(place.path("old"), place.path("new"))
        result = place.in_step(place.push("--delete"))
        equal(result.count("renamed"), 1, f"renames of {result}")
        found = keeps(place, "new", f"the copy of {scheme}")
        seconds, _, fraction = found["x-oss-meta-mtime"].partition(".")
        equal(int(seconds) * 10**9 + int(fraction.ljust(9, "0") or 0), moment, "the time")


@case("F194", "metadata that cannot be sent again never stop an upload, and are named once")
def _(place):
    for scheme in SCHEMES:
        mirrored(place, scheme, "a", "b", "c")
        place.put("a", OLD, {"x-oss-meta-" + "n" * 8: "v" * (7_900 if scheme == "oss" else 1_900)})
        place.in_step(place.pull("--force"))
        for name in "abc":
            place.write(name, NEW)
        between = place.wire()

        def strange(answer):
            answer.set("Content-Disposition", "attachment; filename=b\xfccher.pdf")
            answer.set("Cache-Control", "")
            answer.set("X-Oss-Meta-Name" if scheme == "oss" else "X-Amz-Meta-Name", "b\xfccher")
        between.on("HeadObject", wire.changed(strange), "c")
        between.on("HeadObject", wire.changed(strange), "b")
        result = place.in_step(place.push())
        equal([place.get(name) for name in "abc"], [NEW] * 3, "the objects")
        equal(sum("metadata" in event["message"] for event in result.all("warning")), 1,
              "warnings")


@case("F203", "a bucket that wants the digest of what is written gets it")
def _(place):
    for scheme in SCHEMES:
        fresh(place, scheme)
        place.write("small", OLD)
        place.write("large", BIG * 4)
        between = place.wire()

        def locked(request, forward):
            if "content-md5" in request.headers:
                return None
            return [wire.plain(400, b"<Error><Code>InvalidRequest</Code><Message>Content-MD5 OR "
                               b"x-amz-checksum- HTTP header is required for Put Object requests "
                               b"with Object Lock parameters</Message></Error>",
                               [("Content-Type", "application/xml")]).bytes(), wire.CLOSE]
        between.on("PutObject", locked)
        between.on("UploadPart", locked)
        result = place.in_step(place.push("--part-size", "5M", "--jobs", "1"))
        equal((place.get("small"), place.get("large")), (OLD, BIG * 4), "the objects")
        equal(result.count("bytes"), len(OLD) + len(BIG) * 4, "bytes")
        refused = [request for request in between.seen("UploadPart") + between.seen("PutObject")
                   if "content-md5" not in request.headers]
        expect(len(refused) <= 3, f"{len(refused)} requests without a digest")


@case("F177", "an equal tag of another object is no proof of its content")
def _(place):
    tag = '"5000-1763800000"'

    def same(answer):
        answer.set("ETag", tag).set("x-oss-hash-crc64ecma", None)

    def listed(answer):
        answer.body = re.sub(rb"<ETag>.*?</ETag>", b"<ETag>&quot;5000-1763800000&quot;</ETag>",
                             answer.body)
        answer.set("Content-Length", str(len(answer.body)))

    for scheme in SCHEMES:
        fresh(place, scheme)
        between = place.wire()

        def content(request, forward):
            body = place.get(request.key)
            return [wire.plain(200, body, [("ETag", tag)]).bytes(), wire.CLOSE]
        between.on("PutObject", wire.changed(lambda answer: answer.set("ETag", tag)))
        between.on("HeadObject", wire.changed(same))
        between.on("ListObjectsV2", wire.changed(listed))
        between.on("GetObject", content)
        place.write("invoice-1", ramp(SEARCHED, 1))
        place.in_step(place.push())
        place.put("invoice-2", ramp(SEARCHED, 2))
        place.in_step(place.pull())
        equal(place.tree(), {"invoice-1": ramp(SEARCHED, 1), "invoice-2": ramp(SEARCHED, 2)},
              f"the tree of {scheme}")


@case("F096", "a file that is said to be empty and has content is not sent as nothing")
def _(place):
    result = place.start("put", "/proc/self/environ", f"oss://{BUCKET}/{place.prefix}/environ")
    equal(result.status, 5, f"exit of {result}")
    equal(place.get("environ"), None, "the object")
    place.write("empty", b"")
    place.in_step(place.push())
    equal(place.get("empty"), b"", "the empty object")
