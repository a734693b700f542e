"""Rows F282 to F286, F444, F468, F472, F480 and F521: places of the state, directories that are only sent, and doubt."""

import os
import shutil
import stat

import program
from case_table import case, equal, expect
from machine import Disk, owned, pretending, stranger, under
from stage import ramp
from Support.processes import PATIENCE


@case("F286", "what this user may not read holds back only what is beneath it, and the exclusion is named")
def _(place):
    for name in ("priv/a", "priv/b", "plain", "gone", "file"):
        place.write(name, ramp(100))
    place.in_step(place.push())
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.chmod(place.path("priv"), 0)
    place.write("file", ramp(200, 2))
    os.chmod(place.path("file"), 0)
    os.remove(place.path("gone"))
    for _ in range(2):
        result = under(place, wrapper, "push", "--delete")
        equal((result.status, result.count("skipped"), result.count("failed")), (1, 2, 0), f"{result}")
        equal(result.summary.get("deletions_held_back"), None, f"{result}")
        expect("--exclude '/priv/'" in result.said("priv"), f"{result}")
        expect("--exclude '/file'" in result.said("file"), f"{result}")
        equal(place.get("gone"), None, f"the object after {result}")
        for key in ("priv/a", "priv/b", "plain", "file"):
            equal(place.get(key), ramp(100), f"the object {key} after {result}")
    result = under(place, wrapper, "push", "--delete", "--exclude", "/priv/", "--exclude", "/file")
    equal((result.status, result.count("deleted")), (0, 0), f"{result}")
    os.chmod(place.path("priv"), 0o755)
    # What vanished while it was excluded is unknown: it is seen once more before.
    under(place, wrapper, "push", "--delete")
    shutil.rmtree(place.path("priv"))
    result = under(place, wrapper, "push", "--delete")
    equal(result.count("deleted"), 2, f"{result}")


@case("F480", "an object that the store refuses holds back deletions, and the exclusion is named")
def _(place):
    for name in ("gone", "plain", "it's"):
        place.write(name, ramp(100))
    place.in_step(place.push())
    os.remove(place.path("gone"))
    place.write("it's", ramp(200))
    place.faults(place.fault("PutObject", {"fail": {"status": 403, "code": "KMS.KeyState"}}, "it's"))
    for _ in range(2):
        result = place.push("--delete")
        equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 0), f"{result}")
        held = result.summary["deletions_held_back"]
        expect("The store refuses 'it's'" in held and """--exclude '/it'\\''s'""" in held, held)
    result = place.push("--delete", "--exclude", "/it's", "--include", "/it's/")
    equal((result.status, result.count("deleted"), place.get("it's")), (0, 1, ramp(100)), f"{result}")


@case("F286", "objects that change beneath what this user may not read hold back nothing else")
def _(place):
    for name in ("priv/a", "plain", "gone"):
        place.write(name, ramp(100))
    place.in_step(place.push())
    wrapper = stranger(place)
    if wrapper is None:
        return
    os.chmod(place.path("priv"), 0)
    for number, command in enumerate(("pull", "sync", "push")):
        place.put("priv/a", ramp(200, number))
        place.put(f"priv/new{number}", ramp(10))
        place.put("gone", ramp(100))
        under(place, wrapper, "pull")
        if command == "push":
            os.remove(place.path("gone"))
        else:
            place.delete("gone")
        result = under(place, wrapper, command, "--delete")
        equal((result.status, result.count("deleted")), (1, 1), f"{result}")
        equal(result.summary.get("deletions_held_back"), None, f"{result}")
    # A cut mirror, too, whose directory lies in several shards.
    cuts = os.path.join(place.folder, "cuts")
    with open(cuts, "w") as file:
        file.write("priv/b\n")
    os.chmod(place.path("priv"), 0o755)
    line = [*wrapper, place.server.osssync, "shard", "--cuts", cuts, place.directory]
    equal(program.run(line[0], line[1:], place.full_environment(), PATIENCE).status, 0, "the cuts")
    os.chmod(place.path("priv"), 0)
    place.delete("plain")
    result = under(place, wrapper, "pull", "--delete")
    equal((result.status, result.count("deleted")), (1, 1), f"{result}")
    os.chmod(place.path("priv"), 0o755)


@case("F284", "a directory of the system is pushed, and nothing is written there")
def _(place):
    place.put("hostname", ramp(10))
    state = os.path.join(place.folder, "state")
    names = ["/etc", "/usr/local"]
    limits = ["--max-size", "100K", "--exclude", "*", "--include", "/hostname", "--include", "/passwd"]
    for name in names:
        place.directory = name
        before = os.stat(name).st_mtime_ns
        result = place.push("--delete")
        equal(result.status, 3, f"{result}")
        expect("--state-dir" in result.error["message"], f"{result}")
        for command in ("pull", "sync"):
            result = place.run(command, "--state-dir", state + name.replace("/", "-"))
            equal(result.status, 3, f"{command} of {result}")
            expect("anything else needs a separate directory" in result.error["message"], f"{result}")
        place.delete("hostname")
        for options in (["--dry-run"], [], []):
            result = place.push("--delete", "--state-dir", state + name.replace("/", "-"), *limits, *options)
            equal(result.status, 0, f"{result}")
        place.put("hostname", ramp(10))
        expect(not os.path.exists(name + "/.osssync"), "osssync's own files there")
        equal(os.stat(name).st_mtime_ns, before, "the time of the directory")
    expect(place.get("passwd") is not None, "what was sent")


@case("F285", "the kernel's file systems are not entered, nor any other with --one-file-system")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    place.write("f", ramp(10))
    os.makedirs(place.path("kernel"))
    disk.memory(place.path("memory"), "size=64k")
    disk.mount("-t", "tmpfs", "-o", "size=64k", "none", place.path("kernel"))
    disk.mount("--rbind", "/proc", place.path("kernel"))
    with disk.inside() as seen:
        seen.write("memory/g", ramp(20))
    for _ in range(2):
        result = place.in_step(disk.run("push", "--delete"))
        expect("is the proc file system of the kernel" in result.said("kernel"), f"{result}")
    equal(place.get("memory/g"), ramp(20), "what is mounted")
    for mounted in (True, False):
        if not mounted:
            disk.unmount(place.path("memory"))
        result = place.in_step(disk.run("push", "--delete=extra", "--one-file-system"))
        equal((result.count("deleted"), result.count("skipped")), (0, 0), f"{result}")
        equal(place.get("memory/g"), ramp(20), f"what is mounted, after {result}")
    expect(not any("/kernel/" in (request.get("key") or "") for request in place.requests()), "what was asked")


@case("F282", "two states of one directory on another mount keep trash and unfinished downloads apart")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    os.makedirs(place.directory)
    states = []
    for name in ("one", "two"):
        path = os.path.join(place.folder, name)
        disk.memory(path, "size=8m")
        states.append(os.path.join(path, "state"))
    place.put("gone", ramp(100))
    place.put("kept", ramp(200))
    for state in states:
        place.in_step(disk.run("pull", "--state-dir", state))
    place.delete("gone")
    result = place.in_step(disk.run("pull", "--delete", "--state-dir", states[0]))
    equal(result.count("deleted"), 1, f"{result}")
    place.in_step(disk.run("pull", "--delete", "--trash-days", "0", "--state-dir", states[1]))
    disk.alone("trash", "--empty", "--state-dir", states[1])
    disk.alone("undo", "--state-dir", states[0])
    equal(disk.tree(), {"gone": ramp(100), "kept": ramp(200)}, "the tree")


@case("F283", "where .osssync is a mount of its own, downloads get their names all the same")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    disk.memory(place.path(".osssync"), "size=8m,mode=700")
    tree = {"f": ramp(70_000), "d/g": ramp(500, 1), "large": ramp(3 << 20, 2)}
    for key, content in tree.items():
        place.put(key, content)
    for _ in range(2):
        place.in_step(disk.run("pull", "--delete"))
        equal({key: value for key, value in disk.tree().items() if not key.startswith(".osssync")}, tree,
              "the tree")
    place.delete("f")
    place.in_step(disk.run("pull", "--delete"))
    place.in_step(disk.run("push", "--delete=extra"))
    disk.alone("undo")
    expect("f" in disk.tree(), "what was deleted")
    equal(stat.S_IMODE(os.stat(place.path(".osssync-work")).st_mode), 0o700, "its mode")


@case("F281", "the state of one mirror is no content of another")
def _(place):
    inner, state = os.path.join(place.folder, "inner"), place.path("deep/state")
    os.makedirs(inner)
    with open(os.path.join(inner, "secret"), "wb") as file:
        file.write(ramp(300))
    place.write("deep/f", ramp(10))
    remote = f"oss://fault-bucket/{place.prefix}-inner"
    equal(place.start("push", inner, remote, "--state-dir", state, "--json").status, 0, "the inner push")
    result = place.in_step(place.push())
    expect("is the state directory of a mirror" in result.said("deep/state"), f"{result}")
    for name in ("config", "identity", "manifest.db", "lock"):
        equal(place.get("deep/state/" + name), None, f"the object of {name}")
    # Another writer puts them there.
    kept = open(os.path.join(state, "config"), "rb").read()
    place.put("deep/state/config", b"[mirror]\nremote = oss://elsewhere/\n")
    place.put("planted/identity", b"osssync-state 1\nstate x\n")
    place.put("planted/f", ramp(20))
    for command in ("pull", "sync"):
        result = place.run(command, "--delete")
        equal(result.status, 1, f"{command}: {result}")
        equal(open(os.path.join(state, "config"), "rb").read(), kept, f"the inner state after {command}")
        expect(not os.path.exists(place.path("planted/identity")), "a planted state")
        expect("--exclude" in result.said("planted/identity"), f"{result}")
    equal(place.tree()["planted/f"], ramp(20), "what lies beside")


@case("F444", "a file that cannot be replaced holds back only deletions at or beneath its name")
def _(place):
    for name in ("shared/plan", "shared/gone", "closed/f", "gone"):
        place.write(name, ramp(100))
    place.in_step(place.push())
    wrapper = stranger(place)
    if wrapper is None:
        return
    # In a directory with the sticky bit, the file of another user; and a directory that is closed (until its
    # permissions are recorded: then runs open it).
    os.chown(place.path("shared"), 0, 0)
    os.chmod(place.path("shared"), 0o1777)
    os.chown(place.path("shared/plan"), 0, 0)
    os.chmod(place.path("shared/plan"), 0o666)
    os.chmod(place.path("closed"), 0o555)
    place.put("closed/f", ramp(200, 3))
    place.put("shared/plan", ramp(200, 1))
    place.delete("gone")
    place.delete("shared/gone")
    for turn in range(2):
        if turn:
            # Now both sides changed it.
            with open(place.path("shared/plan"), "wb") as file:
                file.write(ramp(300, 2))
        result = under(place, wrapper, "sync", "--delete", "--on-conflict", "keep-both")
        equal((result.status, result.count("failed"), result.count("deleted")), (1, 2 - turn, 2 - 2 * turn), f"{result}")
        equal(result.summary.get("deletions_held_back"), None, f"{result}")
        equal(sorted(place.tree()), ["closed/f", "shared/plan"], "the files")
    expect("neither side was changed" in str(result.all("conflict")), f"what was said of the conflict: {result.output}")
    equal(place.get("shared/plan"), ramp(200, 1), "the object")
    os.chmod(place.path("closed"), 0o755)


@case("F468", "a last success in the future is no fresh one, and doctor tells another endpoint")
def _(place):
    clock = os.path.join(place.folder, "clock")
    if not pretending(place, clock=clock):
        return
    place.write("f", ramp(100))

    def tell(seconds):
        with open(clock, "w", encoding="ascii") as file:
            file.write(str(seconds))

    tell(400 * 86_400)
    place.in_step(place.push())
    tell(0)
    result = place.start("doctor", place.directory, "--max-age", "26h")
    equal(result.status, 1, f"{result.output}")
    expect("in the future" in result.output, result.output)
    expect("(in the future)" in place.start("status", place.directory).output, "status")
    place.in_step(place.push())
    equal(place.start("doctor", place.directory, "--max-age", "26h").status, 0, "doctor after a run")
    place.endpoint = place.endpoint.replace("127.0.0.1", "localhost")
    result = place.start("doctor", place.directory)
    equal(result.status, 1, result.output)
    expect("for another remote" in result.output, result.output)


@case("F472", "a file on a mount of its own is not freed, because no pull could bring it back")
def _(place):
    if not Disk.is_possible():
        return
    disk = Disk(place)
    place.write("f", ramp(100))
    disk.memory(place.path("sub"), "size=1m")
    with disk.inside():
        place.write("sub/g", ramp(200))
    place.in_step(disk.run("push"))
    result = disk.alone("free", "sub", "f", "--json")
    equal(result.status, 1, result.output)
    expect("no pull could bring it back" in result.output, result.output)
    equal(disk.tree(), {"sub/g": ramp(200)}, "the tree")
    place.in_step(disk.run("pull", "f"))
    equal(sorted(disk.tree()), ["f", "sub/g"], "the tree after the pull")


@case("F521", "what the owner of a directory freed is not deleted by root's own state of it")
def _(place):
    wrapper = stranger(place)
    if wrapper is None or os.getuid() != 0:
        return
    for name in ("d/a", "d/b", "c", "e", "f", "g"):
        place.write(name, ramp(100))
    owned(place.directory)
    place.in_step(under(place, wrapper, "push"))
    state = os.path.join(place.folder, "state of root")
    place.in_step(place.push("--state-dir", state))
    line = [*wrapper, place.server.osssync, "free", place.directory, "d", "c"]
    equal(program.run(line[0], line[1:], place.full_environment(), PATIENCE).status, 0, "the freeing")
    os.remove(place.path("e"))
    result = place.push("--delete", "--state-dir", state)
    equal((result.status, result.count("deleted")), (0, 1), f"{result}")
    for name in ("d/a", "d/b", "c"):
        equal(place.get(name), ramp(100), f"{name} after {result}")
