"""Rows F054 and F055: deletions whose answers are lost or half."""

import os
import re

import wire
from case_table import case, equal, expect
from scenes import OTHER
from stage import ramp


def pushed(place, *removed):
    for index in range(6):
        place.write(f"f{index}", ramp(100, index))
    place.in_step(place.push())
    for name in removed:
        os.remove(place.path(name))


@case("F054", "a deletion whose answer is lost is made again, and done")
def _(place):
    for when in ("before", "after"):
        pushed(place, "f0", "f1")
        place.faults(place.fault("DeleteMultipleObjects", {"close": {"when": when, "how": "rst"}},
                                 first=2))
        result = place.in_step(place.push("--delete"))
        equal(result.count("deleted"), 2, f"deletions of {result}")
        equal((place.get("f0"), place.get("f1")), (None, None), "the objects")
        place.faults()
        equal(place.in_step(place.push("--delete")).count("deleted"), 0, "deletions afterwards")


@case("F054", "an object that somebody else deleted meanwhile is gone, and not counted")
def _(place):
    pushed(place, "f0", "f1")
    between = place.wire()
    asked = []

    def gone(request, forward):
        # After the run's own listing and before the look that comes before deletions: somebody
        # else deleted it.
        asked.append(request)
        if len(asked) == 2:
            place.delete("f0")
        return None
    between.on("ListObjectsV2", gone)
    result = place.in_step(place.push("--delete"))
    equal(result.count("deleted"), 1, f"deletions of {result}")
    equal((place.get("f0"), place.get("f1")), (None, None), "the objects")
    equal(place.in_step(place.push("--delete")).count("deleted"), 0, "deletions of the next run")


@case("F054", "an object that goes while it is deleted is deleted")
def _(place):
    pushed(place, "f0", "f1")
    between = place.wire()

    def gone(request, forward):
        place.delete("f0")
        return None
    between.on("DeleteMultipleObjects", gone)
    result = place.in_step(place.push("--delete"))
    equal(result.count("deleted"), 2, f"deletions of {result}")
    equal(place.in_step(place.push("--delete")).count("deleted"), 0, "deletions of the next run")


def edited(change):
    def effect(answer):
        answer.body = change(answer.body.decode()).encode()
        answer.set("Content-Length", str(len(answer.body)))
    return wire.changed(effect)


@case("F055", "each key of a deletion is settled by its own result")
def _(place):
    pushed(place, "f0", "f1", "f2")
    between = place.wire()
    place.faults()

    def refuse(text):
        entry = re.search(r"<Deleted>\s*<Key>[^<]*f1</Key>.*?</Deleted>", text, re.S).group(0)
        key = re.search(r"<Key>(.*?)</Key>", entry).group(1)
        return text.replace(entry, f"<Error><Key>{key}</Key><Code>AccessDenied</Code>"
                                   "<Message>not this one</Message></Error>")
    between.on("DeleteMultipleObjects", edited(refuse))
    result = place.push("--delete")
    equal((result.status, result.count("deleted"), result.count("failed")), (1, 2, 1), str(result))
    expect("not this one" in result.said("f1"), result.said("f1"))
    between.clear()
    # The server did delete it; it is gone from the listing, and from the records then.
    equal(place.in_step(place.push("--delete")).count("deleted"), 0, "deletions of the next run")


@case("F055", "a key that the answer does not name is not deleted")
def _(place):
    pushed(place, "f0", "f1", "f2")
    between = place.wire()
    between.on("DeleteMultipleObjects", edited(
        lambda text: re.sub(r"<Deleted>\s*<Key>[^<]*f[02]</Key>.*?</Deleted>", "", text,
                            flags=re.S)))
    result = place.push("--delete")
    equal((result.status, result.count("deleted"), result.count("failed")), (1, 1, 2), str(result))
    expect("does not say" in result.said("f0"), result.said("f0"))
    between.clear()
    result = place.in_step(place.push("--delete"))
    equal(result.count("deleted"), 0, f"what is gone already is forgotten: {result}")


@case("F055", "an answer to a deletion that is none deletes nothing in the records")
def _(place):
    for body in (b"", b"<html></html>", b"<DeleteResult><Deleted>",
                 b"<Error><Code>InternalError</Code></Error>"):
        pushed(place, "f0")
        between = place.wire()
        between.on("DeleteMultipleObjects", wire.answering(200, body, end=wire.KEEP))
        result = place.push("--delete", "--retries", "2")
        equal((result.status, result.count("deleted")), (1, 0), f"with {body!r}: {result}")
        equal(place.get("f0"), ramp(100, 0), "the object")
        place.endpoint = place.server.url
        place.in_step(place.push("--delete"))
        equal(place.get("f0"), None, "the object")


@case("F054", "hundreds of deletions cost a few requests, each object still being looked at")
def _(place):
    for index in range(250):
        place.write(f"d/{index:05}", b"")
    place.write("kept", OTHER)
    place.in_step(place.push("--jobs", "16", "--durability", "fast", limit=120))
    for index in range(250):
        os.remove(place.path(f"d/{index:05}"))
    place.server.forget_requests()
    result = place.push("--delete", "--max-delete", "100%", "--durability", "fast")
    place.in_step(result)
    equal(result.count("deleted"), 250, f"deletions of {result}")
    expect(result.count("requests") <= 8, f"{result.count('requests')} requests")
    equal(place.get("kept"), OTHER, "the object that stays")
