"""Rows F273–F278, F321 and F450: disks that do not do everything, and what is found before it is fetched."""

import os

from case_table import case, equal, expect
from machine import Disk, pretending, stranger, under
from scenes import FRESH, NEW, OLD, OTHER
from stage import ramp

LARGE = ramp(5_000_000, 9)


def warnings(result, *words):
    texts = [line.get("message", "") for line in result.all("warning")]
    return [text for text in texts if all(word in text for word in words)]


def told_once(place, result, *words):
    equal(len(warnings(result, *words)), 1, f"warnings of {words} in {result}")
    again = place.in_step(place.pull("--delete"))
    equal((again.count("transferred"), again.count("deleted")), (0, 0), f"the run after: {again}")


@case("F273", "files are published and deleted where no rename leads from directory to directory")
def _(place):
    if not pretending(place, apart="1"):
        return
    names = {"top": OLD, "a/b/deep": OTHER, "a/large": LARGE, "gone": FRESH, "a/gone": FRESH}
    for key, content in names.items():
        place.put(key, content, {"x-oss-meta-mode": "100640"})
    result = place.in_step(place.pull())
    equal(place.tree(), names, "the first tree")
    equal(os.stat(place.path("a/large")).st_mode & 0o777, 0o640, "permissions")
    told_once(place, result, "renamed from one directory")
    # A rename in the bucket is one here.
    place.put("elsewhere/large", LARGE)
    place.delete("a/large")
    place.server.forget_requests()
    place.in_step(place.pull("--delete"))
    equal(place.requests("GetObject"), [], "what was fetched for a rename")
    place.put("a/large", LARGE)
    place.delete("elsewhere/large")
    place.in_step(place.pull("--delete"))
    os.chmod(place.path("top"), 0o600)
    for key in ("top", "a/large"):
        place.put(key, NEW)
    for key in ("gone", "a/gone"):
        place.delete(key)
    place.server.forget_requests()
    place.in_step(place.pull("--delete"))
    equal(place.tree(), {"top": NEW, "a/b/deep": OTHER, "a/large": NEW}, "the tree")
    equal(os.stat(place.path("top")).st_mode & 0o777, 0o600, "the permissions of what was replaced")
    equal(len(place.requests("GetObject")), 2, "what was fetched")
    # Both sides changed a file: the user's is kept.
    place.write("a/b/deep", FRESH)
    place.put("a/b/deep", NEW)
    place.pull()
    equal(sorted(place.tree().values(), key=len), [FRESH, NEW, NEW, NEW], "after a conflict")
    for folder, _, files in os.walk(place.directory):
        for name in files:
            expect(not name.startswith(".osssync-"), f"{name} is left in {folder}")


@case("F273", "an undo brings a replaced file back where no rename leads to it")
def _(place):
    if not pretending(place, apart="1"):
        return
    returns(place)


def returns(place):
    place.put("a/f", OLD)
    place.in_step(place.pull())
    place.write("a/f", NEW)
    place.in_step(place.pull("--force"))
    equal(place.tree(), {"a/f": OLD}, "the tree of the run")
    equal(place.start("undo", place.directory).status, 0, "the undo")
    equal(place.tree(), {"a/f": NEW}, "the tree after it")
    equal(place.start("undo", place.directory).status, 0, "a second undo")


@case("F450", "a replaced file is kept and comes back where neither links nor renames lead to the trash")
def _(place):
    if not pretending(place, apart="1", nolinks="1"):
        return
    returns(place)
    place.write("a/f", OTHER)
    result = place.start("restore", place.directory, "a/f", "--json")
    equal((result.status, place.tree()["a/f"]), (0, OLD), f"{result}")


@case("F274", "files are published where their times or permissions cannot be set")
def _(place):
    for what, word in (("notimes", "times"), ("nomodes", "permissions")):
        place.prefix += "x"
        place.directory += "x"
        if not pretending(place, **{what: "1"}):
            return
        for key, content in {"small": OLD, "d/large": LARGE}.items():
            place.put(key, content)
        result = place.in_step(place.pull())
        equal(place.tree(), {"small": OLD, "d/large": LARGE}, f"the tree with {what}")
        told_once(place, result, word, "cannot be set")
        place.put("small", NEW)
        place.in_step(place.pull())
        equal(place.tree()["small"], NEW, "the new version")
        place.write("small", FRESH)
        place.in_step(place.pull("--force"))
        equal(place.tree()["small"], NEW, "the object in its place")
        undone = place.start("undo", place.directory)
        equal((undone.status, place.tree()["small"]), (0, FRESH), f"{undone}")
        place.environment = {}


@case("F275", "runs work where directories cannot be synchronized")
def _(place):
    if not pretending(place, nodirsync="1"):
        return
    for key, content in {"small": OLD, "d/other": OTHER}.items():
        place.put(key, content)
    result = place.in_step(place.pull())
    told_once(place, result, "power cut")
    place.write("new", NEW)
    place.in_step(place.push())
    equal(place.get("new"), NEW, "what was sent")


@case("F276", "names that this disk refuses are found before they are fetched")
def _(place):
    for key in ("gone", "kept"):
        place.put(key, OTHER)
    place.in_step(place.pull())
    place.delete("gone")
    long = "n" * 150
    odd = {"a:b": NEW, "d:e/inner": OLD, "what?": LARGE, long: FRESH}
    for key, content in odd.items():
        place.put(key, content)
    if not pretending(place, names=":?", longest="143"):
        return
    place.server.forget_requests()
    result = place.pull("--delete")
    equal((result.status, result.count("skipped"), result.count("deleted")), (1, 4, 1),
          f"the end of {result}")
    equal(place.requests("GetObject"), [], "content that was asked for")
    for key in odd:
        expect("on this disk" in result.said(key) and "--exclude" in result.said(key),
               f"what was said of {key}: {result.said(key)}")
    equal(place.tree(), {"kept": OTHER}, "the tree")
    equal(os.listdir(place.path(".osssync/partial")), [], "temporary files")
    # On another disk they are names like any other.
    place.environment = {}
    place.in_step(place.pull())
    equal(place.tree(), {"kept": OTHER, **odd}, "the tree on another disk")


@case("F277", "what may not be written is found before it is fetched")
def _(place):
    for key in ("closed/old", "open"):
        place.put(key, OLD)
    place.in_step(place.pull())
    for key in ("closed/old", "closed/new", "closed/deep/new", "open"):
        place.put(key, NEW)
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.chmod(place.path("closed"), 0o500)
    place.server.forget_requests()
    try:
        result = under(place, wrapper, "pull")
        equal((result.status, result.count("failed"), result.count("transferred")), (1, 3, 1),
              f"the end of {result}")
        equal([request["key"] for request in place.requests("GetObject")],
              [f"{place.prefix}/open"], "content that was asked for")
    finally:
        os.chmod(place.path("closed"), 0o700)
    place.in_step(under(place, wrapper, "pull"))


@case("F278", "on a full disk nothing is fetched that has no room")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    disk.memory(place.directory, "size=6m")
    names = [f"f{number:02}" for number in range(60)]
    for name in names:
        place.put(name, ramp(200_000, 5))
    result = disk.run("pull")
    equal(len(warnings(result, "too little")), 1, f"warnings of {result}")
    fetched = len(place.requests("GetObject"))
    there = len(disk.tree())
    expect(there >= 5, f"{there} files are there after {result}")
    expect(fetched <= there + 2, f"{fetched} were fetched for {there} files")
    place.server.forget_requests()
    result = disk.run("pull")
    expect(result.status in (1, 5), f"the end of {result}")
    fetched = len(place.requests("GetObject"))
    expect(fetched <= len(disk.tree()) - there + 1, f"the second run fetched {fetched}")
    free = os.statvfs(f"/proc/{disk.holder.pid}/root{place.directory}")
    expect(free.f_bavail * free.f_frsize >= 100_000, "some room is left for the manifest")
    disk.mount("-o", "remount,size=40m", place.directory)
    place.in_step(disk.run("pull"))


@case("F321", "permissions of directories that cannot be restored are told once")
def _(place):
    for key, mode in {"a/": "40700", "b/": "40710", "c/": "40755"}.items():
        place.put(key, b"", {"x-oss-meta-mode": mode})
        place.put(key + "f", OLD)
    if not pretending(place, nomodes="1"):
        return
    result = place.in_step(place.pull())
    told_once(place, result, "permissions", "cannot be set")
    place.environment = {}
    place.server.forget_requests()
    place.in_step(under(place, ["env"], "sync"))
    equal(place.requests("CopyObject"), [], "permissions that nobody chose")
    # With fewer than the bucket has, because of the umask.
    place.directory += "-other"
    result = place.in_step(under(place, ["sh", "-c", 'umask 077; exec "$0" "$@"'], "pull"))
    told_once(place, result, "umask")
    found = [os.stat(place.path(name)).st_mode & 0o777 for name in ("a", "b", "c")]
    equal(found, [0o700, 0o700, 0o700], "the permissions")


@case("F330", "an object that begins anew on a nearly full disk does not wait for its own room")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    disk.memory(place.directory, "size=6m")
    place.put("first", ramp(1_000, 1))
    place.in_step(disk.run("pull"))
    with disk.inside():
        status = os.statvfs(place.directory)
        # Room for the manifest, for what always stays free and for the object, and not for two.
        room = (256 << 10) + 350_000
        place.write("filler", b"x" * (status.f_bavail * status.f_frsize - room))
    place.put("second", ramp(200_000, 2))
    place.faults(place.fault("GetObject", {"flip": 100}, "second", first=1))
    place.in_step(disk.run("pull"))
    equal(len(place.requests("GetObject", "second")), 2, "how often it was fetched")
