"""Rows F207 to F210, F404, F536, F547 and F550 to F553: the trash in the bucket, and what comes back from it."""

import fcntl
import os
import shutil
import tempfile

from case_table import case, equal, expect
from past_cases import moment_between
from process_cases import killed_at
from replacing_cases import fresh
from scenes import FRESH, NEW, OLD, OTHER
from stage import BUCKET, ramp

KEEPING = ["--delete", "--trash", "remote"]


def lost(place):
    """A mirror in step whose directory then lacks `gone` and has another `edited`."""
    for name, content in {"edited": OLD, "gone": OTHER, "kept": FRESH}.items():
        place.write(name, content)
    place.in_step(place.push())
    os.remove(place.path("gone"))
    place.write("edited", NEW)
    place.server.forget_requests()


def trash(place):
    """The contents of the trash in the bucket, by the keys that they had."""
    _, _, text = place.server.call("GET", "", {"prefix": f"{place.prefix}/.osssync/trash/"})
    found = {}
    for part in text.decode().split("<Key>")[1:]:
        key = part.split("</Key>")[0][len(place.prefix) + 1:]
        found.setdefault(key.split("/", 3)[3], []).append(place.get(key))
    return found


def kept_here(place):
    """The paths in the trash of the directory."""
    listed = command(place, "trash").all("trashed")
    return sorted(line["key"] for line in listed if not line["remote"])


def command(place, name, *arguments):
    """A command on the mirror, which its configuration links."""
    return place.start(name, place.directory, "--json", *arguments)


@case("F207", "a push that is killed at any request loses neither version of an object")
def _(place):
    for moment in ("before", "after"):
        for number in range(1, 30):
            version = ramp(3_000 + number, number)
            place.write("edited", version)
            place.write("gone", version)
            place.in_step(place.push(*KEEPING))
            place.write("edited", NEW)
            os.remove(place.path("gone"))
            was_killed = killed_at(place, "push", number, moment, "--trash", "remote")
            copies = trash(place)
            expect(place.get("edited") == version or version in copies.get("edited", []),
                   f"the replaced version is lost {moment} request {number}")
            expect(place.get("gone") == version or version in copies.get("gone", []),
                   f"the deleted version is lost {moment} request {number}")
            place.in_step(place.push(*KEEPING))
            equal((place.get("edited"), place.get("gone")), (NEW, None), "the objects")
            if not was_killed:
                break
        expect(number > 6, f"only {number} requests")


@case("F208", "an object without a proven copy is neither deleted nor replaced")
def _(place):
    refused = {"fail": {"status": 403, "code": "AccessDenied"}}
    for scheme in ("oss", "s3"):
        fresh(place, scheme)
        lost(place)
        place.faults(place.fault("CopyObject", refused))
        result = place.push(*KEEPING)
        equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 0),
              f"what was done: {result}")
        expect("no copy could be made" in result.said("edited"), result.said("edited"))
        equal((place.get("edited"), place.get("gone")), (OLD, OTHER), "the objects")
        place.write("edited", OLD)
        result = place.push(*KEEPING)
        equal((result.status, place.get("gone")), (1, OTHER), f"a deletion alone: {result}")
        place.faults()
        place.in_step(place.push(*KEEPING))
        equal(trash(place)["gone"][-1], OTHER, "the copy")


@case("F208", "an object that changes in the moment of its copy is left to its writer")
def _(place):
    lost(place)
    os.remove(place.path("edited"))
    between = place.wire()

    def other_writer(request, forward):
        place.put("gone", FRESH)
    between.on("CopyObject", other_writer, only=1)
    result = place.push(*KEEPING, "--jobs", "1")
    equal((result.status, result.count("conflicts")), (1, 1), f"what was done: {result}")
    equal((place.get("gone"), place.get("edited")), (FRESH, None), "the objects")


@case("F209", "a push is undone in the bucket, and never over a newer object")
def _(place):
    lost(place)
    place.in_step(place.push(*KEEPING))
    listed = command(place, "trash")
    equal(sorted(line["key"] for line in listed.all("trashed")), ["edited", "gone"], str(listed))
    expect(all(line["remote"] for line in listed.all("trashed")), str(listed))
    place.put("edited", FRESH)
    undone = command(place, "undo")
    equal((undone.status, undone.last("restore")["restored"], undone.last("restore")["kept"]),
          (1, 1, 1), str(undone))
    equal((place.get("gone"), place.get("edited")), (OTHER, FRESH), "the objects")
    place.in_step(place.pull())
    equal(place.tree(), {"edited": FRESH, "gone": OTHER, "kept": FRESH}, "the tree")


@case("F209", "what a push replaced comes back in the bucket, if nobody wrote it since")
def _(place):
    lost(place)
    place.in_step(place.push(*KEEPING))
    undone = command(place, "undo")
    equal((undone.status, undone.last("restore")["restored"], undone.last("restore")["kept"]),
          (0, 2, 0), str(undone))
    equal((place.get("gone"), place.get("edited")), (OTHER, OLD), "the objects")
    place.in_step(place.pull())
    equal(place.tree(), {"edited": OLD, "gone": OTHER, "kept": FRESH}, "the tree")


@case("F209", "a file comes back from the trash in the bucket, where the one here has none")
def _(place):
    lost(place)
    place.in_step(place.push(*KEEPING))
    back = command(place, "restore", "gone")
    equal((back.status, place.tree().get("gone")), (0, OTHER), str(back))
    older = command(place, "restore", "edited", "--to", "older")
    equal((older.status, place.tree().get("older")), (0, OLD), str(older))
    equal(place.tree()["edited"], NEW, "the present version")
    newest = command(place, "restore", "edited")
    equal((newest.status, place.tree()["edited"]), (0, OLD), str(newest))
    listed = command(place, "restore", "edited", "--list")
    expect("trash" in [line["place"] for line in listed.all("file_version")], str(listed))
    emptied = command(place, "trash", "--empty")
    equal((emptied.status, trash(place)), (0, {}), str(emptied))


@case("F210", "--backup-dir is no place for objects, and says which option is")
def _(place):
    lost(place)
    for run, where in ((place.push, f"oss://{BUCKET}/old"), (place.push, "old"),
                       (place.pull, f"oss://{BUCKET}/old")):
        result = run("--delete", "--backup-dir", where)
        equal((result.status, len(place.requests())), (2, 0), f"{where}: {result}")
        expect("--trash remote" in result.errors, str(result))


@case("F536", "what an object is restored over goes to the trash, and no link is followed")
def _(place):
    for name in ("n/f", "n/deep/g"):
        place.put(name, NEW)
    place.in_step(place.pull())
    place.write("o/f", OTHER)
    kept = command(place, "restore", "n", "--to", "o")
    equal((kept.status, place.tree()["o/f"], place.tree()["o/deep/g"]), (1, OTHER, NEW), str(kept))
    back = command(place, "restore", "n", "--to", "o", "--force")
    equal((back.status, place.tree()["o/f"]), (0, NEW), str(back))
    equal(kept_here(place), ["o/f"], "the trash")
    os.remove(place.path("n/f"))
    place.write("one", OTHER)
    one = command(place, "restore", "n/f", "--to", "one", "--force")
    equal((one.status, place.tree()["one"], kept_here(place)), (0, NEW, ["o/f", "one"]), str(one))
    away = place.path("../away")
    os.mkdir(away)
    os.symlink(away, place.path("link"))
    through = command(place, "restore", "n", "--to", "link", "--force")
    equal((through.status, os.listdir(away)), (1, []), str(through))
    with open(place.path(".osssync/lock"), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        beside = command(place, "restore", "n", "--to", "p")
    equal((beside.status, os.path.exists(place.path("p"))), (75, False), str(beside))
    equal([place.get(name) for name in ("o/f", "o/deep/g", "one", "link/f")], [None] * 4,
          "the bucket")


@case("F404", "without a trash, a run keeps nothing, and what is in the trash stays")
def _(place):
    for name in "abc":
        place.put(name, OLD)
    place.in_step(place.pull())
    place.delete("a")
    place.in_step(place.pull("--delete"))
    place.delete("b")
    place.in_step(place.pull("--delete", "--trash", "none"))
    kept = [file for _, _, files in os.walk(place.path(".osssync/trash")) for file in files]
    equal((place.tree(), kept), ({"c": OLD}, ["a"]), "the trash")


@case("F210", "a pull with --backup-dir moves old files beside the mirror, and to no place in it")
def _(place):
    place.put("a", OLD)
    place.put("gone", OLD)
    place.in_step(place.pull())
    place.put("a", NEW)
    place.delete("gone")
    mirror = place.directory
    for wrong in (mirror, os.path.join(mirror, "old"), os.path.join(mirror, ".osssync", "old"),
                  f"oss://{BUCKET}/old"):
        result = place.pull("--delete", "--backup-dir", wrong)
        equal((result.status, place.tree()), (2, {"a": OLD, "gone": OLD}), f"{wrong}: {result}")
    other = tempfile.mkdtemp(dir="/dev/shm")
    place.closers.append(lambda: shutil.rmtree(other))
    if os.stat(other).st_dev != os.stat(mirror).st_dev:
        result = place.pull("--delete", "--backup-dir", other)
        equal((result.status, place.tree()), (2, {"a": OLD, "gone": OLD}), str(result))
        expect("another file system" in result.errors, str(result))
    beside = os.path.join(place.folder, "old")
    place.in_step(place.pull("--delete", "--backup-dir", beside, "--trash-days", "0"))
    equal(place.tree(), {"a": NEW}, "the mirror")
    (run,) = os.listdir(beside)
    for name in ("a", "gone"):
        with open(os.path.join(beside, run, name), "rb") as file:
            equal(file.read(), OLD, name)


@case("F209", "each file comes back from the trash that has its last version")
def _(place):
    for name in ("d/a", "d/b", "f", "kept"):
        place.write(name, OLD)
    place.in_step(place.push())
    # Older versions of two files go to the trash here.
    place.delete("f")
    place.delete("d/a")
    place.in_step(place.pull("--delete"))
    place.write("f", NEW)
    place.in_step(place.push())
    os.remove(place.path("f"))
    os.remove(place.path("d/b"))
    place.in_step(place.push(*KEEPING))
    back = command(place, "restore", "d", "f")
    equal((back.status, back.last("restore")["restored"]), (0, 3), str(back))
    equal(place.tree(), {"d/a": OLD, "d/b": OLD, "f": NEW, "kept": OLD}, "the tree")


@case("F209", "the trash of a directory that is linked with another bucket stays")
def _(place):
    lost(place)
    place.in_step(place.push(*KEEPING))
    path = place.path(".osssync/config")
    with open(path) as text:
        content = text.read()
    with open(path, "w") as text:
        text.write(content.replace(place.prefix, place.prefix + "-other"))
    for name, *arguments in (("trash", "--empty"), ("undo",), ("restore", "gone")):
        equal(command(place, name, *arguments).status, 3, name)
    equal(trash(place), {"edited": [OLD], "gone": [OTHER]}, "the copies")


@case("F547", "an undo puts no object where the bucket has a directory, or the reverse")
def _(place):
    for name in ("a", "x/1", "x/2", "kept"):
        place.write(name, OLD)
    place.in_step(place.push())
    os.remove(place.path("a"))
    place.write("a/q", NEW)
    shutil.rmtree(place.path("x"))
    place.write("x", NEW)
    place.in_step(place.push(*KEEPING))
    found = command(place, "undo")
    equal(found.status, 1, str(found))
    equal({line["key"]: line["state"] for line in found.all("restored")},
          {"a": "kept", "x/1": "kept", "x/2": "kept"}, str(found))
    expect("'a/q'" in found.errors + found.output, str(found))
    equal([place.get(name) for name in ("a", "x/1", "a/q", "x")], [None, None, NEW, NEW],
          "the objects")
    # As it says: what is in the way goes first.
    shutil.rmtree(place.path("a"))
    os.remove(place.path("x"))
    place.in_step(place.push("--delete"))
    found = command(place, "undo", str(found.all("restore")[0]["run"]))
    equal((found.status, place.get("a"), place.get("x/2")), (0, OLD, OLD), str(found))


@case("F550", "a restoration to another place that is run again goes on, and ends green")
def _(place):
    for number in range(6):
        place.put(f"ph/{number}", ramp(3_000, number))
    place.in_step(place.pull())
    place.delete("ph/5")
    place.in_step(place.pull("--delete"))
    out = os.path.join(place.folder, "out")
    os.mkdir(out)
    with open(os.path.join(out, "0"), "wb") as file:
        file.write(ramp(3_000, 0))
    for wanted in ((5, 1), (0, 6)):
        found = command(place, "restore", "ph", "--to", out).last("restore")
        equal((found["restored"], found["unchanged"], found["kept"]), (*wanted, 0), str(found))
    for name in ("1", "5"):
        with open(os.path.join(out, name), "wb") as file:
            file.write(OTHER)
    found = command(place, "restore", "ph", "--to", out)
    equal((found.status, found.last("restore")["kept"], found.last("restore")["unchanged"]), (1, 2, 4),
          str(found))


@case("F551", "a private directory is open to nobody in another place, whether that is there or not")
def _(place):
    place.write("s/deep/key", OLD)
    place.write("s/gone", NEW)
    os.chmod(place.path("s"), 0o700)
    place.in_step(place.push())
    moment = moment_between(place)
    os.remove(place.path("s/gone"))
    place.in_step(place.push("--delete", "--trash", "remote"))
    for words in ([], ["--at", moment]):
        for is_there in (False, True):
            out = os.path.join(place.folder, f"out{len(words)}{is_there}")
            if is_there:
                os.mkdir(out, 0o755)
            found = command(place, "restore", "s", "--to", out, *words)
            equal((found.status, sorted(os.listdir(out))), (0, ["deep", "gone"]), str(found))
            equal(os.stat(out).st_mode & 0o777, 0o700, f"{words} {is_there}: {found}")
    shared = os.path.join(place.folder, "shared")
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    found = command(place, "restore", "s", "--to", shared)
    expect(found.status == 3 and "more users may enter" in found.errors, str(found))
    equal(os.listdir(shared), [], str(found))
    equal(os.stat(shared).st_mode & 0o7777, 0o1777, "what all users share")
    os.chmod(place.directory, 0o700)
    whole = os.path.join(place.folder, "whole")
    for words in ([], ["--at", moment]):
        found = command(place, "restore", ".", "--to", whole, *words)
        equal(os.stat(whole).st_mode & 0o777, 0o700, f"the mirror itself: {found}")
        shutil.rmtree(whole)
    os.chmod(place.directory, 0o755)


@case("F552", "what a link hides in a folder's place is told alike, and comes back elsewhere")
def _(place):
    for name in ("fold/1", "fold/2"):
        place.write(name, OLD)
    place.in_step(place.push())
    os.rename(place.path("fold"), place.path("../fold"))
    os.symlink("../fold", place.path("fold"))
    found = place.start("explain", "--delete", place.directory, "fold/1", "--json")
    expect("symbolic link" in found.output and "delete-remote" not in found.output, str(found))
    for name in ("fold/1", "fold"):
        found = command(place, "restore", name)
        equal(found.status, 1, str(found))
        expect("symbolic link" in found.errors and "--to" in found.errors, str(found))
    found = command(place, "restore", "fold", "--to", os.path.join(place.folder, "out"))
    equal((found.status, found.last("restore")["restored"]), (0, 2), str(found))


@case("F553", "an undo keeps what a later run wrote, however soon after it")
def _(place):
    lost(place)
    place.in_step(place.push(*KEEPING))
    place.write("gone", NEW)
    place.in_step(place.push())
    undone = place.start("undo", place.directory, "2", "--json")
    equal((undone.status, place.get("gone")), (1, NEW), str(undone))
