"""Rows F232, F235 to F237 and F242: the state of a cut mirror, its mount, and cutting it."""

import os
import shutil
import time

from case_table import case, equal, expect
from machine import Disk, Running
from scenes import NEW
from shards import cut_mirror, done, ended, finish, says, state_file, task, without
from stage import ramp
from Support.files import read, write


def damages(text):
    """What becomes of a file that is cut short or altered."""
    yield b""
    yield text[:len(text) // 2]
    yield text[:-1]
    yield text + b"x"
    yield bytes(len(text))
    for at in range(0, len(text), max(1, len(text) // 6)):
        yield text[:at] + bytes([text[at] ^ 1]) + text[at + 1:]


@case("F235", "a damaged record of the cuts or of a round stops every run, and is named")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    done(place, "0/1", "one")
    for name in ("cuts", "rounds/one/begun"):
        path = state_file(place, name)
        text = read(path)
        place.server.forget_requests()
        for damage in damages(text):
            write(path, damage)
            for result in (finish(place, "one"), task(place, "0/4", "one"),
                           task(place, "1/4", "two"), place.pull("--delete"),
                           place.start("status", place.directory, "--json")):
                says(result, 5, f"'{name}'", "is damaged", "from a backup")
        equal((place.requests(), place.tree()), ([], tree), f"requests and tree without {name}")
        write(path, text)
    ended(place, "one", 1)


@case("F235", "a damaged result ends no round, and without it the shard is run again")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    done(place, "0/1", "one")
    path = state_file(place, "shards/*/0000/result")
    text = read(path)
    for damage in damages(text):
        write(path, damage)
        for result in (finish(place, "one"), task(place, "0/4", "one")):
            says(result, 5, "/0000/result'", "is damaged", "Remove it, and run the shard again")
        equal(place.tree(), tree, "the tree")
    place.in_step(task(place, "1/4", "one"))
    os.remove(path)
    equal(finish(place, "one").count("shards_missing"), ["0"], "the end without a result")
    done(place, "0/4", "one")
    ended(place, "one", 1)


@case("F235", "a damaged record of the end of a round allows no deletion")
def _(place):
    tree = cut_mirror(place, each=12)
    done(place, "0/1", "before")
    ended(place, "before", 0)
    of_another = read(state_file(place, "rounds/before/finished"))
    lost = [f"{shard}/f{number}" for shard in range(2) for number in range(12)]
    for key in lost:
        place.delete(key)
    done(place, "0/1", "one")
    path = place.path(".osssync/rounds/one/finished")
    for damage in (*damages(of_another), of_another):
        write(path, damage)
        says(finish(place, "one", "--max-delete", "1"), 5, "'rounds/one/finished'", "is damaged",
             "run 'osssync finish' again")
        equal(place.tree(), tree, "the tree")
    os.remove(path)
    says(finish(place, "one", "--max-delete", "1"), 3, "24 deletions", "the limit is 1")
    equal(place.tree(), tree, "the tree before the deletions")
    ended(place, "one", 24)
    equal(place.tree(), without(tree, *lost), "the tree")


@case("F235", "a damaged result of one shard does not change what tasks of others report")
def _(place):
    cut_mirror(place)
    done(place, "0/1", "one")
    write(state_file(place, "shards/*/0000/result"), b"")
    result = done(place, "1/4", "one")
    equal(result.count("shards_complete"), 1, f"what it did: {result}")


@case("F235", "a cut mirror whose record of cuts is missing is not run as a whole one")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    done(place, "0/1", "one")
    path = state_file(place, "cuts")
    text = read(path)
    os.remove(path)
    says(place.pull("--delete"), 5, "newer osssync")
    says(place.push("--delete"), 5, "newer osssync")
    for result in (task(place, "0/1", "one"), finish(place, "one")):
        expect(result.status in (2, 5), f"without the cuts: {result}")
    equal(place.tree(), tree, "the tree")
    equal([place.get(key) for key in tree if key != "0/f0"],
          [text for key, text in tree.items() if key != "0/f0"], "the objects")
    write(path, text)
    ended(place, "one", 1)


@case("F235", "a damaged or missing manifest of a shard is rebuilt without a wrong deletion")
def _(place):
    for damage in (b"", b"no database" * 900, None):
        place.prefix += "x"
        place.directory += "x"
        tree = cut_mirror(place)
        place.put("3/f1", NEW)
        place.delete("0/f0")
        path = state_file(place, "shards/*/0000/manifest.db")
        write(path, damage) if damage is not None else os.remove(path)
        result = place.pull("--delete")
        expect(result.status in (0, 1), f"a run with {damage and damage[:9]}: {result}")
        equal(place.tree(), {**tree, "3/f1": NEW}, "the tree")
        place.put("0/f0", tree["0/f0"])
        place.in_step(place.pull("--delete"))
        place.delete("0/f1")
        place.in_step(place.pull("--delete"))
        equal(place.tree(), without({**tree, "3/f1": NEW}, "0/f1"), "the tree at last")


def away(place):
    """Takes the disk of the directory away: what is left is an empty mount point."""
    os.rename(place.directory, place.directory + ".away")
    os.mkdir(place.directory)


def back(place):
    shutil.rmtree(place.directory)
    os.rename(place.directory + ".away", place.directory)


@case("F236", "a task on a machine without the mount ends with 3 and writes nothing")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    done(place, "0/1", "one")
    away(place)
    for command in ("pull", "push", "sync"):
        says(task(place, "0/4", "two", command=command), 3, "mount")
        says(place.start(command, place.directory, "--json", "--shard", "0/4", "--round", "two"), 3,
             "mount")
    for options in ([], ["--round", "one"]):
        says(place.start("finish", place.directory, "--json", *options), 3, "Is its disk mounted?")
    equal(os.listdir(place.directory), [], "what was written")
    back(place)
    equal(place.tree(), tree, "the tree")
    ended(place, "one", 1)


@case("F236", "with the state elsewhere every run of an unmounted mirror is refused")
def _(place):
    state = ["--state-dir", os.path.join(place.folder, "state")]
    tree = {f"f{number}": ramp(100 + number) for number in range(8)}
    for key, text in tree.items():
        place.put(key, text)
    place.in_step(place.pull(*state))
    equal(place.run("shard", "--count", "4", *state).status, 0, "the cutting")
    place.delete("f0")
    done(place, "0/1", "one", *state)
    away(place)
    for result in (task(place, "0/4", "two", *state), finish(place, "one", *state),
                   task(place, "0/4", "two", *state, command="push"),
                   place.push("--delete", *state), place.run("shard", "--count", "2", *state)):
        says(result, 3, "Is its disk mounted?")
    equal([names for _, _, names in os.walk(place.directory)][0], [], "files that were written")
    equal(sorted(key for key in tree if place.get(key)), sorted(without(tree, "f0")), "the objects")
    back(place)
    ended(place, "one", 1, *state)
    equal(place.tree(), without(tree, "f0"), "the tree")


@case("F236", "with the state elsewhere a task writes nothing beneath a missing mount")
def _(place):
    state = ["--state-dir", os.path.join(place.folder, "state")]
    place.put("f", NEW)
    place.in_step(place.pull(*state))
    equal(place.run("shard", "--count", "2", *state).status, 0, "the cutting")
    away(place)
    says(task(place, "0/1", "one", *state), 3, "Is its disk mounted?")
    equal(os.listdir(place.directory), [], "what was written")


@case("F242", "a small mirror is not sharded unless a number is given")
def _(place):
    place.put("f", NEW)
    place.put("g", NEW)
    for _ in range(2):
        for options in (["--dry-run"], []):
            result = place.in_step(place.run("shard", *options))
            equal(result.all("cut"), [], "shards")
            message, = [line["message"] for line in result.all("warning")]
            expect("2 items" in message and "needs no shards" in message
                   and "--count N" in message, f"what it says: {message}")
        place.in_step(place.pull())
    says(task(place, "0/1", "one"), 2, "is not sharded")
    equal(len(place.in_step(place.run("shard", "--count", "2")).all("cut")), 2, "shards")
    # Sharded anew, it has as many.
    equal(len(place.in_step(place.run("shard")).all("cut")), 2, "shards of a mirror with two")
    done(place, "0/1", "one")


@case("F242", "an undo that would restore one shard's part of a round is refused")
def _(place):
    tree = cut_mirror(place)
    for key in ("0/f0", "3/f1"):
        place.delete(key)
    place.in_step(place.pull("--delete"))

    def trashed():
        listed = place.start("trash", place.directory, "--json").all("trashed")
        return sorted((line["key"], str(line["run"])) for line in listed)
    equal([key for key, _ in trashed()], ["0/f0", "3/f1"], "the trash")

    def refused():
        for number in [[]] + [[number] for _, number in trashed()]:
            result = place.start("undo", place.directory, *number, "--json")
            says(result, 2, "one shard's part", "'osssync restore --at TIME DIR .'")
            equal(place.tree(), without(tree, "0/f0", "3/f1"), "the tree after an undo")
    refused()
    equal(place.run("shard", "--count", "1").status, 0, "joining")
    # What was deleted before the shards were joined is in the trash of as many runs as then.
    refused()
    place.delete("1/f0")
    place.in_step(place.pull("--delete"))
    place.in_step(place.start("undo", place.directory, "--json"))
    equal(place.tree(), without(tree, "0/f0", "3/f1"), "the tree after the undo of a plain run")
    equal(place.run("shard", "--count", "4").status, 0, "sharding")
    # The files were written since then.
    place.in_step(place.start("restore", place.directory, ".", "--at", "1h ago", "--force",
                              "--json"))
    equal((place.tree(), trashed()), (tree, []), "the tree and the trash at the end")


@case("F232", "a shard command that is killed at any time leaves the old cuts or the new ones")
def _(place):
    tree = cut_mirror(place)
    shards = set()
    for step in range(1, 70):
        count = 5 + step % 4
        running = Running(place, "shard", "--count", str(count))
        time.sleep(0.003 * 1.12 ** step)
        was_killed = running.status is None
        running.end()
        status = place.start("status", place.directory, "--json")
        equal(status.status, 0, f"the status after {step}: {status}")
        shards.add(len(status.all("shard")))
        place.write("0/f0", ramp(800 + step))
        place.in_step(place.push("--delete"))
        result = place.in_step(place.pull("--delete"))
        equal((result.count("transferred"), result.count("deleted")), (0, 0), f"after {step}")
        equal(place.tree(), {**tree, "0/f0": ramp(800 + step)}, f"the tree after {step}")
        if not was_killed:
            break
    expect(len(shards) > 1 and step > 3, f"cut into {shards} in {step} steps")


@case("F237", "a shard command on a full disk leaves the mirror as it was, and usable")
def _(place):
    if not Disk.is_possible():
        return
    for earlier in ([], ["--count", "2"]):
        place.prefix += "x"
        place.directory += "x"
        disk = Disk(place)
        disk.memory(place.directory, "size=4m")
        tree = {f"f{number:02}": ramp(1_000, number) for number in range(32)}
        for key, text in tree.items():
            place.put(key, text)
        place.in_step(disk.run("pull"))
        if earlier:
            equal(disk.run("shard", *earlier).status, 0, "the first cutting")
        with disk.inside() as seen:
            state = os.statvfs(seen.directory)
            seen.write(".osssync/filler", bytes(state.f_bavail * state.f_bsize - 800_000))
        place.in_step(disk.run("pull", "--delete"))
        says(disk.run("shard", "--count", "32"), 5, "no space is left", "free some space")
        status = disk.alone("status", "--json")
        equal((status.status, len(status.all("shard"))), (0, 2 if earlier else 0), str(status))
        place.delete("f00")
        result = place.in_step(disk.run("pull", "--delete"))
        equal((result.count("deleted"), result.count("transferred")), (1, 0), str(result))
        equal(without(disk.tree(), ".osssync/filler"), without(tree, "f00"), "the tree")
        with disk.inside() as seen:
            os.remove(seen.path(".osssync/filler"))
        cutting = disk.run("shard", "--count", "8")
        equal((cutting.status, len(cutting.all("cut"))), (0, 8), f"with room: {cutting}")
        place.in_step(disk.run("pull", "--delete"))
