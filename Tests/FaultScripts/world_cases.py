"""Rows F185, F187, F189, F191 and F192: clocks, permissions and saves of the machine around."""

import os
import time

from case_table import case, equal, expect
from machine import pretending
from scenes import FRESH, NEW, OLD, OTHER
from stage import ramp

DAY = 86_400


def trash(place):
    """The contents of the files in the trash."""
    found = []
    for folder, _, files in os.walk(place.path(".osssync/trash")):
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                found.append(file.read())
    return sorted(found, key=len)


def set_clock(place, days):
    with open(place.environment["PRETEND_CLOCK"], "w") as file:
        file.write(str(days * DAY))


@case("F185", "a clock that is wrong by weeks empties no trash")
def _(place):
    if not pretending(place, clock=os.path.join(place.folder, "clock")):
        return
    for wrong in (30, -3_650):
        for then, now in ((0, wrong), (wrong, 0)):
            place.prefix += "x"
            place.directory += "x"
            for key in ("kept", "gone"):
                place.put(key, OTHER if key == "kept" else OLD)
            set_clock(place, 0)
            place.in_step(place.pull())
            place.delete("gone")
            set_clock(place, then)
            place.in_step(place.pull("--delete"))
            set_clock(place, now)
            place.in_step(place.pull("--delete"))
            what = f"clock {then} days off, then {now}"
            equal(trash(place), [OLD], f"the trash, {what}")
            set_clock(place, 0)
            place.in_step(place.pull())
            equal(trash(place), [OLD], f"the trash a run later, {what}")


@case("F185", "trash that is old by the service's clock is removed")
def _(place):
    for key in ("kept", "gone"):
        place.put(key, OTHER if key == "kept" else OLD)
    place.in_step(place.pull())
    place.delete("gone")
    place.in_step(place.pull("--delete"))
    folder = place.path(".osssync/trash")
    name, = os.listdir(folder)
    for days, expected in ((6, [OLD]), (8, [])):
        old = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - days * DAY)) + name[16:]
        os.rename(os.path.join(folder, name), os.path.join(folder, old))
        name = old
        place.in_step(place.pull())
        equal(trash(place), expected, f"the trash after {days} days")


@case("F187", "an edit that kept size and whole-second time is found by the next run")
def _(place):
    def write(content, moment):
        with open(place.path("f"), "r+b" if os.path.exists(place.path("f")) else "wb") as file:
            file.write(content)
        os.utime(place.path("f"), (moment, moment))
    # However long a run takes, it takes place in that second.
    moment = int(time.time())
    if not pretending(place, seconds="1", now=str(moment)):
        return
    os.mkdir(place.directory)
    first, second, third = ramp(3_000, 1), ramp(3_000, 2), ramp(3_000, 3)
    write(first, moment)
    place.in_step(place.push())
    write(second, moment)
    result = place.in_step(place.push())
    equal(place.get("f"), second, f"the object after {result}")
    # The same after a download, whose file has the time of the object.
    place.put("f", third, headers={"x-oss-meta-mtime": str(moment)})
    place.in_step(place.pull())
    write(first, moment)
    result = place.in_step(place.run("sync"))
    equal(place.get("f"), first, f"the object after {result}")
    # And after a copy that was there already is adopted, by another directory.
    place.directory += "-other"
    os.mkdir(place.directory)
    write(first, moment)
    equal(place.in_step(place.run("sync")).count("adopted"), 1, "what was adopted")
    write(second, moment)
    result = place.in_step(place.run("sync"))
    equal(place.get("f"), second, f"the object after {result}")


@case("F187", "a file that was saved long ago is not read again")
def _(place):
    # What this does to see it moves the ctime, which would be a reason to read.
    if not pretending(place, ctime="1"):
        return
    os.mkdir(place.directory)
    place.write("f", OLD)
    os.utime(place.path("f"), (time.time() - 60,) * 2)
    place.in_step(place.push())
    os.chmod(place.path("f"), 0)
    if os.access(place.path("f"), os.R_OK):
        # As the administrator: what is read is seen by its time of access.
        os.utime(place.path("f"), ns=(10**18, os.stat(place.path("f")).st_mtime_ns))
        place.in_step(place.push())
        equal(os.stat(place.path("f")).st_atime_ns, 10**18, "the time of access")
    else:
        place.in_step(place.push())


@case("F189", "what is left alone in each run does not make the manifest grow")
def _(place):
    place.put("kept", OTHER)
    for number in range(300):
        place.put(f"archived-{number:03}", OLD, headers={"x-oss-storage-class": "Archive"})
    sizes = []
    for number in range(30):
        result = place.pull()
        equal((result.status, result.count("skipped")), (1, 300), f"the end of {result}")
        sizes.append(os.path.getsize(place.path(".osssync/manifest.db")))
    # What twenty runs have is there for good.
    expect(sizes[29] - sizes[21] < 20_000, f"sizes of the manifest: {sizes}")


@case("F191", "a new version keeps the permissions of the file that it replaces")
def _(place):
    modes = {"private": 0o600, "script": 0o755, "plain": 0o644, "setuid": 0o4755}
    for key in modes:
        place.put(key, OLD)
    place.in_step(place.pull())
    for key, mode in modes.items():
        os.chmod(place.path(key), mode)
        place.put(key, NEW)
    result = place.in_step(place.run("sync"))
    found = {key: os.stat(place.path(key)).st_mode & 0o7777 for key in modes}
    equal(found, {**modes, "setuid": 0o755}, f"the permissions after {result}")
    # Also beside a version of the user's own, and for a copy under a new name.
    place.write("private", FRESH)
    place.put("private", OTHER)
    place.put("copied", NEW)
    result = place.run("sync")
    equal(result.count("conflicts"), 1, f"conflicts of {result}")
    kept, = (name for name in os.listdir(place.directory) if name.startswith("private.conflict"))
    for name in ("private", kept):
        equal(os.stat(place.path(name)).st_mode & 0o7777, 0o600, f"the permissions of '{name}'")


@case("F192", "a file that is saved right before its new version or its deletion is kept")
def _(place):
    for options in ((), ("--trash-days", "0")):
        place.prefix += "x"
        place.directory += "x"
        for key in ("edited", "gone", "kept", "more"):
            place.put(key, OLD if key in ("edited", "gone") else OTHER)
        place.environment = {}
        place.in_step(place.pull())
        for key in ("edited", "gone"):
            path = place.path(key)
            if not pretending(place, save=path):
                return
            place.write(key + ".saved", FRESH)
            if key == "edited":
                place.put(key, NEW)
            else:
                place.delete(key)
            with open(place.path(key + ".saved"), "rb") as file:
                equal(file.read(), FRESH, "what the other program is about to save")
            result = place.pull("--delete", "--exclude", "*.saved", *options)
            expect(not os.path.exists(path + ".saved"), f"nothing was saved during {result}")
            equal(result.status, 1, f"the exit status of {result}")
            equal(place.tree().get(key), FRESH, f"'{key}' after {result}")
            expect(result.said(key), f"no word of '{key}': {result}")
            if key == "edited":
                # The next run finds two versions, and keeps both.
                place.environment = {}
                result = place.run("sync")
                contents = place.tree().values()
                expect(FRESH in contents and NEW in contents, f"{result} left {place.tree()}")
