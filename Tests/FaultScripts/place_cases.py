"""Rows F172, F173, F182 and F193: where the directory, its disks and its state are."""

import os
import shutil

from case_table import case, equal, expect
from machine import Disk, Running, pretending
from scenes import OTHER
from stage import ramp

FATES = {
    "is removed": lambda path: shutil.rmtree(path),
    "is moved away": lambda path: os.rename(path, path + ".away"),
    "is replaced by a copy of itself": lambda path: replace(path),
}


def replace(path):
    os.rename(path, path + ".away")
    shutil.copytree(path + ".away", path)


@case("F172", "a directory that goes away while the run looks at the objects deletes none of them")
def _(place):
    for fate, happens in FATES.items():
        for index in range(40):
            place.write(f"f{index:02}", ramp(100, index))
        place.in_step(place.push())
        for index in range(15):
            os.remove(place.path(f"f{index:02}"))
        # The second listing is the look right before the deletions.
        place.faults(place.fault("ListObjectsV2", {"hold": True}, **{"from": 2}))
        running = Running(place, "push", "--delete")
        running.until_planned()
        happens(place.directory)
        place.faults()
        result = running.finish()
        equal(result.status, 3, f"a directory that {fate}: {result}")
        expect("moved, replaced or removed during the run" in result.error["message"], f"{result}")
        equal(result.count("deleted"), 0, f"deletions of {result}")
        for index in range(40):
            equal(place.get(f"f{index:02}"), ramp(100, index), f"the object f{index:02}")
        for path in (place.directory, place.directory + ".away"):
            shutil.rmtree(path, ignore_errors=True)


def volumes(place, disk):
    """A directory beneath which other things are mounted: the paths at which they are."""
    outside = os.path.join(place.folder, "outside")
    os.makedirs(outside)
    for index in range(6):
        with open(os.path.join(outside, f"photo{index}.jpg"), "wb") as file:
            file.write(ramp(300, index))
    with open(os.path.join(outside, "one.txt"), "wb") as file:
        file.write(ramp(200, 9))
    place.write("kept", ramp(100))
    place.write("single.txt", b"")
    os.makedirs(place.path("photos"))
    disk.mount("--bind", outside, place.path("photos"))
    disk.mount("--bind", os.path.join(outside, "one.txt"), place.path("single.txt"))
    return ["photos", "single.txt"]


@case("F173", "what is merely not mounted is not deleted, be it a directory or file of this very disk")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    paths = volumes(place, disk)
    place.in_step(disk.run("push"))
    objects = {f"photos/photo{index}.jpg": ramp(300, index) for index in range(6)}
    objects["single.txt"] = ramp(200, 9)
    for path in paths:
        disk.unmount(place.path(path))
    for command, *options in (("push", "--delete", "--max-delete", "100%"),
                              ("sync", "--delete", "--max-delete", "100%"),
                              ("push", "--delete=extra", "--max-delete", "100%"), ("pull",)):
        result = disk.run(command, *options)
        equal((result.status, result.count("deleted"), result.count("transferred")), (1, 0, 0),
              f"{command}: {result}")
        for path in paths:
            expect("was a mount point in the last run" in result.said(path), f"{result}")
        for key, content in objects.items():
            equal(place.get(key), content, f"the object {key} after {command}")
    disk.mount("--bind", os.path.join(place.folder, "outside"), place.path("photos"))
    disk.mount("--bind", os.path.join(place.folder, "outside", "one.txt"), place.path("single.txt"))
    result = place.in_step(disk.run("push", "--delete"))
    equal((result.count("deleted"), result.count("transferred")), (0, 0), f"{result}")


@case("F173", "of a hundred mounts each is remembered")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    names = [f"volume{index:03}" for index in range(100)]
    for name in names:
        disk.memory(place.path(name), "size=64k")
    with disk.inside() as seen:
        for name in names:
            seen.write(f"{name}/f", name.encode())
    place.in_step(disk.run("push"))
    gone = names[::3]
    for name in gone:
        disk.unmount(place.path(name))
    result = disk.run("push", "--delete")
    equal((result.status, result.count("deleted"), result.count("skipped")), (1, 0, len(gone)),
          f"{result}")
    for name in names:
        equal(place.get(f"{name}/f"), name.encode(), f"the object {name}/f")
    # Who says that they are gone on purpose is believed.
    result = disk.run("push", "--delete", "--rebind")
    equal((result.status, result.count("deleted")), (0, len(gone)), f"{result}")


@case("F182", "a state that is another mount of the same file system serves for everything")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    for name in ("data", "state"):
        os.makedirs(os.path.join(place.folder, "volume", name))
    state = os.path.join(place.folder, "state")
    os.makedirs(state)
    os.makedirs(place.directory)
    disk.mount("--bind", os.path.join(place.folder, "volume", "data"), place.directory)
    disk.mount("--bind", os.path.join(place.folder, "volume", "state"), state)
    tree = {"f": ramp(70_000), "d/g": ramp(500, 1), "gone": ramp(30, 2)}
    for key, content in tree.items():
        place.put(key, content)
    place.in_step(disk.run("pull", "--state-dir", state))
    equal(disk.tree(), tree, "the tree")
    place.put("f", ramp(80_000, 5))
    place.delete("gone")
    result = place.in_step(disk.run("pull", "--delete", "--state-dir", state))
    equal((result.count("transferred"), result.count("deleted")), (1, 1), f"{result}")
    equal(disk.tree(), {"f": ramp(80_000, 5), "d/g": ramp(500, 1)}, "the tree")


@case("F193", "where inode numbers change with the mount no file is read for that, and renames are seen")
def _(place):
    for index in range(3):
        place.write(f"f{index}", ramp(2_000, index))
    place.write("large", ramp(1 << 20))
    if not pretending(place, fuse="1", inodes="0"):
        return
    place.in_step(place.push())
    # What is read would be found to be another content of the same size and time.
    status = os.stat(place.path("f1"))
    place.write("f1", ramp(2_000, 7))
    os.utime(place.path("f1"), ns=(status.st_atime_ns, status.st_mtime_ns))
    pretending(place, fuse="1", inodes="1000000")
    for command in (place.push, place.pull):
        result = place.in_step(command())
        equal((result.count("transferred"), result.count("unchanged")), (0, 4), f"{result}")
        said = [line["message"] for line in result.all("warning")]
        expect(not any("does not match the last run" in text for text in said), f"said: {said}")
    # A new name is found by the content, under whatever number.
    os.rename(place.path("large"), place.path("renamed"))
    pretending(place, fuse="1", inodes="2000000")
    result = place.in_step(place.push("--delete"))
    equal((result.count("renamed"), result.count("transferred"), result.count("deleted")),
          (1, 0, 0), f"{result}")
    equal(place.push("--checksum").count("damaged"), 1, "what a look finds")


@case("F193", "where fractions of times and inode numbers are lost later, no file is read for that")
def _(place):
    for index in range(3):
        place.write(f"f{index}", ramp(2_000, index))
        os.utime(place.path(f"f{index}"), ns=(10 ** 18, 10 ** 18 + 123_456_789))
    place.put("there", ramp(900), {"x-oss-meta-mtime": "1700000000.987654321"})
    if not pretending(place, lustre="1"):
        return
    place.pull()
    place.in_step(place.push())
    # A server forgets what a client still knows; what is read now would be another content.
    for index in range(3):
        place.write(f"f{index}", ramp(2_000, 7))
        os.utime(place.path(f"f{index}"), ns=(10 ** 18, 10 ** 18 + 123_456_789))
    pretending(place, lustre="1", seconds="1", inodes="1000000")
    for command in (place.push, place.pull):
        result = place.in_step(command())
        equal((result.count("transferred"), result.count("adopted"), result.count("unchanged")),
              (0, 0, 4), f"{result}")
    os.utime(place.path("f1"), ns=(10 ** 18, 10 ** 18 + 10 ** 9))
    equal(place.in_step(place.push()).count("transferred"), 1, "what another second is seen by")
    expect(os.stat(place.path("there")).st_mtime_ns == 1_700_000_000 * 10 ** 9, "the time set")


@case("F173", "another disk at a mount point, or a new one over files, deletes and replaces nothing")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    first, second = (os.path.join(place.folder, name) for name in ("first", "second"))
    for folder in (first, second):
        os.makedirs(folder)
    for name in ("plain/a", "plain/b", "kept"):
        place.write(name, OTHER)
    os.makedirs(place.path("photos"))
    for name, content in (("diary", b"newest"), ("thursday", OTHER)):
        with open(os.path.join(first, name), "wb") as file:
            file.write(content)
    with open(os.path.join(second, "diary"), "wb") as file:
        file.write(b"older")
    disk.mount("--bind", first, place.path("photos"))
    place.in_step(disk.run("push"))
    disk.unmount(place.path("photos"))
    disk.mount("--bind", second, place.path("photos"))
    for number in range(3):
        for command in ("push", "sync"):
            result = disk.run(command, "--delete", *(["--on-conflict", "skip"] if number else []))
            equal(result.count("deleted"), 0, f"deletions of {result}")
            equal((place.get("photos/diary"), place.get("photos/thursday")), (b"newest", OTHER),
                  f"the objects after {result}")
            if number == 0 and command == "push":
                expect(any("a different disk or mount" in line["message"]
                           for line in result.all("warning")), f"warnings of {result}")
    disk.memory(place.path("plain"), "size=1m")
    for _ in range(2):
        result = disk.run("push", "--delete")
        equal(result.count("deleted"), 0, f"deletions of {result}")
        equal((place.get("plain/a"), place.get("plain/b")), (OTHER, OTHER), f"after {result}")
    disk.unmount(place.path("plain"))
    disk.run("sync")
    equal((place.get("plain/a"), place.tree()["plain/a"]), (OTHER, OTHER), "both sides in the end")


@case("F173", "which disk is mounted is known from a run that came to its paths only, or was stopped")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    first, second = (os.path.join(place.folder, name) for name in ("first", "second"))
    for folder in (first, second):
        os.makedirs(folder)
    names = ("diary", "monday", "tuesday")
    for name in names:
        with open(os.path.join(first, name), "wb") as file:
            file.write(OTHER)
    with open(os.path.join(second, "diary"), "wb") as file:
        file.write(b"older")
    os.makedirs(place.path("photos"))
    os.makedirs(place.path("films"))
    place.write("z", OTHER)
    place.in_step(place.push())
    for folder, options in (("photos", ["photos"]),
                            ("films", ["--max-transfer", "1", "--jobs", "1"])):
        disk.mount("--bind", first, place.path(folder))
        equal(disk.run("push", *options).status, 0, f"the push with {options}")
        for name in names[1:]:
            place.put(f"{folder}/{name}", OTHER)
        disk.unmount(place.path(folder))
        disk.mount("--bind", second, place.path(folder))
        sent = {name: place.get(f"{folder}/{name}") for name in names[1:]}
        result = disk.run("push", "--delete")
        equal(result.count("deleted"), 0, f"deletions of {result}")
        expect(any("a different disk or mount" in line["message"]
                   for line in result.all("warning")), f"warnings of {result}")
        for name, content in sent.items():
            equal(place.get(f"{folder}/{name}"), content, f"{folder}/{name} after {result}")
        disk.unmount(place.path(folder))
        disk.run("push", "--rebind")
