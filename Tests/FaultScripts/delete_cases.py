"""Rows F054, F055, F171 and F180: deletions that are lost or half, or have no reason."""

import os
import re

import wire
from case_table import case, equal, expect
from listings import listing
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
    place.in_step(place.push("--jobs", "16"))
    for index in range(250):
        os.remove(place.path(f"d/{index:05}"))
    place.server.forget_requests()
    result = place.push("--delete", "--max-delete", "100%")
    place.in_step(result)
    equal(result.count("deleted"), 250, f"deletions of {result}")
    expect(result.count("requests") <= 8, f"{result.count('requests')} requests")
    equal(place.get("kept"), OTHER, "the object that stays")


@case("F171", "objects beneath the names of files take no file that is not to be deleted")
def _(place):
    names = [f"f{100 + index}" for index in range(30)]
    for name in names:
        place.put(name, ramp(100, 7))
    place.in_step(place.pull())
    before = place.tree()
    for name in names[:15]:
        place.put(name + "/")
    for name in names[15:]:
        place.put(name + "/x", OTHER)
    for command, options in (("pull", ["--max-delete", "0"]), ("sync", []), ("pull", ["--force"]),
                             ("pull", ["--delete", "--max-delete", "100%"]),
                             ("sync", ["--delete", "--max-delete", "100%"])):
        result = place.run(command, *options)
        equal((result.status, result.count("deleted"), result.count("skipped")), (1, 0, 30),
              f"with every object still there: {result}")
        equal(place.tree(), before, f"the files after {result}")
    for name in names:
        place.delete(name)
    for command, options in (("pull", ["--max-delete", "0"]), ("sync", []), ("pull", ["--force"])):
        result = place.run(command, *options)
        equal((result.status, result.count("deleted"), result.count("skipped")), (1, 0, 60),
              f"without their objects: {result}")
        equal(place.tree(), before, f"the files, which are the last copies, after {result}")
    result = place.run("pull", "--delete", "--max-delete", "29")
    equal((result.status, result.count("deleted")), (3, 0), f"beyond the limit: {result}")
    equal(place.tree(), before, "the files")
    result = place.in_step(place.run("pull", "--delete", "--max-delete", "30"))
    equal(result.count("deleted"), 30, f"deletions of {result}")
    equal(set(place.tree()), {name + "/x" for name in names[15:]}, "the files then")
    result = place.in_step(place.run("sync", "--delete"))
    equal((result.count("deleted"), result.count("transferred")), (0, 0), f"the next: {result}")


def lacking(place, word):
    """A listing that lags: what `word` is in does not stand in it."""
    def lag(page):
        page["entries"] = [entry for entry in page["entries"] if word not in entry]
    return listing(place, 1_000, lag)


@case("F180", "a file whose object the listing lacks and the store has is not deleted")
def _(place):
    for name in ("a", "b", "zz-dir/"):
        place.put(name, b"" if name.endswith("/") else OTHER)
    place.in_step(place.pull())
    place.write("zz-new", ramp(500, 9))
    place.in_step(place.run("sync"))
    for word, key in (("zz-new", "zz-new"), ("zz-dir", "zz-dir/")):
        for command in ("sync", "pull"):
            between = lacking(place, word)
            result = place.run(command, "--delete", "--trash-days", "0")
            equal((result.status, result.count("deleted")), (1, 0), f"the end of {result}")
            expect("exists in the store" in result.said(key), f"what was said: {result.said(key)}")
            equal(len(between.seen("HeadObject")), 1, "questions")
            place.endpoint = place.server.url
            equal(place.tree().get("zz-new"), ramp(500, 9), "the file")
            expect(os.path.isdir(place.path("zz-dir")), "the directory is gone")
            result = place.in_step(place.run(command, "--delete"))
            equal((result.count("deleted"), result.count("transferred")), (0, 0), str(result))
    place.delete("zz-new")
    result = place.in_step(place.run("sync", "--delete"))
    equal((result.count("deleted"), place.tree().get("zz-new")), (1, None), f"{result}")


@case("F180", "a file whose object cannot be asked for is not deleted")
def _(place):
    for name in ("a", "b", "c"):
        place.put(name, OTHER)
    place.in_step(place.pull())
    for name in ("a", "b"):
        place.delete(name)
    place.faults(place.fault("HeadObject", {"fail": {"status": 403, "code": "AccessDenied"}},
                             key="a"))
    result = place.pull("--delete")
    equal((result.status, result.count("deleted"), result.count("failed")), (1, 1, 1), f"{result}")
    equal(set(place.tree()), {"a", "c"}, "the files")
    place.faults()
    equal(place.in_step(place.pull("--delete")).count("deleted"), 1, "deletions of the next run")
