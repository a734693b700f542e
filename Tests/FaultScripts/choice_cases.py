"""Rows F361–F369: states that are copied or chosen badly, disks that are one mount only by name, and what options leave
of a mirror."""

import os
import shutil
import signal
import time

from case_table import case, equal, expect
from machine import Disk, Running, pretending, runnable, skipped, stranger, under, until
from scenes import FRESH, NEW, OLD, OTHER
from stage import ramp


@case("F361", "a mirror is cut and joined where no rename leads from directory to directory")
def _(place):
    names = {"a/f": OLD, "m/f": NEW, "z/f": OTHER}
    for key, content in names.items():
        place.put(key, content)
    if not pretending(place, apart="1"):
        return
    place.in_step(place.pull())
    cuts = os.path.join(place.folder, "cuts")
    with open(cuts, "w") as file:
        file.write("m/\n")
    for turn in range(2):
        for options in (["--cuts", cuts], ["--count", "1"]):
            result = place.run("shard", *options)
            equal(result.status, 0, f"turn {turn}: {result}")
            place.server.forget_requests()
            result = place.in_step(place.pull("--delete"))
            equal((result.count("unchanged"), place.requests("GetObject")), (3, []), f"the run after it: {result}")
    equal(place.tree(), names, "the tree")
    equal([name for name in os.listdir(place.path(".osssync")) if ".part" in name], [], "what is left")


@case("F362", "a copy of a state is refused while the original is there, and is the state once that is gone")
def _(place):
    first, copy = (os.path.join(place.folder, name) for name in ("first", "copy"))
    for key in ("f", "gone"):
        place.put(key, OLD)
    place.in_step(place.pull("--state-dir", first))
    shutil.copytree(first, copy, symlinks=True)
    before = place.requests()
    for command in ("pull", "push", "sync"):
        result = place.run(command, "--delete", "--state-dir", copy)
        equal(result.status, 3, f"the copy: {result}")
        expect(f"'{first}'" in result.error["message"], f"what was said: {result.error}")
    equal(place.requests(), before, "requests of the copy")
    place.delete("gone")
    result = place.in_step(place.pull("--delete", "--state-dir", first))
    equal(result.count("deleted"), 1, f"the original: {result}")
    # Another name of the original is no copy of it.
    renamed = os.path.join(place.folder, "renamed")
    os.rename(first, renamed)
    place.in_step(place.pull("--delete", "--state-dir", renamed))
    shutil.rmtree(renamed)
    # It is older than the directory, so that nothing is deleted at first.
    place.in_step(place.pull("--state-dir", copy))
    place.in_step(place.pull("--delete", "--state-dir", copy))


@case("F362", "a directory that is copied with its state is mirrored beside the original")
def _(place):
    state = os.path.join(place.folder, "state")
    place.put("f", OLD)
    place.in_step(place.pull("--state-dir", state))
    shutil.copytree(place.directory, place.directory + "2", symlinks=True)
    shutil.copytree(state, state + "2", symlinks=True)
    first = place.directory
    for turn in range(2):
        place.directory = first + "2"
        place.in_step(place.pull("--state-dir", state + "2"))
        place.directory = first
        place.in_step(place.pull("--state-dir", state))


@case("F363", "a directory of the user's within the mirror is no state")
def _(place):
    place.write("photos/a", NEW)
    place.write("f", OLD)
    mode = os.stat(place.path("photos")).st_mode
    for options in ([], ["--dry-run"]):
        result = place.push("--state-dir", place.path("photos"), *options)
        equal((result.status, place.requests()), (2, []), f"photos as a state: {result}")
        expect("photos" in result.error["message"] and "--state-dir" in result.error["message"],
               f"what was said: {result.error}")
    equal((os.stat(place.path("photos")).st_mode, os.listdir(place.path("photos"))), (mode, ["a"]), "the directory")
    # One that is new, one that is empty, and both once they are states.
    os.mkdir(place.path("empty"))
    for name in ("new", "empty"):
        for _ in range(2):
            place.push("--state-dir", place.path(name), "--on-conflict", "local")
            expect(place.get("photos/a") == NEW, f"nothing was sent with {name}")
            expect(place.get(f"{name}/identity") is None, "the state was sent")


@case("F364", "a mirror of nothing but stored links, or escaped names, is not empty for a run without their option")
def _(place):
    os.makedirs(place.directory)
    os.symlink("target", place.path("link"))
    place.in_step(place.push("--links", "store"))
    equal(place.get("link.rclonelink"), b"target", "the object")
    for command in ("push", "sync", "pull"):
        for options in ([], ["--delete"]):
            result = place.run(command, *options)
            equal((result.status, result.count("deleted")), (0, 0), f"without the option: {result}")
            expect(any("symbolic link" in line["message"] for line in result.all("warning")),
                   f"what was said: {result.output}")
    equal((place.get("link.rclonelink"), os.readlink(place.path("link"))), (b"target", "target"), "both sides")
    place.in_step(place.push("--links", "store"))

    place.prefix, place.directory = place.prefix + "n", place.directory + "n"
    place.put("a//b", NEW)
    place.in_step(place.pull("--names", "escape"))
    for command in ("push", "sync", "pull"):
        for options in ([], ["--delete"]):
            result = place.run(command, *options)
            equal((result.status in (0, 1), result.count("deleted")), (True, 0), f"without the option: {result}")
            expect("escaped name" in str(result.all("warning")), f"what was said: {result.output}")
    equal(place.get("a//b"), NEW, "the object")
    place.in_step(place.pull("--names", "escape"))


@case("F365", "restore --at leaves out what was downloaded after that time, whatever its own time is")
def _(place):
    old = {"x-oss-meta-mtime": "1000000000"}
    place.put("then", OLD, old)
    place.put("changed", OLD, old)
    place.in_step(place.pull())
    if not runnable("stat", "-c", "%W", place.path("then")):
        return
    if os.popen(f"stat -c %W '{place.path('then')}'").read().strip() in ("0", "-", ""):
        return skipped("the file system does not say when files were made")
    time.sleep(2.1)
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
    place.put("changed", NEW, old)
    place.put("later", FRESH, old)
    place.in_step(place.pull())
    time.sleep(1.1)
    for key in ("then", "changed", "later"):
        place.delete(key)
    place.put("stays", OTHER)
    place.in_step(place.pull("--delete"))
    result = place.start("restore", place.directory, ".", "--at", moment, "--json")
    end = result.last("restore")
    equal((end["restored"], end["later"]), (1, 2), f"what came back: {result.output}")
    equal(place.tree(), {"then": OLD, "stays": OTHER}, "the tree")
    result = place.start("restore", place.directory, ".", "--at", moment, "--force", "--json")
    equal(place.tree(), {"then": OLD, "stays": OTHER, "changed": NEW, "later": FRESH}, "with --force")


@case("F366", "a stop signal ends a run that waits for a FIFO which the configuration names")
def _(place):
    place.write("f", OLD)
    fifo = os.path.join(place.folder, "fifo")
    os.mkfifo(fifo)
    os.makedirs(place.path(".osssync"), mode=0o700)
    with open(place.path(".osssync/config"), "w") as file:
        file.write(f"[mirror]\nexclude-from = {fifo}\n")
    for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        running = Running(place, "push")
        writer = until(lambda: opened(fifo), "the opening of the FIFO")
        running.send(number)
        equal(running.result().status, status, f"the end after signal {number}")
        os.close(writer)


def opened(fifo):
    try:
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


@case("F367", "an ignore file that may not be read is a wrong configuration")
def _(place):
    wrapper = stranger(place)
    if wrapper is None:
        return
    place.write("f", OLD)
    place.write(".osssyncignore", b"*.tmp\n")
    os.chmod(place.folder, 0o755)
    from machine import owned
    owned(place.folder)
    os.chmod(place.path(".osssyncignore"), 0)
    result = under(place, wrapper, "push")
    equal((result.status, place.requests("PutObject")), (2, []), f"the end of {result}")
    expect(".osssyncignore" in result.error["message"], f"what was said: {result.error}")


@case("F368", "temporary files on another mount are found by doctor and before the first request")
def _(place):
    if not Disk.is_possible():
        return
    place.put("f", OLD)
    disk = Disk(place)
    place.in_step(disk.run("pull"))
    disk.memory(place.path(".osssync/partial"), "size=8m,mode=700")
    place.put("g", NEW)
    place.server.forget_requests()
    for command in ("pull", "sync"):
        result = disk.run(command)
        equal((result.status, place.requests()), (5, []), f"the end of {result}")
        expect("partial' is not safe to use: it is on another disk" in result.error["message"],
               f"what was said: {result.error}")
    found = disk.alone("doctor", "--json")
    expect("partial' is not safe to use: it is on another disk" in found.output, f"what doctor said: {found.output}")
    place.in_step(disk.run("push"))
