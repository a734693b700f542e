"""Rows F118 to F130, F549 and F554: manifests, locks and partial files that are not what they were."""

import fcntl
import os
import shutil
import signal
import sqlite3

from case_table import case, equal, expect
from machine import Running, until
from scenes import FRESH, NEW, OLD, OTHER, pulled, recovers
from stage import BUCKET, ramp
from wire import HANG


def manifest(place):
    return place.path(".osssync/manifest.db")


def settled(place):
    """Closes the manifest's log, so that the file has everything."""
    with sqlite3.connect(manifest(place)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    for suffix in ("-wal", "-shm"):
        if os.path.exists(manifest(place) + suffix):
            os.remove(manifest(place) + suffix)


def believed(place, tree, what):
    """After damage: no run deletes what it should not, and at last both sides agree."""
    mine = {"mine": b"the user's own"}
    result = place.pull("--delete")
    expect(result.status in (0, 1, 3, 5), f"{what}: {result}")
    found = place.tree()
    for name, content in {"kept": OTHER, **mine}.items():
        equal(found.get(name), content, f"{name} after {what}: {result}")
    expect(found["victim"] in (OLD, NEW), f"the victim is a mixture after {what}")
    if result.status == 5:
        shutil.rmtree(manifest(place), ignore_errors=True)
    place.pull("--delete")
    found = place.tree()
    for name, content in {**tree, **mine}.items():
        equal(found.get(name), content, f"{name} at last, after {what}")
    expect(found.get("gone") in (None, OTHER), f"'gone' is a mixture after {what}")


@case("F118 F119", "a manifest that is damaged anywhere costs no file")
def _(place):
    tree = pulled(place)
    place.write("mine", b"the user's own")
    settled(place)
    with open(manifest(place), "rb") as file:
        sound = file.read()
    shutil.copytree(place.directory, place.directory + ".sound")
    damages = {"nothing": b"", "half": sound[:len(sound) // 2], "no page": sound[:100],
               "text": b"this is no database" * 500, "zeros": bytes(len(sound))}
    # Pages of every kind are for the manifest's own tests; here it counts what runs make of it.
    for page in range(0, len(sound), len(sound) // 5 // 4096 * 4096):
        at = page + (0 if page == 0 else 5)
        damages[f"byte {at}"] = sound[:at] + bytes([sound[at] ^ 0xFF]) + sound[at + 1:]
    for what, content in damages.items():
        shutil.rmtree(place.directory)
        shutil.copytree(place.directory + ".sound", place.directory)
        with open(manifest(place), "wb") as file:
            file.write(content)
        believed(place, tree, what)


@case("F119", "a directory in the manifest's place is not taken for a first run")
def _(place):
    tree = pulled(place)
    settled(place)
    os.remove(manifest(place))
    os.mkdir(manifest(place))
    result = place.pull("--delete")
    expect(result.status in (1, 5) or result.count("deleted") == 0, f"the end of {result}")
    equal(place.tree()["gone"], OTHER, "what would have been deleted")
    if os.path.isdir(manifest(place)):
        os.rmdir(manifest(place))
    place.pull("--delete")
    found = place.tree()
    equal({name: found.get(name) for name in tree}, tree, "the tree at last")


@case("F120", "a manifest of a newer version is refused and not touched")
def _(place):
    tree = pulled(place)
    settled(place)
    with sqlite3.connect(manifest(place)) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute(f"PRAGMA user_version = {version + 1}")
    database.close()
    settled(place)
    with open(manifest(place), "rb") as file:
        before = file.read()
    result = place.pull("--delete")
    equal(result.status, 5, f"the exit status of {result}")
    expect("newer" in result.error["message"], f"what was said: {result}")
    with open(manifest(place), "rb") as file:
        equal(file.read() == before, True, "the manifest is as it was")
    equal(place.requests("GetObject"), [], "content that was asked for")
    with sqlite3.connect(manifest(place)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    database.close()
    recovers(place, tree)


@case("F122", "without a manifest files are compared, and none is overwritten or deleted")
def _(place):
    tree = pulled(place)
    place.put("victim", OLD)
    place.write("kept", b"changed by the user")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(manifest(place) + suffix):
            os.remove(manifest(place) + suffix)
    result = place.pull("--delete")
    # For the file that the user changed, of which nobody knows what it was before.
    equal((result.status, result.count("conflicts")), (1, 1), f"the end of {result}")
    expect(result.count("adopted") >= 1, f"nothing was adopted: {result}")
    equal(result.count("deleted"), 0, f"deletions of {result}")
    contents = list(place.tree().values())
    expect(b"changed by the user" in contents, f"the change is lost: {place.tree().keys()}")
    equal(place.tree()["victim"], OLD, "the victim")
    equal(place.requests("GetObject", "victim"), [], "what was fetched though it was there")
    equal(place.tree()["gone"], OTHER, f"a file nobody knows, of {sorted(tree)}")


@case("F123", "a lost log of the manifest costs no file")
def _(place):
    tree = pulled(place)
    stuck(place).end()
    expect(os.path.getsize(manifest(place) + "-wal") > 0, "there is no log to lose")
    for suffix in ("-wal", "-shm"):
        if os.path.exists(manifest(place) + suffix):
            os.remove(manifest(place) + suffix)
    result = place.pull("--delete")
    expect(result.status in (0, 1), f"the exit status of {result}")
    equal(place.tree()["kept"], OTHER, "what was there")
    expect(place.tree()["victim"] in (OLD, NEW), "the victim")
    recovers(place, tree)


def stuck(place):
    """A run that waits, and the server that it waits for."""
    between = place.wire()
    between.on("GetObject", lambda request, forward: [HANG], "victim")
    running = Running(place, "pull")
    until(lambda: between.seen("GetObject", "victim"), "the request")
    between.clear()
    return running


@case("F124", "a second run is told who holds the directory, and none is held by the dead")
def _(place):
    tree = pulled(place)
    running = stuck(place)
    second = place.pull("--delete")
    equal(second.status, 75, f"the exit status of {second}")
    expect(str(running.pid) in second.error["message"], f"what was said: {second}")
    running.end()
    recovers(place, tree)


@case("F126", "a copy of a mirror deletes nothing in its first run")
def _(place):
    tree = pulled(place)
    original = place.directory
    place.directory += "-copy"
    shutil.copytree(original, place.directory, symlinks=True)
    result = place.pull("--delete")
    equal(result.count("deleted"), 0, f"deletions of {result}")
    equal(place.tree()["gone"], OTHER, "what was to be deleted")
    equal(place.tree()["victim"], NEW, f"the victim after {result}")
    place.directory = original
    recovers(place, tree)
    os.rename(original, original + "-moved")
    place.directory = original + "-moved"
    place.put("victim", OLD)
    place.in_step(place.pull("--delete"))
    equal(place.tree()["victim"], OLD, "the victim in the directory that was moved")


@case("F127", "an old manifest makes no run overwrite or delete what it does not know")
def _(place):
    tree = pulled(place)
    settled(place)
    old = manifest(place) + ".old"
    shutil.copy2(manifest(place), old)
    place.in_step(place.pull("--delete"))
    place.write("victim", b"changed by the user")
    place.write("new", b"made by the user")
    place.in_step(place.push())
    settled(place)
    os.replace(old, manifest(place))
    place.put("victim", ramp(99))
    result = place.pull("--delete")
    contents = list(place.tree().values())
    for content in (b"changed by the user", b"made by the user", OTHER):
        expect(content in contents, f"{content[:30]} is lost: {result}")
    expect(set(place.tree()) >= {"kept", "other", "new"} and tree, f"files are gone: {result}")
    pushed = place.push("--delete")
    expect(place.get("new") == b"made by the user", f"the object is gone: {pushed}")
    expect(place.get("other") == FRESH, f"the object of 'other' is gone: {pushed}")


def received(place):
    """How many bytes of unfinished downloads are recorded, beside the run that does it."""
    with sqlite3.connect(f"file:{manifest(place)}?mode=ro", uri=True) as database:
        return database.execute("SELECT total(received_bytes) FROM download_range").fetchone()[0]


def interrupted(place, content, number=signal.SIGINT):
    """A mirror with a partial file of the victim; its name, and where its two parts begin.

    Which of the parts are asked for first is nobody's promise.
    """
    place.put("victim", content)
    between = place.wire()
    finished = []

    def later(request, forward):
        if len(finished) == 2:
            return [HANG]
        finished.append(request.range_start)
        return None
    between.on("GetObject", later, "victim")
    running = Running(place, "pull", "--part-size", "1M", "--jobs", "1")
    folder = place.path(".osssync/partial")
    until(lambda: len(between.seen("GetObject", "victim")) == 3, "the third part")
    # With one connection, the third is asked for when the others are written.
    until(lambda: received(place) == 2 << 20, "the record of the others")
    running.send(number)
    running.result()
    between.clear()
    names = os.listdir(folder)
    equal(len(names), 1, "partial files")
    return os.path.join(folder, names[0]), finished


@case("F130", "a partial file that was edited is read back, and what is wrong fetched again")
def _(place):
    content = ramp(6_000_000, 5)

    def edit(path, begin):
        status = os.stat(path)
        with open(path, "r+b") as file:
            file.seek(begin + 500_000)
            file.write(b"edited behind our back")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    for number in (signal.SIGINT, signal.SIGKILL):
        for change in (None, edit):
            place.prefix += "x"
            place.directory += "x"
            path, parts = interrupted(place, content, number)
            if change:
                change(path, parts[0])
            result = place.in_step(place.pull("--part-size", "1M"))
            where = f"after {number.name} and {change}: {result}"
            expect(place.tree() == {"victim": content}, f"the file is another {where}")
            resumed = result.count("bytes_resumed")
            expect(0 < resumed <= (1 << 20) if change else resumed >= 2 << 20,
                   f"{resumed} bytes were spared of the parts at {parts} {where}")


@case("F129 F130", "a partial file that was cut, replaced or linked is not gone on with")
def _(place):
    content = ramp(6_000_000, 5)
    outside = os.path.join(place.folder, "outside")

    def untouched(path):
        pass

    def truncate(path):
        os.truncate(path, 1_000)

    def replace(path):
        os.remove(path)
        with open(outside, "wb") as file:
            file.write(bytes(len(content)))
        os.symlink(outside, path)

    def second(path):
        os.link(path, outside + "2")

    def another(path):
        place.put("victim", ramp(6_000_000, 6))
    for change in (untouched, truncate, os.remove, replace, second, another):
        name = change.__name__
        place.prefix += "x"
        place.directory += "x"
        change(interrupted(place, content)[0])
        wanted = ramp(6_000_000, 6) if name == "another" else content
        result = place.in_step(place.pull("--part-size", "1M"))
        expect(place.tree() == {"victim": wanted}, f"the file is another after {name}: {result}")
        equal(result.count("bytes_resumed") > 0, name == "untouched", f"resumed after {name}")
        if name == "replace":
            with open(outside, "rb") as file:
                expect(file.read() == bytes(len(content)), "it was written through the link")
        equal(os.listdir(place.path(".osssync/partial")), [], f"what is left after {name}")


@case("F549", "the state of another directory gives nothing away and loses nothing")
def _(place):
    state = os.path.join(place.folder, "state")
    remote = f"oss://{BUCKET}/{place.prefix}"
    place.write("a", OLD)
    place.write("b", NEW)
    place.in_step(place.start("push", place.directory, remote, "--json", "--state-dir", state))
    place.delete("a")
    place.in_step(place.start("pull", "--delete", place.directory, "--json", "--state-dir", state))
    other = os.path.join(place.folder, "other")
    os.mkdir(other)

    def trashed():
        found = place.start("trash", place.directory, "--json", "--state-dir", state)
        return [line["key"] for line in found.all("trashed")]

    equal(trashed(), ["a"], "the trash")
    for words in (["trash"], ["trash", "--empty"], ["restore"], ["undo"], ["init", "--unlink"],
                  ["schedule", "--push", "--daily", "02:30"]):
        extra = ["."] if words == ["restore"] else []
        found = place.start(*words, other, *extra, "--state-dir", state)
        equal(found.status, 3, f"{words}: {found}")
        expect("is the state of" in found.errors, f"{words}: {found}")
    equal((trashed(), os.listdir(other)), (["a"], []), "the trash, and the other directory")
    found = place.start("restore", place.directory, "a", "--state-dir", state)
    equal((found.status, place.tree()["a"]), (0, OLD), str(found))


@case("F554", "a verification waits or steps aside while a run has the directory, as runs do")
def _(place):
    place.put("a", OLD)
    place.in_step(place.pull())

    def verify(*words):
        return place.start("verify", place.directory, "--json", *words)

    with open(place.path(".osssync/lock"), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        equal([verify(*words).status for words in ([], ["--if-locked", "skip"], ["--if-locked", "wait=1s"])],
              [75, 0, 75], "while it is held")
    found = verify("--if-locked", "wait=1m")
    equal((found.status, found.last("verify")["verified"]), (0, 1), str(found))
