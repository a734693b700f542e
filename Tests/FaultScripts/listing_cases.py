"""Rows F056, F131 to F139 and F548: listings that are not what they should be."""

import os
import re
import signal
import time

from case_table import case, equal, expect
from listings import listing, with_field
from machine import until
from scenes import NEW, OLD, OTHER, ends_in_step, pulled, recovers, skips, stops
from stage import BUCKET, ramp
from Support.processes import PATIENCE, Started
from wire import CLOSE, changed

COUNT = 9


def many(place):
    """A mirror of nine files; then one is new, one is changed and one is gone in the remote."""
    for index in range(COUNT):
        place.put(f"f{index}", ramp(100, index))
    place.in_step(place.pull())
    place.put("a", NEW)
    place.put("f8", OLD)
    place.delete("f2")
    place.server.forget_requests()
    tree = {f"f{index}": ramp(100, index) for index in range(COUNT) if index != 2}
    return {**tree, "a": NEW, "f8": OLD}


def nothing_deleted(place, result):
    equal(result.count("deleted"), 0, f"deletions of {result}")
    expect("f2" in place.tree(), f"'f2' was deleted by {result}")


def is_distrusted(place, change, *words, statuses=(1, 6), pages=6, once=True,
                  contradicts=False):
    """A listing that goes wrong on its third page is used up to there, and deletes nothing."""
    tree = many(place)
    between = listing(place, change=lambda page: change(page) if page["start"] >= 4 else page)
    result = place.pull("--delete")
    expect(result.status in statuses, f"exit of {result}")
    said = " ".join(event["message"] for event in result.all("warning")) + result.error.get(
        "message", "")
    for word in words:
        expect(word in said, f"'{word}' is not in {said!r}")
    nothing_deleted(place, result)
    equal(place.tree().get("a"), NEW, "what came before the fault")
    expect(between.listing.asked <= pages, f"{between.listing.asked} pages were asked for")
    if once:
        # The same for one page only: it is asked for again, and all there is comes; what is not
        # there is doubtful if pages contradicted each other, and certain if one was no page at all.
        count = []

        def first(page):
            if page["start"] >= 4 and not count:
                count.append(1)
                return change(page)
            return page
        between.listing.change = first
        result = place.pull("--delete")
        if contradicts:
            equal(result.status, 1, f"exit after one wrong page: {result}")
            expect(any("contradicted" in event["message"] for event in result.all("warning")),
                   f"no word of the wrong page: {result}")
            expect("out of order" in result.summary["deletions_held_back"], str(result.summary))
            equal(place.tree(), {**tree, "f2": ramp(100, 2)}, f"the tree after one wrong page")
            result = place.pull("--delete")
        place.in_step(result)
        equal(place.tree(), tree, f"the tree after one wrong page: {result}")
    else:
        place.endpoint = place.server.url
        recovers(place, tree)


def changing(**fields):
    return lambda page: {**page, **fields}


@case("F131", "a page that fails for good is used up to there, and deletes nothing")
def _(place):
    is_distrusted(place, changing(status=500, body=b"<Error><Code>InternalError</Code></Error>"),
                  "could not be read completely", "500", statuses=(6,), pages=12)


@case("F131", "a page that may not be read deletes nothing")
def _(place):
    is_distrusted(place, changing(status=403, body=b"<Error><Code>AccessDenied</Code></Error>"),
                  "AccessDenied", statuses=(4,), pages=4, once=False)


@case("F132", "a token that leads to the same page again is found out")
def _(place):
    # A range that is long is cut, and each of its pieces that was begun finds it out.
    is_distrusted(place, changing(token="at-4", truncated="true"), "object store", contradicts=True,
                  pages=150)


@case("F132", "tokens that go in a circle are found out")
def _(place):
    is_distrusted(place, lambda page: {**page, "truncated": "true",
                                       "token": "at-2" if page["start"] >= 6 else page["token"]},
                  "out of order", pages=150)


@case("F132", "pages that are empty for ever are found out")
def _(place):
    many(place)
    between = listing(place, change=lambda page: {**page, "entries": [], "truncated": "true",
                                                  "token": f"at-0-{page['number']}"})
    result = place.pull("--delete")
    expect(result.status in (1, 6), f"exit of {result}")
    nothing_deleted(place, result)
    expect(between.listing.asked <= 210, f"{between.listing.asked} pages were asked for")


@case("F133", "a page that is not the last and has no token ends no listing")
def _(place):
    is_distrusted(place, changing(token=None, truncated="true"), "NextContinuationToken")


@case("F134", "a page that does not say whether it is the last ends no listing")
def _(place):
    is_distrusted(place, changing(truncated=None), "IsTruncated")
    for value in ("", "TRUE", "0", "perhaps"):
        place.put("f2", ramp(100, 2))
        place.endpoint = place.server.url
        place.in_step(place.pull())
        place.delete("f2")
        listing(place, change=lambda page, value=value: {**page, "truncated": value})
        result = place.pull("--delete")
        equal(result.status, 6, f"exit of {result}")
        nothing_deleted(place, result)


@case("F134", "a page that is cut at any place ends no listing")
def _(place):
    tree = many(place)
    between = listing(place, size=3)
    whole = between.listing.document({"root": "ListBucketResult", "name": None, "token": None,
                                      "prefix": place.prefix + "/", "truncated": "false",
                                      "entries": between.listing.entries})
    step = max(1, len(whole) // 24)
    for at in list(range(0, len(whole), step)) + [len(whole) - 1, len(whole) - 12]:
        between.listing.change = lambda page, at=at: {**page, "body": whole[:at] or b" "}
        result = place.pull("--delete", "--retries", "0")
        equal(result.status, 6, f"exit of a listing cut at {at}: {result}")
        nothing_deleted(place, result)
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F135", "keys that are out of order end no listing")
def _(place):
    is_distrusted(place, lambda page: {**page, "entries": page["entries"][::-1]},
                  "out of order", contradicts=True)


@case("F135", "a key that comes twice ends no listing")
def _(place):
    is_distrusted(place, lambda page: {**page, "entries": page["entries"] + page["entries"][-1:]},
                  "out of order", contradicts=True)


@case("F135", "a page that comes twice ends no listing")
def _(place):
    entries = []

    def again(page):
        return {**page, "entries": entries[0]}
    many(place)
    entries.append(listing(place).listing.entries[2:4])
    place.endpoint = place.server.url
    for index in range(COUNT):
        place.put(f"f{index}", ramp(100, index))
    place.in_step(place.pull())
    is_distrusted(place, again, "out of order", contradicts=True)


@case("F136", "keys outside the prefix end no listing")
def _(place):
    is_distrusted(place, lambda page: {**page, "entries": [
        with_field(entry, "Key", "elsewhere%2Fx") for entry in page["entries"]]},
                  "outside the prefix", contradicts=True)


@case("F136", "an answer for another prefix or bucket ends no listing")
def _(place):
    is_distrusted(place, changing(prefix="elsewhere/"), "prefix")
    place.endpoint = place.server.url
    place.put("f2", ramp(100, 2))
    place.in_step(place.pull())
    place.delete("f2")
    listing(place, change=changing(name="another-bucket"))
    result = place.pull("--delete")
    equal(result.status, 6, f"exit of {result}")
    nothing_deleted(place, result)


@case("F137", "an empty listing against a full manifest is refused")
def _(place):
    tree = many(place)
    listing(place, change=changing(entries=[], truncated="false", token=None))
    result = place.pull("--delete")
    equal(result.status, 3, f"exit of {result}")
    expect("the listing of the remote is empty" in result.error["message"], str(result.error))
    expect("--allow-empty" in result.error["message"], str(result.error))
    nothing_deleted(place, result)
    # Also without --delete: it was the wrong place that was looked at.
    equal(place.pull().status, 3, "exit without --delete")
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F138", "a listing that has shrunk too much is refused, after its downloads")
def _(place):
    for index in range(30):
        place.put(f"f{index:02}", ramp(50, index))
    place.in_step(place.pull())
    place.put("a", NEW)
    listing(place, size=12, change=lambda page: {**page, "truncated": "false", "token": None})
    result = place.pull("--delete")
    equal(result.status, 3, f"exit of {result}")
    expect("19 deletions were held back" in result.error["message"], str(result.error))
    expect("50% of the 30 recorded entries" in result.error["message"], str(result.error))
    equal((result.count("deleted"), result.count("transferred")), (0, 1), f"counts of {result}")
    equal(len(place.tree()), 31, "files")
    equal(result.errors.count("held back"), 1, f"how often it is said: {result.errors}")
    plain = place.start("pull", place.directory, "--delete")
    equal(plain.errors.count("held back"), 1, f"how often it is said: {plain.errors}")
    # The listing is not believed as long as each object still answers.
    result = place.pull("--delete", "--max-delete", "19")
    equal((result.count("deleted"), result.count("skipped")), (0, 19), f"counts of {result}")
    for index in range(11, 30):
        place.delete(f"f{index:02}")
    equal(place.in_step(place.pull("--delete", "--max-delete", "19")).count("deleted"), 19, "gone")


@case("F065 F139", "a listing without end takes no more memory, and ends with the first signal")
def _(place):
    place.write("own", OTHER)
    place.in_step(place.push())
    template = with_field(listing(place).listing.entries[0], "Key", "LONG")

    # The longest keys there are, in segments that a directory could have.
    room = 1_023 - len(place.prefix) - len("/z000000000-0000/")
    rest = "%2F".join(["k" * 240] * 5)[:room + 2 * (room // 241)]

    def endless(page):
        # Of as many ranges as it is asked for.
        _, _, behind = (page["after"] or "").partition("/z")
        digits = "".join(character for character in behind[:9] if character.isdigit())
        number = int(digits.ljust(9, "0")) + 1 if behind else page["start"] + 1
        entries = [template.replace("LONG", f"{place.prefix}%2Fz{number:09}-{index:04}%2F{rest}")
                   for index in range(1000)]
        return {**page, "entries": entries, "truncated": "true", "token": f"at-{number}"}
    between = listing(place, change=endless)
    command = [place.server.osssync, "push", place.directory, f"oss://{BUCKET}/{place.prefix}",
               "--json", "--delete"]
    process = Started(command, place.full_environment())

    def memory_after(pages):
        until(lambda: between.listing.asked >= pages, f"page {pages}")
        with open(f"/proc/{process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    # As many pages as are listed ahead are there by then.
    early, late = memory_after(150), memory_after(250)
    process.send(signal.SIGINT)
    begin = time.monotonic()
    output, _ = process.wait(PATIENCE)
    expect(time.monotonic() - begin < 5, "it took long to end")
    equal(process.status, 130, "exit")
    # A hundred thousand keys of a kibibyte came in between.
    expect(late - early < 16 << 10, f"{early} KiB of memory after 150 pages, {late} after 250")
    expect(late < 128 << 10, f"{late} KiB of memory")
    expect(b'"in_step":false' in output, "the summary calls it done")
    equal(place.get("own"), OTHER, "the object")


NUMBERS = ["-1", "1e3", "\u0665", "+5", " 5", "0x10", "5.0", "99999999999999999999", "",
           "9223372036854775808"]


@case("F056", "a size that is no number leaves its own object alone, and the others come")
def _(place):
    tree = pulled(place)
    for number in NUMBERS:
        listing(place, change=lambda page, number=number: {**page, "entries": [
            with_field(entry, "Size", number) if "victim" in entry else entry
            for entry in page["entries"]]})
        result = place.pull("--delete")
        equal((result.status, result.count("skipped")), (1, 1), f"{number!r}: {result}")
        expect("which no object can have" in result.said("victim"), result.said("victim"))
        equal(place.tree(), {**tree, "victim": OLD, "gone": OTHER}, f"the tree with {number!r}")
        expect(result.summary.get("deletions_held_back"), f"no word on deletions: {result}")
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F056", "a size that no object can have is not asked of the disk")
def _(place):
    tree = pulled(place)
    # Of what has no room, nothing is in doubt; of what no object can be, everything.
    for number, kept in (("9223372036854775807", {"gone": OTHER}), (str(60 << 40), {})):
        listing(place, change=lambda page, number=number: {**page, "entries": [
            with_field(entry, "Size", number) for entry in page["entries"]]})
        result = place.pull("--delete")
        equal((result.status, result.count("bytes")), (1, 0), f"exit and bytes of {result}")
        equal(place.tree(), {"victim": OLD, "kept": OTHER, **kept}, "the tree")
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F056", "numbers of other fields that are none are refused or passed over")
def _(place):
    tree = pulled(place)
    for name, value in (("Key", ""), ("Key", "%zz"), ("ETag", "")):
        listing(place, change=lambda page, name=name, value=value: {**page, "entries": [
            with_field(entry, name, value) if "victim" in entry else entry
            for entry in page["entries"]]})
        result = place.pull("--delete")
        expect(result.status in (1, 6), f"exit with {name} {value!r}: {result}")
        expect("gone" in place.tree(), f"a deletion with {name} {value!r}")
    for value in ("never", "9999-99-99T00:00:00.000Z", "", None):
        listing(place, change=lambda page, value=value: {**page, "entries": [
            with_field(entry, "LastModified", value) for entry in page["entries"]]})
        place.in_step(place.pull())
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F056", "numbers about a page that are none are not believed")
def _(place):
    tree = pulled(place)
    place.in_step(place.pull())
    # The one is an echo of the question; the other one counts what must be there.
    for name, status in (("MaxKeys", 0), ("KeyCount", 6)):
        for number in NUMBERS[:4]:
            pages = listing(place).listing

            def spoilt(page, field=f"<{name}>{number}</{name}>", pages=pages):
                body = pages.document(page).decode().replace("<EncodingType>",
                                                             field + "<EncodingType>")
                return {**page, "body": body.encode()}
            listing(place, change=spoilt)
            result = place.pull("--delete", "--dry-run")
            equal(result.status, status, f"{name} {number!r}: {result}")
            equal(place.tree(), {**tree, "gone": OTHER}, f"the tree with {name} {number!r}")
    place.endpoint = place.server.url
    recovers(place, tree)


@case("F056", "numbers of an object's answer that are none make no file")
def _(place):
    tree = pulled(place)
    between = place.wire()
    for number in ("-1", "1e3", "+5", "0x10", "5.0", "99999999999999999999", "9223372036854775808"):
        for name, value in (("Content-Length", number), ("Content-Range", f"bytes 0-{number}/{number}")):
            between.clear()
            between.on("GetObject", changed(lambda answer, name=name, value=value:
                                            answer.set(name, value), CLOSE), "victim")
            result = place.pull("--delete")
            skips(place, result, tree)
    between.clear()
    recovers(place, tree)


@case("F056", "numbers in a listing of parts that are none cost what they were of, or the upload")
def _(place):
    content = ramp(5 << 20, 5)
    for number in ("-1", "99999999999999999999"):
        for name in ("Size", "PartNumber", "MaxParts", "HashCrc64ecma"):
            place.write("big", content)
            place.faults(place.fault("UploadPart", {"fail": {"status": 403, "code": "AccessDenied"}},
                                     "big", part=4))
            equal(place.push("--part-size", "1M", "--jobs", "1").status, 1, "the first push")
            place.faults()
            between = place.wire()

            def spoil(answer, name=name, number=number):
                text = re.sub(rf"<{name}>\d+</{name}>", f"<{name}>{number}</{name}>",
                              answer.body.decode(), count=1)
                answer.body = text.encode()
                answer.set("Content-Length", str(len(answer.body)))
            between.on("ListParts", changed(spoil))
            result = place.push("--part-size", "1M")
            expect(result.status in (0, 1), f"{name} {number!r}: {result}")
            place.endpoint = place.server.url
            place.in_step(place.push("--part-size", "1M"))
            expect(place.get("big") == content, f"the object after {name} {number!r}")
            equal(place.uploads(), 0, f"uploads left after {name} {number!r}")
            place.delete("big")
            place.in_step(place.pull("--delete", "--allow-empty", "--max-delete", "100%"))


@case("F548", "a listing that is refused on its second page ends the run")
def _(place):
    for index in range(COUNT):
        place.write(f"f{index}", ramp(100, index))
    place.in_step(place.push())

    def refused(page):
        if page["start"] == 0:
            return page
        body = b"<Error><Code>AccessDenied</Code><Message>No.</Message></Error>"
        return {**page, "status": 403, "body": body}

    os.remove(place.path("f2"))
    place.write("new", NEW)
    listing(place, change=refused)
    result = place.push("--delete")
    equal((result.status, result.summary["plan_complete"], place.get("f2")),
          (4, False, ramp(100, 2)), str(result))
    expect("AccessDenied" in result.error["message"], str(result))
    found = place.start("restore", "--list", place.directory, ".", "--json")
    equal((found.status, found.all("file_versions")), (4, []), str(found))
