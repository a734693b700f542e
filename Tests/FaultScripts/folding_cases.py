"""Rows F360, F416, F442 and F447: names that are one on this disk, or in the store."""

import os

import wire
from case_table import case, equal, expect
from machine import pretending
from scenes import FRESH, NEW, OLD, OTHER

COMPOSED, APART = "caf\u00e9", "cafe\u0301"


def objects(place, names):
    return {name: place.get(name) for name in names}


@case("F360", "where names fold, what lies beneath one of two directories is named, and nothing is sent or deleted")
def _(place):
    twins = {"A/x": NEW, "a/y": OTHER, "d/B/e/one": FRESH, "d/b/e/two": OLD,
             f"{COMPOSED}/one": NEW, f"{APART}/two": OTHER, "Empty/": b"", "empty/": b""}
    for name, content in {**twins, "plain": OTHER, "gone": OLD}.items():
        place.put(name, content)
    if not pretending(place, folding="1"):
        return
    trees = []
    for turn in range(3):
        if turn == 1:
            place.delete("gone")
        result = place.pull("--delete", "--jobs", "1")
        equal((result.status, result.count("skipped"), result.count("failed"), result.count("deleted")),
              (1, 4, 0, int(turn == 1)), f"the end of {result}")
        if turn:
            equal(result.count("bytes"), 0, f"bytes that were fetched again by {result}")
        trees.append(place.tree())
    trees[0].pop("gone")
    expect(trees[0] == trees[1] == trees[2], f"the files changed: {trees}")
    equal(len(trees[2]), 4, f"files of {trees[2]}")
    for name, content in trees[2].items():
        equal(content, {**twins, "plain": OTHER}[name], f"the file '{name}'")
    missing = [name for name in twins if name not in trees[2] and not name.endswith("/")]
    equal(len(missing), 3, f"the other names: {missing}")
    for name in missing:
        expect("the same name on this disk" in result.said(name), f"said of {name}: {result.said(name)}")
    dry = place.pull("--delete", "--dry-run")
    equal((dry.status, dry.count("skipped"), dry.count("transferred"), dry.summary["in_step"]),
          (1, 4, 0, False), f"the dry run {dry}")
    looked = place.start("status", place.directory, "--json")
    report = next(event for event in looked.events if event["event"] == "status")
    for direction in ("pull", "sync"):
        equal((report[direction]["skipped"], report[direction]["transfers"]), (4, 0), f"{direction} by {looked}")
    for name in missing:
        told = place.start("explain", place.directory, name, "--json").output
        expect("the same name on this disk" in told and '"download"' not in told, f"explained of {name}: {told}")
    sent = place.push("--delete")
    equal((sent.count("transferred"), sent.count("deleted")), (0, 0), f"what a push did: {sent}")
    equal(objects(place, twins), twins, "the objects")
    both = place.run("sync", "--delete")
    equal((both.status, both.count("transferred"), both.count("deleted")), (1, 0, 0), f"a sync: {both}")
    equal(objects(place, twins), twins, "the objects after a sync")


@case("F360", "a directory that gets the same name in other letters is renamed in the bucket by a push")
def _(place):
    for name, content in {"a/x": NEW, "a/b/y": OTHER}.items():
        place.put(name, content)
    if not pretending(place, folding="1"):
        return
    place.in_step(place.pull())
    os.rename(place.path("a"), place.path("between"))
    os.rename(place.path("between"), place.path("A"))
    place.in_step(place.push("--delete"))
    equal((place.get("A/x"), place.get("A/b/y"), place.get("a/x"), place.get("a/b/y")),
          (NEW, OTHER, None, None), "the objects")
    place.in_step(place.run("sync", "--delete"))
    equal(place.tree(), {"A/x": NEW, "A/b/y": OTHER}, "the tree")


@case("F360", "a restoration puts nothing beneath a directory of another name")
def _(place):
    place.put("a/y", OTHER)
    if not pretending(place, folding="1"):
        return
    place.in_step(place.pull())
    place.put("other", NEW)
    place.delete("a/y")
    place.in_step(place.pull("--delete"))
    place.write("A/x", NEW)
    result = place.start("restore", place.directory, "a/y", "--json")
    equal((result.status, place.tree()), (1, {"A/x": NEW, "other": NEW}), f"the end of {result}")


@case("F416", "a file that was given another spelling keeps its object where the store takes both names for one")
def _(place):
    for old, new, content in (("Film.bin", "film.bin", NEW * 60), (f"{COMPOSED}.txt", f"{APART}.txt", OLD)):
        place.write(old, content)
        for number in range(6):
            place.write(f"other{number}", OTHER)
        place.in_step(place.push())
        os.rename(place.path(old), place.path(new))
        answer = place.head(old)
        headers = [(name, value) for name, value in answer.items()
                   if name.lower() in ("etag", "last-modified") or name.lower().startswith("x-oss-")]
        between = place.wire()
        between.on("HeadObject", wire.answering(200, b"", [*headers, ("Content-Length", str(len(content)))],
                                                length=False), key=new)
        for command in ("push", "sync", "push"):
            result = place.run(command, "--delete")
            equal((result.status, result.count("deleted")), (1, 0), f"the end of {result}")
            expect("for one" in str(result.all("item")), f"what was said: {result.output}")
            equal((place.get(old), place.tree()[new]), (content, content), "both sides")
        between.clear()
        # A store of two names: the rename is one.
        result = place.in_step(place.push("--delete"))
        equal((place.get(old), place.get(new)), (None, content), "the object")


@case("F442", "a new file whose name differs in case only from that of another one does not replace its object")
def _(place):
    for first, second, content in (("Makefile", "makefile", OLD), ("A/b/c", "a/b/c", NEW),
                                   (f"{COMPOSED}.txt", f"{APART}.txt", OTHER)):
        place.write(first, content)
        place.in_step(place.push())
        place.write(second, FRESH)
        answer = place.head(first)
        headers = [(name, value) for name, value in answer.items()
                   if name.lower() in ("etag", "last-modified") or name.lower().startswith("x-oss-")]
        between = place.wire()
        between.on("HeadObject", wire.answering(200, b"", [*headers, ("Content-Length", str(len(content)))],
                                                length=False), key=second)
        for command in ("push", "sync", "push"):
            result = place.run(command, "--delete")
            equal((result.status, result.count("skipped"), result.count("transferred")), (1, 1, 0), f"{result}")
            expect("for one" in result.said(second), f"what was said: {result.output}")
            equal((place.get(first), place.get(second)), (content, None), "the objects")
            equal((place.tree()[first], place.tree()[second]), (content, FRESH), "the files")
        between.clear()
        # A store of two names, or one that does not say.
        between.on("HeadObject", wire.answering(403, b""), key=second)
        place.in_step(place.push("--delete"))
        between.clear()
        equal((place.get(first), place.get(second)), (content, FRESH), "the objects of a store of two names")


@case("F447", "a file whose name changes only in case is renamed where each name has an inode number of its own")
def _(place):
    for name, content in {"Film.bin": NEW * 60, "a/Photo.JPG": OLD}.items():
        place.write(name, content)
    if not pretending(place, folding="2", fuse="1"):
        return
    place.in_step(place.push())
    for old, new in (("Film.bin", "film.bin"), ("a/Photo.JPG", "a/photo.jpg")):
        os.rename(place.path(old), place.path("between"))
        os.rename(place.path("between"), place.path(new))
    place.in_step(place.push("--delete"))
    equal([place.get(name) for name in ("Film.bin", "film.bin", "a/Photo.JPG", "a/photo.jpg")],
          [None, NEW * 60, None, OLD], "the objects")
    place.in_step(place.run("sync", "--delete"))
