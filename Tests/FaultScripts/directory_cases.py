"""Rows F170, F179, F197 and F200: which directory and which state a run has before it."""

import contextlib
import os
import re
import shutil
import subprocess

from case_table import case, equal, expect
from machine import Disk, stranger, under
from scenes import FRESH, NEW, OLD, OTHER
from stage import BUCKET, ramp


def copy(source, target):
    subprocess.run(["cp", "-a", source, target], check=True, timeout=60)


def state_of(place):
    return os.path.join(place.folder, "state")


def worked(place):
    """A mirror with its state elsewhere, a backup of the directory, and a week of work."""
    options = ["--state-dir", state_of(place), "--delete"]
    for name in ("doc", "d/other", "same"):
        place.write(name, OLD)
    place.in_step(place.run("sync", *options))
    backup = os.path.join(place.folder, "backup")
    copy(place.directory, backup)
    place.write("doc", NEW)
    place.write("d/other", NEW)
    place.write("made", FRESH)
    place.in_step(place.run("sync", *options))
    return backup, options


def nothing_is_lost(place, options):
    """Neither the first nor a later run sends what is old over what is new, or deletes any."""
    for number in range(3):
        for command in ("push", "sync", "pull"):
            result = place.run(command, *options)
            equal(result.count("deleted"), 0, f"deletions of {result}")
            equal([place.get(key) for key in ("doc", "d/other", "made")], [NEW, NEW, FRESH],
                  f"the objects after {result}")
            if number == 0 and command == "push":
                equal(result.count("conflicts"), 2, f"conflicts of {result}")
    found = place.tree()
    equal((found["doc"], found["made"], found["same"]), (NEW, FRESH, OLD), "the files at last")
    equal(list(found.values()).count(OLD), 3, f"the old versions that were kept: {found.keys()}")


@case("F170", "a backup that is restored onto a new disk replaces no newer object")
def _(place):
    backup, options = worked(place)
    os.rename(place.directory, place.directory + ".broken")
    copy(backup, place.directory)
    nothing_is_lost(place, options)


@case("F170", "a directory that is rolled back in place replaces and deletes no newer object")
def _(place):
    backup, options = worked(place)
    for name in os.listdir(place.directory):
        path = place.path(name)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    copy(backup + "/.", place.directory)
    nothing_is_lost(place, options)


@case("F170", "a state that is copied into another directory sends nothing over newer objects")
def _(place):
    for name in ("README.md", "index.html"):
        place.write(name, NEW)
    place.in_step(place.run("sync", "--delete"))
    state = place.path(".osssync")
    other = place.directory + ".other"
    os.mkdir(other)
    copy(state, other)
    place.directory = other
    place.write("README.md", OLD)
    result = place.run("sync", "--delete")
    equal((result.count("conflicts"), result.count("deleted")), (1, 0), f"the end of {result}")
    equal([place.get(key) for key in ("README.md", "index.html")], [NEW, NEW], "the objects")
    place.run("push", "--delete")
    equal(place.get("README.md"), NEW, "the object after a later run")


@case("F179", "a second remote with a state of its own leaves both their guards")
def _(place):
    second = ["--state-dir", state_of(place)]

    def push(to_second, *options):
        if not to_second:
            return place.run("push", "--delete", *options)
        return place.start("push", place.directory, f"oss://{BUCKET}/{place.prefix}-two", "--json",
                           "--delete", *second, *options)

    for name in ("a", "b", "c", "d"):
        place.write(name, OTHER)
    for to_second in (False, True):
        place.in_step(push(to_second))
    for name in ("a", "b"):
        os.remove(place.path(name))
        for to_second in (False, True):
            result = push(to_second)
            place.in_step(result)
            equal(result.count("deleted"), 1, f"deletions of {result}")
            expect("does not match the last run" not in result.output, f"what was said: {result}")
    # The state that lies elsewhere takes no empty mount point for the directory.
    os.rename(place.directory, place.directory + ".away")
    os.mkdir(place.directory)
    result = push(True)
    equal(result.status, 3, f"the exit status of {result}")


@case("F197", "a directory on a read-only disk is sent, and a pull into it says what is wrong")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    disk.memory(place.directory, "size=20m")
    with disk.inside() as seen:
        seen.write("one", OLD)
        seen.write("d/two", NEW)
    disk.mount("-o", "remount,ro", place.directory)
    options = ["--state-dir", state_of(place)]
    for transferred in (2, 0):
        result = disk.run("push", "--delete", *options)
        place.in_step(result)
        equal(result.count("transferred"), transferred, f"what {result} sent")
        equal(result.all("warning"), [], f"warnings of {result}")
    equal([place.get(key) for key in ("one", "d/two")], [OLD, NEW], "the objects")
    place.put("three", FRESH)
    place.server.forget_requests()
    for command in ("pull", "sync"):
        result = disk.run(command, *options)
        equal(result.status, 5, f"the exit status of {result}")
        said = result.error["message"]
        expect("read-only" in said and place.directory in said and "--state-dir" not in said,
               f"what was said: {said}")
    equal(place.requests("GetObject"), [], "content that was asked for")
    equal(disk.alone("status", *options).status, 0, "the exit status of status")
    disk.mount("-o", "remount,rw", place.directory)
    place.in_step(disk.run("pull", *options))
    with disk.inside() as seen:
        os.remove(seen.path("one"))
    result = disk.run("push", "--delete", *options)
    equal(result.count("deleted"), 1, f"deletions of {result}")


def fill(disk):
    """Takes the last room and the last inode of the disk."""
    with disk.inside() as seen:
        number = 0
        for unit in (64 << 10, 1):
            with contextlib.suppress(OSError):
                while True:
                    seen.write(f"fill/{number}", ramp(unit))
                    number += 1


@case("F197", "a directory on a full disk is sent, and a pull into it says what is wrong")
def _(place):
    if not Disk.is_possible():
        return
    options = ["--state-dir", state_of(place)]
    for limit in ("size=2m", "size=20m,nr_inodes=60"):
        for has_marker in (False, True):
            disk = Disk(place)
            disk.memory(place.directory, limit)
            if has_marker:
                place.in_step(disk.run("push", *options))
            with disk.inside() as seen:
                seen.write("d/one", OLD)
            fill(disk)
            sent = place.in_step(disk.run("push", *options)).count("transferred")
            expect(sent > 5, f"files sent: {sent}")
            result = place.in_step(disk.run("push", *options))
            equal(result.count("transferred"), 0, f"what {result} sent")
            place.put("three", FRESH)
            for command in ("pull", "sync"):
                result = disk.run(command, *options)
                equal(result.status, 1 if has_marker else 5, f"the exit status of {result}")
                said = result.said("three") if has_marker else result.error["message"]
                expect(re.search("disk is full|no free inodes", said), f"what was said: {said}")
            with disk.inside() as seen:
                shutil.rmtree(seen.path("fill"))
            place.in_step(disk.run("sync", "--delete", "--max-delete", "100%", *options))
            equal(disk.tree(), {"d/one": OLD, "three": FRESH}, "the tree")
            disk.unmount(place.directory)
            shutil.rmtree(state_of(place))
            for key in ("d/one", "three"):
                place.delete(key)


@case("F197", "a state on a full disk keeps a push from beginning, and what is wrong is said")
def _(place):
    if not Disk.is_possible():
        return
    for has_state in (False, True):
        disk = Disk(place)
        disk.memory(place.directory, "size=2m")
        if has_state:
            place.in_step(disk.run("push"))
        with disk.inside() as seen:
            seen.write("one", OLD)
        fill(disk)
        result = disk.run("push")
        equal((result.status, place.get("one")), (5, None), f"the end of {result}")
        said = result.error["message"]
        expect("disk is full" in said or "no space is left" in said, f"what was said: {said}")
        with disk.inside() as seen:
            shutil.rmtree(seen.path("fill"))
        place.in_step(disk.run("push"))
        disk.unmount(place.directory)
        place.delete("one")


@case("F197", "a directory of another user is sent, and an empty one in its place is not believed")
def _(place):
    wrapper = stranger(place)
    if wrapper in (None, ["env"]):
        return
    place.write("one", OLD)
    place.write("d/two", NEW)
    os.chmod(place.directory, 0o755)
    options = ["--state-dir", state_of(place), "--delete"]
    result = under(place, wrapper, "push", *options)
    place.in_step(result)
    equal(os.path.exists(place.path(".osssync")), False, "something of ours in the directory")
    result = under(place, wrapper, "pull", *options)
    equal(result.status, 5, f"the exit status of {result}")
    expect(place.directory in result.error["message"], f"what was said: {result.error}")
    os.remove(place.path("one"))
    equal(under(place, wrapper, "push", *options).count("deleted"), 1, "deletions")
    os.rename(place.directory, place.directory + ".away")
    os.mkdir(place.directory, 0o755)
    result = under(place, wrapper, "push", *options)
    equal(result.status, 3, f"the exit status of {result}")
    equal(place.get("d/two"), NEW, "the object")


def state(place):
    found = {}
    for folder, _, files in os.walk(place.path(".osssync")):
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.relpath(os.path.join(folder, name), place.directory)] = file.read()
    return found


@case("F200", "a damaged manifest that is met by status or a dry run stays, and is reported")
def _(place):
    for name in ("1", "2", "3"):
        place.write(name, OTHER)
    place.in_step(place.push())
    place.write("1", b"edited here")
    place.delete("1")
    with open(place.path(".osssync/manifest.db"), "wb") as file:
        file.write(ramp(12_000))
    before = state(place)
    for status, result in (0, place.start("status", place.directory, "--json")), \
            (1, place.pull("-n", "--delete=extra")):
        equal(result.status, status, f"the exit status of {result}")
        expect("could not be used" in result.output, f"no word on the damage: {result.output}")
        equal(state(place), before, f"the state after {result}")
    text = place.start("status", place.directory)
    expect("could not be used" in text.errors, f"no word on the damage: {text.errors}")
    for _ in range(2):
        result = place.pull("--delete=extra")
        equal((result.status, result.count("deleted")), (1, 0), f"the end of {result}")
        expect("--rebind" in result.summary["deletions_held_back"], f"what was said: {result}")
        equal(place.tree()["1"], b"edited here", "the file that was edited")
    result = place.pull("--delete=extra", "--rebind")
    equal((result.status, result.count("deleted")), (0, 1), f"the end of {result}")


@case("F128", "another remote is refused also where the manifest was lost")
def _(place):
    place.write("secret", NEW)
    place.in_step(place.push())
    for damage in (lambda path: open(path, "wb").close(), os.remove):
        damage(place.path(".osssync/manifest.db"))
        place.server.forget_requests()
        for command in ("push", "pull", "sync"):
            result = place.start(command, place.directory, f"oss://{BUCKET}/{place.prefix}-other",
                                 "--json")
            equal(result.status, 3, f"the exit status of {result}")
        equal(place.requests(), [], "what was asked of another remote")
        place.in_step(place.push())
