"""Row F183: renames and exchanges on a disk that has no room for both."""

import os

from case_table import case, equal, expect
from machine import Disk
from scenes import OTHER
from stage import ramp

FILM = 35 << 20


def library(place, **files):
    """A mirror in step on a disk of 60 MiB."""
    disk = Disk(place)
    disk.memory(place.directory, "size=60m")
    for name, content in files.items():
        place.put(name, content)
    place.put("kept", OTHER)
    place.in_step(disk.run("pull"))
    return disk


def inode(disk, name):
    with disk.inside() as seen:
        return os.stat(seen.path(name)).st_ino


@case("F183", "a file that was renamed in the bucket is renamed on the disk, without room for two")
def _(place):
    if not Disk.is_possible():
        return
    film = ramp(FILM, 1)
    disk = library(place, film=film)
    before = inode(disk, "film")
    for old, new in (("film", "a/2024/film"), ("a/2024/film", "z/film"), ("z/film", "b")):
        place.put(new, film)
        place.delete(old)
        place.server.forget_requests()
        for command in ("pull", "sync") if new == "b" else ("pull",):
            result = place.in_step(disk.run(command, "--delete", "--max-delete", "0"))
            done = 1 if command == "pull" else 0
            equal((result.count("renamed"), result.count("deleted"), result.count("bytes")),
                  (done, 0, 0), f"the counts of {result}")
        equal(disk.tree(), {new: film, "kept": OTHER}, "the tree")
        equal(inode(disk, new), before, "the file")
        with disk.inside() as seen:
            equal(os.stat(seen.path(new)).st_nlink, 1, "names of the file")
            expect(not os.path.exists(seen.path(os.path.dirname(old) or "x")), "an empty directory")
        equal(place.requests("GetObject"), [], "content that was asked for")


@case("F183", "a file is renamed only where its own object is gone, and copied otherwise")
def _(place):
    content = ramp(3 << 20, 1)
    place.put("old", content)
    place.put("kept", OTHER)
    place.in_step(place.pull())
    place.put("copy", content)
    result = place.in_step(place.pull("--delete"))
    equal((result.count("renamed"), result.count("bytes")), (1, 0), f"a copy: {result}")
    equal(place.tree(), {"old": content, "copy": content, "kept": OTHER}, "the tree")
    place.put("new", content)
    place.put("second", content)
    place.delete("old")
    place.delete("copy")
    result = place.in_step(place.pull())
    equal((result.count("renamed"), result.count("deleted")), (2, 0), f"no --delete: {result}")
    equal(len(place.tree()), 5, "files")
    result = place.in_step(place.pull("--delete"))
    equal(result.count("deleted"), 2, f"deletions: {result}")
    equal(place.tree(), {"new": content, "second": content, "kept": OTHER}, "the tree")


@case("F183", "an old film goes and a new one comes where only one of them fits")
def _(place):
    if not Disk.is_possible():
        return
    old, new = ramp(FILM, 1), ramp(FILM, 2)
    disk = library(place, old=old)
    place.put("new", new)
    place.delete("old")
    result = disk.run("pull")
    equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 0), str(result))
    expect("disk is full" in result.said("new") and "kept" not in result.said("new"),
           f"what was said: {result.said('new')}")
    result = place.in_step(disk.run("pull", "--delete"))
    equal((result.count("deleted"), result.count("transferred")), (1, 1), f"the counts of {result}")
    equal(disk.tree(), {"new": new, "kept": OTHER}, "the tree")
    said = [line["message"] for line in result.all("warning")]
    expect(any("removed the trash of the run" in text and "35.0 MiB" in text for text in said),
           f"what was said of the trash: {said}")


@case("F183", "a version that a user made stays in the trash of the run that replaced it")
def _(place):
    if not Disk.is_possible():
        return
    for edit, object_of in ((ramp(FILM, 3), None), (ramp(9 << 20, 4), ramp(1000, 5))):
        disk = library(place, film=ramp(len(edit), 1))
        with disk.inside() as seen:
            with open(seen.path("film"), "wb") as file:
                file.write(edit)
        place.delete("film")
        if object_of:
            place.put("film", object_of)
        place.put("new", ramp(FILM + (20 << 20 if object_of else 0), 2))
        result = disk.run("pull", "--delete", "--on-conflict", "remote", "--jobs", "1")
        equal((result.status, result.count("failed")), (1, 1), f"the end of {result}")
        expect("disk is full" in result.said("new"), f"what was said: {result.said('new')}")
        with disk.inside() as seen:
            kept = [os.path.join(folder, name)
                    for folder, _, names in os.walk(seen.path(".osssync/trash")) for name in names]
            equal([open(path, "rb").read() for path in kept], [edit], "what the trash holds")
        place.delete("new")
        disk.unmount(place.directory)


@case("F183", "no trash goes for what would not fit without it either")
def _(place):
    if not Disk.is_possible():
        return
    disk = library(place, gone=ramp(9 << 20, 1), again=ramp(1 << 20, 4))
    place.delete("gone")
    place.in_step(disk.run("pull", "--delete"))
    place.put("large", ramp(70 << 20, 2))
    place.delete("again")
    result = disk.run("pull", "--delete")
    equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 1), str(result))
    expect("trash contains 10.0 MiB, which --trash-days 0 frees" in result.said("large"),
           f"what was said: {result.said('large')}")
    with disk.inside() as seen:
        kept = [name for _, _, names in os.walk(seen.path(".osssync/trash")) for name in names]
    equal(sorted(kept), ["again", "gone"], "what the trash holds")


EPISODE = 4 << 20


def season(place):
    """A season that fills most of a disk of 60 MiB, renamed in the bucket, one file of it edited."""
    episodes = {f"{number:02}": ramp(EPISODE, number) for number in range(1, 13)}
    disk = library(place, **{f"season 1/{name}": content for name, content in episodes.items()})
    for name, content in episodes.items():
        place.put(f"season 01/{name}", content)
        place.delete(f"season 1/{name}")
    return disk, episodes


@case("F183", "one conflict in a renamed folder leaves only its own file where it was")
def _(place):
    if not Disk.is_possible():
        return
    for options in ([], ["--on-conflict", "skip"]):
        disk, episodes = season(place)
        edit = OTHER
        with disk.inside() as seen:
            with open(seen.path("season 1/03"), "wb") as file:
                file.write(edit)
        place.server.forget_requests()
        result = disk.run("pull", "--delete", *options)
        equal((result.status, result.count("conflicts"), result.count("failed")), (1, 1, 0),
              f"the end of {result}")
        equal(result.count("renamed"), 11, f"the counts of {result}")
        wanted = {f"season 01/{name}": content for name, content in episodes.items()}
        equal(disk.tree(), {**wanted, "season 1/03": edit, "kept": OTHER}, "the tree")
        equal({request["key"].split("/")[-1] for request in place.requests("GetObject")}, {"03"},
              "content that was asked for")
        disk.unmount(place.directory)
        place.delete("kept")
        for name in episodes:
            place.delete(f"season 01/{name}")


@case("F183", "a conflict at the new name of one file keeps no other from its new name")
def _(place):
    if not Disk.is_possible():
        return
    disk, episodes = season(place)
    with disk.inside() as seen:
        os.mkdir(seen.path("season 01"))
        with open(seen.path("season 01/03"), "wb") as file:
            file.write(OTHER)
    result = disk.run("pull", "--delete", "--on-conflict", "skip")
    equal((result.status, result.count("conflicts"), result.count("failed"),
           result.count("renamed")), (1, 1, 0, 11), f"the end of {result}")
    tree = disk.tree()
    wanted = {f"season 01/{name}": content for name, content in episodes.items()}
    equal(tree, {**wanted, "season 01/03": OTHER, "kept": OTHER}, "the tree")


@case("F183", "a dry run says what room is missing, and only where it is")
def _(place):
    if not Disk.is_possible():
        return

    def said():
        result = disk.run("pull", "--delete", "--dry-run")
        return [line["message"] for line in result.all("warning")
                if "enough space" in line["message"]]

    disk, episodes = season(place)
    equal(said(), [], "what is said of a renamed folder")
    place.put("film", ramp(FILM, 1))
    found = said()
    expect(len(found) == 1 and "35.0 MiB are needed" in found[0] and "too little" in found[0],
           f"what is said of a film: {found}")
    for name in episodes:
        place.delete(f"season 01/{name}")
    equal(said(), [], "what is said of a film in the place of a folder")
