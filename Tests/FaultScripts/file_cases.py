"""Rows F080 to F096: files that change, are in the way, or are odd."""

import os
import socket

from case_table import case, equal, expect
from machine import pretending, runnable, skipped, under
from scenes import OLD, OTHER, pulled, recovers
from stage import ramp
from wire import KEEP


@case("F080 F251", "a change behind size and mtime is found by its ctime, and is an edit")
def _(place):
    place.write("f", OLD)
    os.utime(place.path("f"), ns=(10**18, 10**18))
    place.in_step(place.push())
    with open(place.path("f"), "r+b") as file:
        file.write(b"changed")
    os.utime(place.path("f"), ns=(10**18, 10**18))
    result = place.pull()
    equal((result.status, result.count("local_changes"), result.count("damaged")), (0, 1, 0),
          f"what a pull says: {result}")
    equal(place.in_step(place.push()).count("transferred"), 1, "what a push sends")
    equal(place.get("f"), b"changed" + OLD[7:], "the object")


@case("F080 F178 F250", "a change behind size and times is found by its content, and not forgotten")
def _(place):
    if not pretending(place, ctime="1"):
        return
    place.write("f", OLD)
    os.utime(place.path("f"), ns=(10**18, 10**18))
    place.in_step(place.push())
    with open(place.path("f"), "r+b") as file:
        file.write(b"changed")
    os.utime(place.path("f"), ns=(10**18, 10**18))
    for command in (place.pull, place.push, lambda *options: place.run("sync", *options)):
        result = command("--checksum")
        equal((result.status, result.count("damaged")), (1, 1), f"what was said of it: {result}")
        expect("damaged" in result.said("f"), f"no word on it: {result}")
        equal(place.get("f"), OLD, "the object")
    os.rename(place.path("f"), place.path("g"))
    for options in (("--delete",), ("--delete", "f"), ("--delete", "g")):
        result = place.push(*options)
        equal(result.status, 1, f"after a rename: {result}")
        expect(result.count("damaged") > 0, f"after a rename: {result}")
        equal((place.get("f"), place.get("g")), (OLD, None), "the objects")
    os.rename(place.path("g"), place.path("f"))
    place.in_step(place.push("--checksum", "--force"))
    equal(place.get("f"), b"changed" + OLD[7:], "the object")


@case("F081 F082 F083", "a file that changes before its content is sent is not sent as it was not")
def _(place):
    def truncate(path):
        os.truncate(path, 1_000)

    def append(path):
        with open(path, "ab") as file:
            file.write(b"more")

    def link(path):
        os.remove(path)
        os.symlink("/etc/passwd", path)

    def fifo(path):
        os.remove(path)
        os.mkfifo(path)

    def directory(path):
        os.remove(path)
        os.mkdir(path)

    place.write("kept", OTHER)
    between = place.wire()
    for change, words in ((truncate, None), (append, None), (os.remove, "no longer exists"),
                          (link, "is a symbolic link"), (fifo, "is a FIFO"),
                          (directory, "is a directory")):
        key = change.__name__
        place.write(key, ramp(2_500_000))
        path = place.path(key)

        def effect(request, forward, change=change, path=path):
            change(path)
            return [forward().bytes(), KEEP]
        between.on("InitiateMultipartUpload", effect, key, first=1)
        result = place.push("--delete", "--part-size", "1M")
        if words is None:
            # It is another file by now, and sent as that, whole; one that grew as it was.
            place.in_step(result)
            sent = ramp(2_500_000) if change is append else place.tree()[key]
            expect(place.get(key) == sent, f"a mixture after {key}: {result}")
        else:
            equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 0),
                  f"the end after {key}: {result}")
            expect(words in result.said(key), f"what was said of {key}: {result.said(key)}")
            expect(place.get(key) is None, f"it was made an object after {key}: {result}")
        between.clear()
        if os.path.isdir(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.remove(path)
        place.in_step(place.push("--delete", "--part-size", "1M"))
        equal(place.uploads(), 0, f"uploads left after {key}")


@case("F081 F082", "a file that goes on changing while it is sent is skipped with its reason")
def _(place):
    content = ramp(2_500_000)
    place.write("old", OLD)
    place.in_step(place.push())
    between = place.wire()
    for key, size in (("shrinks", -1_000), ("changes", 0), ("old", -1_000)):
        place.write(key, content)
        path = place.path(key)

        def effect(request, forward, path=path, size=size):
            os.truncate(path, os.stat(path).st_size + size)
            with open(path, "r+b") as file:
                file.write(os.urandom(8))
            return None
        between.on("UploadPart", effect, key)
        result = place.push("--delete", "--part-size", "1M")
        equal((result.status, result.count("skipped"), result.count("deleted")), (1, 1, 0),
              f"the end of {result}")
        expect("chang" in result.said(key) or "written" in result.said(key),
               f"what was said of '{key}': {result.said(key)}")
        equal(place.get(key), OLD if key == "old" else None, f"the object '{key}'")
        between.clear()
        place.in_step(place.push("--delete", "--part-size", "1M"))
        expect(place.get(key) == place.tree()[key], f"the object '{key}' at last")
        equal(place.uploads(), 0, f"uploads left after '{key}'")


@case("F085 F086", "directories and links in the way of files stay")
def _(place):
    tree = pulled(place)
    outside = os.path.join(place.folder, "outside")
    with open(outside, "wb") as file:
        file.write(b"outside")
    os.remove(place.path("victim"))
    place.write("victim/mine", b"mine")
    os.symlink(outside, place.path("other"))
    result = place.pull("--delete", "--force")
    equal((result.status, result.count("deleted")), (1, 1), f"the end of {result}")
    equal(place.tree()["victim/mine"], b"mine", "the file in the directory")
    with open(outside, "rb") as file:
        equal(file.read(), b"outside", "what the link leads to")
    os.remove(place.path("victim/mine"))
    os.rmdir(place.path("victim"))
    os.remove(place.path("other"))
    recovers(place, tree)


@case("F087", "a new version does not change what a second name has")
def _(place):
    tree = pulled(place)
    second = os.path.join(place.folder, "second")
    os.link(place.path("victim"), second)
    place.in_step(place.pull("--delete"))
    equal(place.tree(), tree, "the tree")
    with open(second, "rb") as file:
        equal(file.read(), OLD, "what the second name has")


@case("F088", "a file with holes comes back with the same bytes")
def _(place):
    os.mkdir(place.directory)
    with open(place.path("holes"), "wb") as file:
        file.truncate(24_000_000)
        file.seek(20_000_000)
        file.write(b"not zero")
    content = bytes(20_000_000) + b"not zero" + bytes(3_999_992)
    place.in_step(place.push())
    expect(place.get("holes") == content, "the object is another")
    place.directory += "-2"
    place.in_step(place.pull())
    expect(place.tree()["holes"] == content, "the file is another")


@case("F090", "a file that may not become as large is reported, and no signal ends the run")
def _(place):
    if not runnable("prlimit", "--fsize=2000000", "true"):
        return skipped("no prlimit")
    tree = pulled(place)
    place.put("victim", ramp(6_000_000))
    result = under(place, ["prlimit", "--fsize=2000000"], "pull", "--delete")
    equal((result.status, result.count("deleted")), (1, 0), f"the end of {result}")
    expect("large" in result.said("victim"), f"what was said: {result.said('victim')!r}")
    equal(place.tree(), {**tree, "victim": OLD, "gone": OTHER}, "the tree")
    recovers(place, {**tree, "victim": ramp(6_000_000)})


@case("F091", "times of 1901, 1970 and 2200 are neither sent nor fetched again")
def _(place):
    for year in (1901, 1970, 2200):
        place.write(str(year), OTHER)
        seconds = (year - 1970) * 31_556_952 - (0 if year > 1970 else 1)
        os.utime(place.path(str(year)), ns=(seconds * 10**9 + 7,) * 2)
    equal(place.in_step(place.push()).count("transferred"), 3, "what was sent")
    equal(place.in_step(place.push()).count("transferred"), 0, "what was sent again")
    os.utime(place.path("2200"), ns=(5, 5))
    again = place.in_step(place.push())
    equal(again.count("bytes"), 0, "bytes that were sent for an older time")
    place.directory += "-2"
    place.in_step(place.pull())
    equal(place.in_step(place.pull()).count("transferred"), 0, "what was fetched again")


@case("F094 F095", "a path of five hundred directories comes and goes")
def _(place):
    deep = "/".join(["d"] * 450) + "/f"
    place.put(deep, OTHER)
    place.in_step(place.pull())
    equal(place.tree(), {deep: OTHER}, "the tree")
    place.delete(deep)
    place.put("f", OTHER)
    place.in_step(place.pull("--delete"))
    equal(place.tree(), {"f": OTHER}, "the tree after the deletion")


@case("F096", "pipes, sockets and devices are neither sent nor opened")
def _(place):
    place.write("f", OTHER)
    os.mkfifo(place.path("pipe"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.path("socket"))
        os.symlink("/dev/zero", place.path("device"))
        result = place.push()
    equal((result.status, result.count("transferred")), (0, 1), f"the end of {result}")
    for name in ("pipe", "socket", "device"):
        expect("skipped" in result.said(name), f"no word on {name}: {result}")
        equal(place.get(name), None, f"the object of {name}")
