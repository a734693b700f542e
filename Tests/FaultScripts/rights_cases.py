"""Rows F270–F272, F320, F324, F359, F376, F413, F482 and F483: who may read files, shared and closed directories."""

import errno
import os
import struct
import threading

import program
import wire
from case_table import case, equal, expect
from machine import Running, pretending, skipped, stranger, stranger_number, under, until
from scenes import FRESH, NEW, OLD, OTHER
from Support.processes import PATIENCE

MANY = [f"name{number}" for number in range(6)]


@case("F270", "a file that may not be replaced in a shared directory gets no second name")
def _(place):
    if os.getuid() != 0:
        return skipped("only root gives files to other users")
    place.put("shared/plan.txt", OLD)
    place.put("other", OTHER)
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.makedirs(place.directory, exist_ok=True)
    stranger(place)
    place.in_step(under(place, wrapper, "sync"))
    # The colleague's file in the colleague's directory, in which all may make files.
    for name, mode in (("shared", 0o1777), ("shared/plan.txt", 0o666)):
        os.chown(place.path(name), 0, 0)
        os.chmod(place.path(name), mode)
    place.write("shared/plan.txt", FRESH)
    place.put("shared/plan.txt", NEW)
    place.server.forget_requests()
    for number in range(3):
        result = under(place, wrapper, "sync")
        equal((result.status, result.count("failed")), (1, 1), f"the end of {result}")
        equal(place.tree(), {"shared/plan.txt": FRESH, "other": OTHER}, f"the tree after {number}")
    equal(place.requests("GetObject"), [], "content that was asked for in vain")
    equal(place.get("shared/plan.txt"), NEW, "the object")
    # The directory's own user may do it.
    os.chown(place.path("shared"), stranger_number(), 0)
    result = under(place, wrapper, "sync")
    equal((result.status, result.count("conflicts"), len(place.tree())), (1, 1, 3),
          f"the end of {result}")


@case("F271", "all names of one file are replaced in one run, and deleted in one run")
def _(place):
    for name in ("kept", *MANY):
        place.put(name, OLD)
    place.in_step(place.pull())
    for name in MANY[1:]:
        os.remove(place.path(name))
        os.link(place.path(MANY[0]), place.path(name))
    place.in_step(place.pull())
    for name in MANY:
        place.put(name, NEW)
    place.server.forget_requests()
    place.in_step(place.pull())
    equal(place.tree(), {"kept": OLD, **{name: NEW for name in MANY}}, "the tree")
    equal(len(place.requests("GetObject")), len(MANY), "what was asked for")
    for name in MANY[1:]:
        os.remove(place.path(name))
        os.link(place.path(MANY[0]), place.path(name))
    place.in_step(place.pull())
    for name in MANY:
        place.delete(name)
    result = place.in_step(place.pull("--delete"))
    equal((result.count("deleted"), place.tree()), (len(MANY), {"kept": OLD}), f"{result}")


@case("F272", "a new version is for the group and the owner of the file that it replaces")
def _(place):
    if os.getuid() != 0:
        return skipped("only root gives files to other users")
    place.put("f", OLD)
    place.in_step(place.pull())
    os.chown(place.path("f"), 12_345, 12_346)
    os.chmod(place.path("f"), 0o660)
    place.put("f", NEW)
    place.in_step(place.pull())
    found = os.stat(place.path("f"))
    equal((found.st_uid, found.st_gid, found.st_mode & 0o777), (12_345, 12_346, 0o660),
          "owner, group and permissions")
    # In the way of a new file, it says nothing.
    place.put("secret", FRESH, {"x-oss-meta-mode": "100600"})
    place.write("secret", b"")
    os.chown(place.path("secret"), 12_345, 12_346)
    os.chmod(place.path("secret"), 0o666)
    place.pull()
    found = os.stat(place.path("secret"))
    equal((place.tree()["secret"], found.st_mode & 0o777, found.st_uid), (FRESH, 0o600, 0),
          "the new file")
    expect(b"" in place.tree().values(), "what was in the way is kept")


@case("F320", "directories that their owner may not write to are filled, updated and emptied")
def _(place):
    os.makedirs(place.path("closed/inner"), exist_ok=True)
    for name in ("closed/f", "closed/gone", "closed/inner/g"):
        place.write(name, OLD)
    modes = {"closed": 0o555, "closed/inner": 0o550}
    for name, mode in reversed(modes.items()):
        os.chmod(place.path(name), mode)
    place.in_step(place.push())
    source, place.directory = place.directory, place.directory + "-other"
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.makedirs(place.directory, exist_ok=True)
    stranger(place)
    place.in_step(under(place, wrapper, "pull"))
    found = {name: os.stat(place.path(name)).st_mode & 0o777 for name in modes}
    equal(found, modes, "the permissions")
    # A program that made them knows how to change them, too.
    place.put("closed/f", NEW)
    place.put("closed/inner/new", FRESH)
    place.delete("closed/gone")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    equal(place.tree(), {"closed/f": NEW, "closed/inner/g": OLD, "closed/inner/new": FRESH},
          "the tree")
    found = {name: os.stat(place.path(name)).st_mode & 0o777 for name in modes}
    equal(found, modes, "the permissions after another run")
    place.server.forget_requests()
    place.in_step(under(place, wrapper, "sync"))
    equal(len(place.requests()), len(place.requests("ListObjectsV2")), "requests of a quiet run")
    # What a user closed stays so.
    os.chmod(place.path("closed/inner"), 0o500)
    place.put("closed/inner/g", NEW)
    result = under(place, wrapper, "pull")
    equal((result.status, place.tree()["closed/inner/g"]), (1, OLD), f"the end of {result}")
    place.directory = source
    for name in modes:
        os.chmod(place.path(name), 0o755)


CLOSED = {"closed": 0o555, "closed/inner": 0o550}


def permissions(place):
    return {name: os.stat(place.path(name)).st_mode & 0o777 for name in CLOSED}


def closed_mirror(place):
    """A stranger's mirror with directories that he may not write to; how to be him, and the tree
    that closed them, which is to be opened again."""
    os.makedirs(place.path("closed/inner"), exist_ok=True)
    tree = {f"closed/{name}": OLD for name in
            ("f", "gone", "inner/g", "inner/h", "inner/i")}
    for name in tree:
        place.write(name, OLD)
    for name, mode in reversed(CLOSED.items()):
        os.chmod(place.path(name), mode)
    place.in_step(place.push())
    for name in CLOSED:
        os.chmod(place.path(name), 0o755)
    place.directory += "-other"
    wrapper = stranger(place)
    if wrapper is None:
        return None, tree
    os.makedirs(place.directory, exist_ok=True)
    stranger(place)
    place.in_step(under(place, wrapper, "pull"))
    equal((permissions(place), place.tree()), (CLOSED, tree), "the mirror")
    return wrapper, tree


def other(place, wrapper, command, *options):
    """A command that is told no remote."""
    line = [*wrapper, place.server.osssync, command, "--json", *options]
    return program.run(line[0], line[1:], place.full_environment(), PATIENCE)


def rot(path):
    """Changes the content behind the times of a file, where ctime is as mtime."""
    found = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"rotten")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


@case("F320", "every command that gives or takes a name opens such a directory, and closes it")
def _(place):
    if not pretending(place, ctime="1"):
        return
    wrapper, tree = closed_mirror(place)
    if wrapper is None:
        return
    # A pull of single paths.
    place.put("closed/f", NEW)
    place.put("closed/inner/new/deep", FRESH)
    tree |= {"closed/f": NEW, "closed/inner/new/deep": FRESH}
    place.in_step(under(place, wrapper, "pull", "--", "closed/f", "closed/inner/new"))
    equal((permissions(place), place.tree()), (CLOSED, tree), "a pull of single paths")
    # A run of the whole mirror knows what is there again.
    place.in_step(under(place, wrapper, "pull"))
    # A plan, with a file and the directory that it leaves empty to delete.
    place.put("closed/f", OTHER)
    for name in ("closed/gone", "closed/inner/new/deep"):
        place.delete(name)
        del tree[name]
    plan = os.path.join(place.folder, "closed.plan")
    equal(under(place, wrapper, "pull", "--delete", "--save-plan", plan).status, 0, "the plan")
    place.in_step(other(place, wrapper, "apply", plan))
    tree["closed/f"] = OTHER
    equal((permissions(place), place.tree()), (CLOSED, tree), "an applied plan")
    expect(not os.path.exists(place.path("closed/inner/new")), "the empty directory is gone")
    # What one side renamed.
    place.put("closed/moved", OLD)
    place.delete("closed/inner/h")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    del tree["closed/inner/h"]
    tree["closed/moved"] = OLD
    equal((permissions(place), place.tree()), (CLOSED, tree), "a rename")
    # Files that rot behind their times, one of which somebody removes then.
    for name in ("closed/inner/g", "closed/inner/i"):
        rot(place.path(name))
    result = other(place, wrapper, "verify", place.directory)
    equal((result.status, len(result.all("verify_item"))), (1, 2), f"the damage: {result}")
    os.remove(place.path("closed/inner/g"))
    equal(other(place, wrapper, "verify", place.directory, "--repair").status, 0, "the repair")
    equal((permissions(place), place.tree()), (CLOSED, tree), "a repaired mirror")
    place.in_step(under(place, wrapper, "sync", "--delete"))
    equal((permissions(place), place.tree()), (CLOSED, tree), "the end")
    # What a run deletes there comes back.
    place.delete("closed/moved")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    equal(other(place, wrapper, "undo", place.directory).status, 0, "the undo")
    equal((permissions(place), place.tree()), (CLOSED, tree), "what the undo restored")
    place.in_step(under(place, wrapper, "sync"))
    # A directory that goes with all that it holds.
    for key in ("closed/inner/", *[name for name in tree if name.startswith("closed/inner/")]):
        place.delete(key)
    # Its deletions may come in a later run than its marker goes.
    equal(under(place, wrapper, "pull", "--delete", "--max-delete", "0").status, 3, "the limit")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    expect(not os.path.exists(place.path("closed/inner")), "the directory is gone")
    equal(os.stat(place.path("closed")).st_mode & 0o777, 0o555, "the permissions above it")


def held(place):
    """A run that has such a directory open and waits for an object; how to be its user, the tree
    that is to come of it, the run and how to let it go on."""
    wrapper, tree = closed_mirror(place)
    if wrapper is None:
        return None
    place.put("closed/f", NEW)
    place.put("closed/z", FRESH)
    tree |= {"closed/f": NEW, "closed/z": FRESH}
    goes_on = threading.Event()
    place.closers.append(goes_on.set)

    def hold(answer):
        goes_on.wait(PATIENCE)
    place.wire().on("GetObject", wire.changed(hold), "closed/z")
    running = Running(place, "pull", wrapper=wrapper)
    until(lambda: place.tree().get("closed/f") == NEW, "the first file")
    equal(permissions(place)["closed"], 0o755, "the open directory")
    return wrapper, tree, running, goes_on


@case("F324", "a run that is killed while such a directory is open leaves it to the next one")
def _(place):
    scene = held(place)
    if scene is None:
        return
    wrapper, tree, running, goes_on = scene
    running.kill()
    goes_on.set()
    place.endpoint = place.server.url
    place.in_step(under(place, wrapper, "pull"))
    equal((permissions(place), place.tree()), (CLOSED, tree), "after the next run")


@case("F324", "what a user gives such a directory while a run has it open is kept")
def _(place):
    scene = held(place)
    if scene is None:
        return
    wrapper, tree, running, goes_on = scene
    os.chmod(place.path("closed"), 0o711)
    goes_on.set()
    place.in_step(running.result())
    equal((permissions(place), place.tree()), (CLOSED | {"closed": 0o711}, tree), "the end")
    # It is the user's change, which a push sends.
    place.endpoint = place.server.url
    place.in_step(under(place, wrapper, "sync"))
    equal(place.head("closed/")["x-oss-meta-mode"], "40711", "the marker's permissions")


@case("F482", "an undo puts back what was replaced in a closed directory")
def _(place):
    place.write("closed/f", OLD)
    os.chmod(place.path("closed"), 0o555)
    wrapper = stranger(place)
    if wrapper is None:
        return
    place.in_step(under(place, wrapper, "push"))
    with open(place.path("closed/f"), "wb") as file:
        file.write(NEW)
    place.in_step(under(place, wrapper, "pull", "--force"))
    equal(place.tree(), {"closed/f": OLD}, "the tree of the run")
    line = [*wrapper, place.server.osssync, "undo", place.directory]
    result = program.run(line[0], line[1:], place.full_environment(), PATIENCE)
    equal((result.status, place.tree()), (0, {"closed/f": NEW}), f"{result}")


@case("F483", "a file that rotted comes back from the bucket although nothing has found it yet")
def _(place):
    if not pretending(place, ctime="1"):
        return
    place.write("f", FRESH)
    place.write("sound", OTHER)
    place.in_step(place.push())
    place.in_step(place.push())
    rot(place.path("f"))
    result = place.start("restore", place.directory, "f", "--json")
    equal((result.status, place.tree()["f"]), (0, FRESH), f"{result}")
    result = place.start("restore", place.directory, "sound", "--json")
    equal((result.status, result.all("restored")), (1, []), f"{result}")


@case("F359", "a run with another umask takes no directory of a marker for one that a user changed")
def _(place):
    def run(mask, *arguments):
        wrapper = ["sh", "-c", f'umask {mask}; exec "$0" "$@"']
        return place.in_step(under(place, wrapper, *arguments))

    place.put("theirs/", b"")
    run("022", "pull")
    for mask in ("002", "077"):
        os.umask(int(mask, 8))
        os.mkdir(place.path(f"made-{mask}"))
        os.umask(0o022)
        run(mask, "push")
    place.server.forget_requests()
    for mask, direction in (("002", "push"), ("077", "sync"), ("022", "push"), ("002", "sync")):
        run(mask, direction)
    equal(place.requests("CopyObject") + place.requests("PutObject"), [], "markers that were sent")
    # What a user changes is sent, by a run with either.
    for mask, mode in (("002", 0o700), ("077", 0o755)):
        os.chmod(place.path("theirs"), mode)
        equal(run(mask, "push").count("modes"), 1, f"permissions that changed to {mode:o}")


def closed_modes(place):
    return [oct(os.stat(place.path(name)).st_mode & 0o777) for name in ("ro", "ro/sub")]


@case("F376", "a closed directory whose marker is in another shard is written to, and closed again")
def _(place):
    if os.getuid() != 0:
        return skipped("only root gives files to other users")
    names = ("ro/a", "ro/f0", "ro/f1", "ro/sub/g", "z")
    for name in ("ro/", "ro/sub/"):
        place.put(name, b"", {"x-oss-meta-mode": "40555"})
    for name in names:
        place.put(name, OLD)
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.makedirs(place.directory, exist_ok=True)
    cuts = os.path.join(place.folder, "cuts")
    with open(cuts, "w", encoding="utf-8") as file:
        file.write("ro/f\n")
    stranger(place)
    result = under(place, wrapper, "shard", "--cuts", cuts)
    equal(result.status, 0, f"the cutting: {result}")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    equal(closed_modes(place), ["0o555"] * 2, "the directories after the first pull")
    for round, (name, content) in enumerate((("ro/f0", NEW), ("ro/sub/g", NEW), ("ro/f1", None))):
        place.put(name, content) if content else place.delete(name)
        for number in (1, 0):
            result = under(place, wrapper, "pull", "--delete", "--shard", f"{number}/2", "--round", f"r{round}")
            equal(result.status, 0, f"task {number}: {result}")
        equal(closed_modes(place), ["0o555"] * 2, f"the directories after the tasks of {name}")
        result = under(place, wrapper, "finish", "--round", f"r{round}")
        equal(result.status, 0, f"the end: {result}")
        equal(closed_modes(place), ["0o555"] * 2, f"the directories after {name}")
    equal(place.tree(), {"ro/a": OLD, "ro/f0": NEW, "ro/sub/g": NEW, "z": OLD}, "the tree")
    equal([place.get("ro/"), place.get("ro/sub/")], [b"", b""], "the markers")


@case("F376", "a directory that is missing in a closed one is made for what is restored")
def _(place):
    if os.getuid() != 0:
        return skipped("only root gives files to other users")
    place.put("ro/", b"", {"x-oss-meta-mode": "40555"})
    for name in ("ro/a", "ro/sub/g", "z"):
        place.put(name, OLD)
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.makedirs(place.directory, exist_ok=True)
    stranger(place)
    place.in_step(under(place, wrapper, "pull"))
    place.delete("ro/sub/g")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    expect(not os.path.exists(place.path("ro/sub")), "the directory is gone")
    line = [*wrapper, place.server.osssync, "restore", place.directory, "ro/sub/g", "--json"]
    result = program.run(line[0], line[1:], place.full_environment(), PATIENCE)
    equal((result.status, place.tree()["ro/sub/g"]), (0, OLD), f"the end of {result}")
    equal(oct(os.stat(place.path("ro")).st_mode & 0o777), "0o555", "the closed directory")


def give_to_a_stranger(path, bits):
    """Lets one more user in by an access control list, whose mask is what stat shows of the group."""
    owner = os.stat(path).st_mode >> 6 & 7
    entries = ((0x01, owner, 0xFFFFFFFF), (0x02, bits, 65534), (0x04, 0, 0xFFFFFFFF), (0x10, bits, 0xFFFFFFFF),
               (0x20, 0, 0xFFFFFFFF))
    os.setxattr(path, "system.posix_acl_access",
                struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries))


@case("F413", "a list that lets one user in opens the file and its directory for no group elsewhere")
def _(place):
    place.write("new/key", OLD)
    place.write("old/key", OLD)
    for name in ("new", "old"):
        os.chmod(place.path(name + "/key"), 0o600)
        os.chmod(place.path(name), 0o700)
    try:
        give_to_a_stranger(place.path("new/key"), 4)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return skipped("the file system has no access control lists")
        raise
    give_to_a_stranger(place.path("new"), 5)
    equal(oct(os.stat(place.path("new/key")).st_mode & 0o777), "0o640", "what stat says")
    place.in_step(place.push())
    # An ordinary change of what is in the bucket already.
    give_to_a_stranger(place.path("old/key"), 4)
    give_to_a_stranger(place.path("old"), 5)
    place.in_step(place.push())
    again = place.in_step(place.push())
    equal(again.count("transferred"), 0, f"the third push: {again}")
    equal([place.head(key)["x-oss-meta-mode"] for key in ("new/key", "old/key", "new/", "old/")],
          ["100600", "100600", "40700", "40700"], "what other machines are told")
    os.rename(place.path("old/key"), place.path("old/other"))
    place.in_step(place.push("--delete"))
    equal(place.head("old/other")["x-oss-meta-mode"], "100600", "after a rename")
    place.in_step(place.pull())
    equal(oct(os.stat(place.path("new/key")).st_mode & 0o777), "0o640", "the file after a pull")
