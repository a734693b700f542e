"""Rows F070 to F076, and F097: disks that are full, read-only or closed."""

import os
import re

from case_table import case, equal, expect
from machine import Disk, stranger, under
from scenes import FRESH, NEW, OLD, OTHER, pulled
from stage import ramp


def small_disk(place, options):
    """A mirror in step on a small disk, and changes that do not fit."""
    disk = Disk(place)
    disk.memory(place.directory, options)
    for key, content in {"victim": OLD, "gone": OTHER, "kept": OTHER}.items():
        place.put(key, content)
    place.in_step(disk.run("pull"))
    place.delete("gone")
    return disk


def grown(place, disk, options, tree):
    """With room, one run is enough."""
    disk.mount("-o", "remount," + options, place.directory)
    place.in_step(disk.run("pull", "--delete"))
    equal(disk.tree(), tree, "the tree on the larger disk")


@case("F070", "a disk that is full keeps what it has, and the run goes on when there is room")
def _(place):
    if not Disk.is_possible():
        return
    disk = small_disk(place, "size=2m")
    place.put("victim", ramp(3_000_000))
    place.put("other", NEW)
    result = disk.run("pull", "--delete")
    # What has no room is no doubt of what is to go.
    equal((result.status, result.count("deleted")), (1, 1), f"exit and deletions of {result}")
    said = result.said("victim")
    expect("disk is full" in said and "2.9 MiB are needed" in said
           and re.search(r"[0-9]+ MiB are free", said), f"what was said: {said} {result}")
    found = disk.tree()
    equal([found["victim"], found.get("gone"), found["kept"]], [OLD, None, OTHER], "what is there")
    grown(place, disk, "size=20m", {"victim": ramp(3_000_000), "other": NEW, "kept": OTHER})


@case("F071", "a disk without inodes is said to lack them")
def _(place):
    if not Disk.is_possible():
        return
    disk = small_disk(place, "size=20m,nr_inodes=40")
    names = [f"f{number}" for number in range(50)]
    for name in names:
        place.put(name, OTHER)
    result = disk.run("pull", "--delete")
    equal((result.status, result.count("deleted"), disk.tree().get("gone")), (5, 1, None),
          f"exit and deletions of {result}")
    texts = [line.get("error", "") for line in result.all("item")]
    texts.append(result.error.get("message", ""))
    expect(any("inode" in text for text in texts), f"no word on inodes: {result} {texts[-3:]}")
    equal(disk.tree()["victim"], OLD, "the victim")
    grown(place, disk, "nr_inodes=1000",
          {**dict.fromkeys(names, OTHER), "victim": OLD, "kept": OTHER})


@case("F074", "a disk that cannot be written to ends the run before it asks for content")
def _(place):
    if not Disk.is_possible():
        return
    disk = small_disk(place, "size=20m")
    place.put("victim", NEW)
    disk.mount("-o", "remount,ro", place.directory)
    place.server.forget_requests()
    result = disk.run("pull", "--delete")
    equal(result.status, 5, f"the exit status of {result}")
    expect("ead-only" in result.error["message"], f"what was said: {result}")
    equal(place.requests("GetObject"), [], "content that was asked for")
    equal(disk.tree()["victim"], OLD, "the victim")
    grown(place, disk, "rw", {"victim": NEW, "kept": OTHER})


@case("F076", "another disk within the mirror is named, and the rest is done")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    os.mkdir(place.directory)
    disk.memory(place.path("mounted"), "size=20m")
    place.put("mounted/victim", NEW)
    place.put("other", OTHER)
    for _ in range(2):
        result = disk.run("pull", "--delete")
        equal(result.status, 1, f"the exit status of {result}")
        said = result.said("mounted/victim")
        expect("file system" in said or "mount" in said, f"what was said: {said}")
        equal(disk.tree(), {"other": OTHER}, "the tree")


@case("F165", "a disk that is no longer mounted within the mirror is not what the user deleted")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    os.mkdir(place.directory)
    disk.memory(place.path("mounted"), "size=20m")
    with disk.inside() as seen:
        for name in ("mounted/one", "mounted/d/two", "other", "third", "fourth"):
            seen.write(name, NEW)
    place.in_step(disk.run("push"))
    disk.unmount(place.path("mounted"))
    for command in ("push", "sync", "pull"):
        result = disk.run(command, "--delete")
        equal((result.status, result.count("deleted"), result.count("transferred")), (1, 0, 0),
              f"the end of {result}")
        expect("was a mount point" in result.said("mounted"), f"what was said: {result}")
    equal(place.get("mounted/d/two"), NEW, "the object")
    place.in_step(disk.run("pull", "--rebind"))
    equal(disk.tree()["mounted/d/two"], NEW, "the file, its disk being gone on purpose")


@case("F126", "what a copy on another disk lacks is not what the user deleted")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    disk.memory(place.directory, "size=20m")
    with disk.inside() as seen:
        for number in range(10):
            seen.write(f"f{number}", ramp(100 + number))
    place.in_step(disk.run("push"))
    disk.memory(os.path.join(place.folder, "copy"), "size=20m")
    disk.command("cp", "-a", place.path(".osssync"), place.path("f1"), place.path("f2"),
                 os.path.join(place.folder, "copy"))
    disk.mount("--move", os.path.join(place.folder, "copy"), place.directory)
    for _ in range(2):
        result = disk.run("push", "--delete")
        equal(result.count("deleted"), 0, f"deletions of {result}")
    for number in range(10):
        equal(place.get(f"f{number}"), ramp(100 + number), f"the object f{number}")
    place.in_step(disk.run("pull"))
    equal(len(disk.tree()), 10, "files of the new disk")
    with disk.inside() as seen:
        os.remove(seen.path("f3"))
    place.in_step(disk.run("push", "--delete"))
    equal(place.get("f3"), None, "the object that was deleted on the new disk")


@case("F075", "what permissions forbid is reported, and never changed to get through")
def _(place):
    tree = pulled(place)
    place.put("closed/inner", OLD)
    place.in_step(place.pull())
    place.put("closed/inner", NEW)
    place.put("victim", ramp(88))
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.chmod(place.path("closed"), 0o500)
    try:
        result = under(place, wrapper, "pull", "--delete")
        equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 1),
              f"the end of {result}")
        expect("ermission" in result.said("closed/inner"), f"what was said: {result}")
        equal(os.stat(place.path("closed")).st_mode & 0o7777, 0o500, "the directory's mode")
        equal(place.tree()["closed/inner"], OLD, "the file in the closed directory")
        equal(place.tree()["victim"], ramp(88), "the victim")
    finally:
        os.chmod(place.path("closed"), 0o700)
    place.in_step(under(place, wrapper, "pull", "--delete"))
    equal(place.tree(), {"victim": ramp(88), "other": FRESH, "kept": OTHER, "closed/inner": NEW},
          f"the tree of {sorted(tree)} and the closed one")


@case("F075", "state that may not be written ends the run before any transfer")
def _(place):
    pulled(place)
    wrapper = stranger(place)
    if wrapper is None:
        return
    state = place.path(".osssync")
    os.chmod(state, 0o500)
    os.chmod(os.path.join(state, "manifest.db"), 0o400)
    result = under(place, wrapper, "pull", "--delete")
    equal(result.status, 5, f"the exit status of {result}")
    equal(place.requests("GetObject"), [], "content that was asked for")
    equal(place.tree()["gone"], OTHER, "what would have been deleted")


@case("F097", "a directory that may not be read deletes nothing beneath it in the remote")
def _(place):
    for name in ("closed/inner", "a", "z"):
        place.write(name, OTHER)
    place.in_step(place.push())
    os.remove(place.path("z"))
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.chmod(place.path("closed"), 0)
    try:
        result = under(place, wrapper, "push", "--delete")
    finally:
        os.chmod(place.path("closed"), 0o700)
    equal((result.status, result.count("deleted")), (1, 1), f"the end of {result}")
    equal([place.get(key) for key in ("closed/inner", "a", "z")], [OTHER, OTHER, None], "the objects")
    place.in_step(under(place, wrapper, "push", "--delete"))


@case("F074", "a directory that this user may not write to is named, with what can be done")
def _(place):
    wrapper = stranger(place)
    if wrapper is None or os.getuid() != 0:
        return
    place.write("a", OTHER)
    os.chown(place.directory, 0, 0)
    state = ["--state-dir", place.path("../state")]
    refused = under(place, wrapper, "push")
    expect(all(word in refused.errors for word in (place.directory, "--state-dir")), f"{refused}")
    equal(refused.status, 5, f"the exit status of {refused}")
    place.in_step(under(place, wrapper, "push", *state))
    refused = under(place, wrapper, "pull", *state)
    equal(refused.status, 5, f"the exit status of {refused}")
    expect("belongs to" not in refused.errors and "only a push" in refused.errors, f"{refused}")


@case("F074", "the status of a mirror on a disk that cannot be written to is told")
def _(place):
    if not Disk.is_possible():
        return
    disk = small_disk(place, "size=20m")
    place.put("other", OTHER)
    disk.mount("-o", "remount,ro", place.directory)
    result = disk.alone("status", "--json")
    equal(result.status, 0, f"the exit status of {result}")
    expect('"transfers": 1' in result.output or '"transfers":1' in result.output,
           f"what a pull would do: {result.output}")
    refused = disk.alone("cancel")
    equal(refused.status, 5, f"the exit status of {refused}")
    expect("read-only" in refused.errors, f"what was said: {refused}")
