"""Rows F478, F479, F485, F555, F556, F560, F561 and F564: directories that fewer users may enter than others, and their markers."""

import os
import shutil

from case_table import case, equal, expect
from machine import skipped, stranger, under
from past_cases import moment_between
from scenes import NEW, OLD, OTHER


def refuse(place, key):
    """No marker can be written, nor copied onto itself."""
    place.faults(*(place.fault(operation, {"fail": {"status": 403, "code": "AccessDenied"}}, key)
                   for operation in ("PutObject", "CopyObject")))


def sent(place, *names):
    return [name for name in names if place.get(name) is not None]


@case("F478", "no file is sent before the marker that closes its directory elsewhere")
def _(place):
    place.write("open/file", OTHER)
    for number in range(20):
        place.write(f"private/deep/{number}", OLD)
    os.chmod(place.path("private"), 0o700)
    refuse(place, "private/")
    for _ in range(2):
        result = place.push()
        equal((result.status, result.count("failed"), result.count("skipped")), (1, 1, 20), f"{result}")
        equal(sent(place, "open/file", "private/", "private/deep/7"), ["open/file"], "what was sent")
        expect("permissions" in result.said("private/deep/7"), f"{result}")
    place.faults()
    place.in_step(place.push())
    equal(sent(place, "private/", "private/deep/7"), ["private/", "private/deep/7"], "what was held back")
    # Permissions that were ordinary when they were sent.
    os.chmod(place.path("open"), 0o700)
    place.write("open/new", NEW)
    refuse(place, "open/")
    result = place.push()
    expect(result.status == 1 and place.get("open/new") is None, f"{result}")
    place.faults()
    place.in_step(place.push())
    equal(place.get("open/new"), NEW, "what was held back")


@case("F478", "a push of some paths sends the markers above them that close directories elsewhere")
def _(place):
    place.write("private/deep/file", OLD)
    place.write("private/other", OTHER)
    os.chmod(place.path("private"), 0o700)
    shown = place.push("private/deep/file", "--dry-run")
    equal(shown.count("transferred"), 2, f"{shown}")
    expect(place.head("private/") is None and shown.items("private/", "planned"), f"{shown}")
    result = place.push("private/deep/file")
    equal((result.status, result.count("transferred")), (0, 2), f"{result}")
    equal(place.head("private/")["x-oss-meta-mode"], "40700", "the marker")
    equal(place.push("private/deep/file").count("transferred"), 0, "the second time")
    os.chmod(place.path("private"), 0o750)
    os.chmod(place.path("private/deep"), 0o750)
    place.write("private/deep/file", NEW)
    refuse(place, "private/deep/")
    result = place.push("private/deep/file")
    equal((result.status, place.get("private/deep/file")), (1, OLD), f"{result}")
    place.faults()
    equal(place.push("private/deep/file").status, 0, "once the store takes it")
    equal(place.head("private/deep/")["x-oss-meta-mode"], "40750", "the marker of the second one")
    # It opens the directory, which can wait for a run of the whole.
    equal(place.head("private/")["x-oss-meta-mode"], "40700", "the marker of the first one")
    place.in_step(place.push())
    equal(place.head("private/")["x-oss-meta-mode"], "40750", "after a run of the whole")


@case("F478", "a pull of some paths takes the permissions of the directories above them")
def _(place):
    place.write("open/deep/file", OLD)
    place.in_step(place.push())
    place.put("open/", b"", {"x-oss-meta-mode": "40700"})
    place.put("open/deep/file", NEW)
    place.put("open/deep/new", OTHER)
    place.server.forget_requests()
    equal(place.pull("open/deep/file", "open/deep/new").status, 0, "the pull")
    modes = [oct(os.stat(place.path(name)).st_mode & 0o777) for name in ("open", "open/deep")]
    equal(modes, ["0o700", "0o755"], "the permissions")
    equal(len(place.requests("HeadObject", "open/deep/")), 1, "what was asked of one without a marker")
    os.chmod(place.path("open"), 0o750)
    place.put("open/deep/file", OLD)
    equal(place.pull("open/deep/file").status, 0, "the second pull")
    equal(oct(os.stat(place.path("open")).st_mode & 0o777), "0o750", "what was changed here")


@case("F485", "a marker that is gone, or another writer's by now, does not close its directory")
def _(place):
    place.write("private/file", OLD)
    place.write("private/other", OTHER)
    os.chmod(place.path("private"), 0o700)
    place.in_step(place.push())
    place.delete("private/")
    place.write("private/file", NEW)
    shown = place.push("private/file", "--dry-run")
    expect(shown.items("private/", "planned"), f"{shown}")
    result = place.push("private/file")
    equal((result.status, place.get("private/file")), (0, NEW), f"{result}")
    equal(place.head("private/")["x-oss-meta-mode"], "40700", "the marker")
    # Another machine removes it between the listing and the copy by which it is written.
    place.write("open/file", OLD)
    os.chmod(place.path("open"), 0o750)
    place.in_step(place.push())
    os.chmod(place.path("open"), 0o700)
    place.write("open/file", NEW)
    gone = {"fail": {"status": 404, "code": "NoSuchKey"}}
    place.faults(*(place.fault(operation, gone, "open/") for operation in ("HeadObject", "CopyObject")))
    result = place.push()
    equal((result.status, result.count("skipped"), place.get("open/file")), (1, 1, OLD), f"{result}")
    expect("permissions" in result.said("open/file"), f"{result}")
    place.faults()
    place.delete("open/")
    place.in_step(place.push())
    equal((place.head("open/")["x-oss-meta-mode"], place.get("open/file")), ("40700", NEW), "then")


@case("F479", "a directory that its owner, another user, opens for writing gets files")
def _(place):
    if os.getuid() != 0:
        return skipped("only root gives files to other users")
    # Pushed while it is empty, it has a marker, and so its permissions are recorded.
    os.makedirs(place.path("shared"))
    os.chmod(place.path("shared"), 0o755)
    place.in_step(place.push())
    place.write("shared/file", OLD)
    place.in_step(place.push())
    os.chmod(place.directory, 0o777)
    os.chown(place.path("shared"), 12_345, 12_345)
    os.chmod(place.path("shared"), 0o775)
    place.put("shared/new", NEW)
    for command in ("pull", "sync"):
        result = place.run(command)
        equal((result.status, result.count("skipped")), (0, 0), f"{result}")
    equal(place.tree()["shared/new"], NEW, "what came")


@case("F479", "a directory that another user has put in the place of a private one gets no files")
def _(place):
    if os.getuid() != 0:
        return skipped("only root gives files to other users")
    place.write("private/file", OLD)
    place.write("gone", OTHER)
    os.chmod(place.path("private"), 0o700)
    wrapper = stranger(place)
    if wrapper is None:
        return
    place.in_step(under(place, wrapper, "push"))
    os.chmod(place.directory, 0o777)
    os.rename(place.path("private"), place.directory + "-away")
    os.mkdir(place.path("private"))
    os.chmod(place.path("private"), 0o777)
    place.put("private/new", NEW)
    shown = under(place, wrapper, "pull", "--dry-run")
    equal((shown.count("transferred"), shown.count("skipped")), (0, 3), f"{shown}")
    for command, skips in (("pull", 3), ("sync", 2), ("pull", 3)):
        result = under(place, wrapper, command)
        equal((result.status, result.count("failed"), result.count("skipped")), (1, 0, skips), f"{result}")
        equal(os.listdir(place.path("private")), [], "what another user can read")
        expect("another user" in result.said("private/"), f"{result}")
    equal(place.head("private/")["x-oss-meta-mode"], "40700", "the marker")
    os.rmdir(place.path("private"))
    place.in_step(under(place, wrapper, "pull"))
    equal((oct(os.stat(place.path("private")).st_mode & 0o777), place.tree()["private/new"]),
          ("0o700", NEW), "the directory of this user")


KEEPING = ["--delete", "--trash", "remote", "--max-delete", "100%"]


def removed(place):
    """A mirror whose last run moved a private directory to the trash in the bucket."""
    for name in ("private/1", "private/deep/2"):
        place.write(name, OLD)
    place.write("kept", OTHER)
    os.chmod(place.path("private"), 0o700)
    place.in_step(place.push())
    shutil.rmtree(place.path("private"))


@case("F555", "what comes back to the bucket comes after the marker that closes its directory")
def _(place):
    removed(place)
    place.in_step(place.push(*KEEPING))
    for words in (["undo"], ["restore", "private"], ["restore", "private/1"], ["restore", "--run", "2", "private"]):
        refuse(place, "private/")
        found = place.start(words[0], place.directory, "--json", *words[1:])
        equal((found.status, sent(place, "private/", "private/1")), (1, []), f"{words}: {found}")
        expect("more users" in found.errors + found.output, f"{words}: {found}")
        place.faults()
    found = place.start("undo", place.directory, "--json")
    equal((found.status, place.get("private/1")), (0, OLD), f"{found}")
    equal(place.head("private/")["x-oss-meta-mode"], "40700", "the marker")


@case("F556", "what an earlier run removed comes back with the marker that a later one removed")
def _(place):
    removed(place)
    moment = moment_between(place)
    os.mkdir(place.path("private"), 0o700)
    place.in_step(place.push(*KEEPING))
    os.rmdir(place.path("private"))
    place.in_step(place.push(*KEEPING))
    expect(place.head("private/") is None, "both runs removed their part")
    # Elsewhere, and then in its place.
    for number, words in enumerate((["--run", "2"], ["--at", moment], [])):
        out = os.path.join(place.folder, f"out{number}")
        place.start("restore", place.directory, "private", "--to", out, *words)
        equal((os.stat(out).st_mode & 0o777, os.listdir(out) == []), (0o700, False), f"{words}")
    found = place.start("undo", place.directory, "2", "--json")
    equal((found.status, place.get("private/deep/2")), (0, OLD), f"{found}")
    equal(place.head("private/")["x-oss-meta-mode"], "40700", "the marker")


@case("F560", "a new directory above a path is its owner's alone until its marker has answered")
def _(place):
    for name in ("private/1", "private/deep/2"):
        place.write(name, OLD)
    os.chmod(place.path("private"), 0o700)
    place.in_step(place.push())
    for number, (status, code) in enumerate(((403, "AccessDenied"), (500, "InternalError"))):
        for command in ("pull", "sync"):
            place.directory += f".{command}{number}"
            place.faults(place.fault("HeadObject", {"fail": {"status": status, "code": code}}, "private/"))
            result = place.run(command, "private/1")
            equal((result.status, place.tree()["private/1"]), (0 if status == 403 else 1, OLD), f"{result}")
            equal(os.stat(place.path("private")).st_mode & 0o077, 0, "what others may do")
            place.faults()
            place.in_step(place.run(command, "private/deep"))
            equal(oct(os.stat(place.path("private")).st_mode), "0o40700", "once it has answered")


@case("F561", "no file comes to a directory that others may enter before its new marker has answered")
def _(place):
    place.write("open/old", OTHER)
    place.in_step(place.push())
    first, second = place.directory, place.directory + ".second"
    for command in ("pull", "sync"):
        place.directory = second
        place.in_step(place.run(command))
        place.directory = first
        os.chmod(place.path("open"), 0o700)
        place.write("open/secret", NEW)
        place.in_step(place.push())
        place.directory = second
        place.faults(place.fault("HeadObject", {"fail": {"status": 500, "code": "InternalError"}}, "open/"))
        result = place.run(command)
        equal((result.status, "open/secret" in place.tree()), (1, False), f"{command}: {result}")
        place.faults()
        place.in_step(place.run(command))
        equal((oct(os.stat(place.path("open")).st_mode), place.tree()["open/secret"]), ("0o40700", NEW), "then")
        place.directory = first
        os.chmod(place.path("open"), 0o755)
        os.remove(place.path("open/secret"))
        place.in_step(place.push("--delete"))
        place.directory = second
        place.in_step(place.pull("--delete"))


@case("F571", "a marker that is listed and not found keeps its directory closed until it has answered")
def _(place):
    place.write("open/old", OTHER)
    place.in_step(place.push())
    second = place.directory + ".second"
    first, place.directory = place.directory, second
    place.in_step(place.pull())
    place.directory = first
    for name in ("open", "new"):
        place.write(f"{name}/secret", NEW)
        os.chmod(place.path(name), 0o700)
    place.in_step(place.push())
    place.directory = second
    names = [place.fault("HeadObject", {"fail": {"status": 404, "code": "NoSuchKey"}}, f"{name}/")
             for name in ("open", "new")]
    place.faults(*names)
    result = place.pull()
    expect("open/secret" not in place.tree(), f"in an open directory: {result}")
    if "new/secret" in place.tree():
        equal(os.stat(place.path("new")).st_mode & 0o777, 0o700, "without an answer")
    place.faults()
    place.in_step(place.pull())
    for name in ("open", "new"):
        equal((oct(os.stat(place.path(name)).st_mode), place.tree()[f"{name}/secret"]), ("0o40700", NEW), name)
    # A store that lists what it never has does not keep the files away for ever.
    place.directory = first + ".third"
    place.faults(*names)
    place.pull()
    place.pull()
    equal(place.tree()["new/secret"], NEW, "in the second run")


@case("F564", "what comes after a marker waits with it for deletions, and is not sent without it")
def _(place):
    place.write("known/1", OLD)
    place.write("gone", OTHER)
    os.chmod(place.path("known"), 0o700)
    place.in_step(place.push())
    os.remove(place.path("gone"))
    place.write("private/secret", NEW)
    os.chmod(place.path("private"), 0o700)
    for status, code in ((405, "MethodNotAllowed"), (400, "InvalidObjectName")):
        place.faults(place.fault("PutObject", {"fail": {"status": status, "code": code}}, "private/"))
        for command in ("push", "sync"):
            result = place.run(command, "--delete")
            equal((result.status, sent(place, "private/", "private/secret")), (1, []), f"{result}")
            expect("permissions" in result.said("private/secret"), f"{result}")
    place.faults()
    place.in_step(place.push("--delete"))
    equal(sent(place, "gone", "private/", "private/secret"), ["private/", "private/secret"], "then")
