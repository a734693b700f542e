"""Rows F270–F272, F320 and F359: who may read files, shared directories, files of several names."""

import os

from case_table import case, equal, expect
from machine import stranger, stranger_number, under
from scenes import FRESH, NEW, OLD, OTHER

MANY = [f"name{number}" for number in range(6)]


@case("F270", "a file that may not be replaced in a shared directory gets no second name")
def _(place):
    if os.getuid() != 0:
        return
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
        return
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
