"""Rows F174 to F176, F440 and F477: what a bucket writer can do with the ignore file."""

import os
import signal
import time

from case_table import case, equal, expect
from machine import Running, pretending, until
from scenes import OTHER

RULES = b"*.key\n.env\nprivate/\n"
FEWER = b"# nothing is left out\n"
SECRETS = [".env", "private/diary", "tls.key"]


def private(place, rules=RULES):
    """A mirror whose rules hide what is private, in step."""
    place.write(".osssyncignore", rules)
    place.write("open", OTHER)
    for name in SECRETS:
        place.write(name, b"private " + name.encode())
    place.in_step(place.run("sync"))


def sent(place):
    return [name for name in SECRETS if place.get(name) is not None]


@case("F174", "rules that the bucket makes narrower send nothing, until they are accepted here")
def _(place):
    private(place)
    place.put(".osssyncignore", FEWER)
    result = place.run("sync")
    equal((result.status, sent(place)), (0, []), f"the run that fetches them: {result}")
    for command in ("push", "sync", "push"):
        for options in (("--dry-run",), ()):
            result = place.run(command, *options)
            equal((result.status, result.count("skipped")), (1, 3), f"held: {result}")
            expect(any("3 files are not uploaded" in line["message"] and "touch" in line["message"]
                       for line in result.all("warning")), f"no word: {result}")
    equal(sent(place), [], "what was sent")
    place.write("private/new", OTHER)
    equal(place.push("--delete=excluded").status, 1, "with deletions")
    equal((sent(place), place.get("private/new")), ([], None), "what was sent")
    equal(place.pull().status, 0, "a pull sends nothing")
    # Also where the manifest is lost.
    for name in os.listdir(place.path(".osssync")):
        if name.startswith("manifest.db"):
            os.remove(place.path(".osssync/" + name))
    place.push()
    equal(sent(place), [], "what was sent with a new manifest")
    # A time that moved by less than two seconds may be the file system's doing.
    later = os.stat(place.path(".osssyncignore")).st_mtime + 10
    os.utime(place.path(".osssyncignore"), (later, later))
    place.in_step(place.push())
    equal(sent(place), SECRETS, "what was sent once they were accepted")
    place.in_step(place.push())


@case("F174", "rules that hide more apply at once, and those that are edited here, too")
def _(place):
    private(place)
    place.put(".osssyncignore", RULES + b"*.tmp\n")
    place.write("a.tmp", OTHER)
    place.put("b.tmp", OTHER)
    place.in_step(place.pull())
    place.in_step(place.push())
    equal((sent(place), place.get("a.tmp")), ([], None), "what was sent")
    place.write(".osssyncignore", b".env\n")
    place.in_step(place.run("sync"))
    equal(sent(place), SECRETS[1:], "what was sent after an edit")


@case("F174", "the ignore file's object that is deleted sends nothing either")
def _(place):
    private(place)
    place.delete(".osssyncignore")
    place.in_step(place.run("sync", "--delete"))
    expect(not os.path.exists(place.path(".osssyncignore")), "the file")
    result = place.run("sync", "--delete")
    equal((result.status, sent(place)), (1, []), f"what was sent: {result}")
    place.write(".osssyncignore", b"")
    place.in_step(place.run("sync"))
    equal(sent(place), SECRETS, "what was sent once they were accepted")


@case("F477", "rules that were removed here, and come back from the bucket, exclude no less")
def _(place):
    for command in ("pull", "restore"):
        private(place)
        os.remove(place.path(".osssyncignore"))
        place.put(".osssyncignore", FEWER)
        if command == "pull":
            place.in_step(place.pull())
        else:
            equal(place.start("restore", place.directory, ".osssyncignore").status, 0, "the restoration")
        expect(os.path.exists(place.path(".osssyncignore")), f"the file after {command}")
        for options in (("sync",), ("push", "--delete"), ("sync",)):
            result = place.run(*options)
            equal((result.status, result.count("skipped"), sent(place)), (1, 3, []), f"held: {result}")
        # What the user writes counts at once.
        place.write(".osssyncignore", b"*.key\n")
        place.in_step(place.run("sync"))
        equal(sent(place), SECRETS[:2], "what was sent after an edit")
        for name in SECRETS[:2]:
            place.delete(name)
    # A run that sends ends the rules.
    os.remove(place.path(".osssyncignore"))
    place.in_step(place.push())
    equal(sent(place), SECRETS, "what was sent without rules")


@case("F174", "a machine that only ever fetched the rules holds to them")
def _(place):
    place.put(".osssyncignore", RULES)
    place.put("open", OTHER)
    place.in_step(place.pull())
    for name in SECRETS:
        place.write(name, OTHER)
    place.in_step(place.push())
    for text in (FEWER, b"*.key\n", b"nothing\n"):
        place.put(".osssyncignore", text)
        place.pull()
        equal(place.push().status, 1, f"the exit status with {text}")
        equal(sent(place), [], f"what was sent with {text}")


@case("F174", "of two ignore files that were never mirrored the one here stays")
def _(place):
    place.write(".osssyncignore", RULES)
    place.write(".env", OTHER)
    place.put(".osssyncignore", FEWER)
    for command in ("sync", "pull", "push", "sync"):
        equal(place.run(command).status, 1, f"the exit status of {command}")
        equal(place.tree().get(".osssyncignore"), RULES, "the rules here")
        equal((sent(place), place.get(".osssyncignore")), ([], FEWER), "the objects")
    result = place.run("sync", "--on-conflict", "local")
    equal(place.get(".osssyncignore"), RULES, f"the object: {result}")
    place.in_step(place.run("sync"))


def second(place):
    """Runs `push` of the same directory to another place with a state of its own."""
    state = os.path.join(place.folder, "state")
    remote = f"oss://fault-bucket/{place.prefix}-second"
    return lambda *options: place.start("push", place.directory, remote, "--state-dir", state, "--json", *options)


@case("F440", "rules that the bucket of one state makes narrower send nothing by another state of the directory")
def _(place):
    private(place)
    push = second(place)

    def second_sent():
        keys = [request["key"] for request in place.requests("PutObject")]
        return [name for name in SECRETS if f"{place.prefix}-second/{name}" in keys]

    place.in_step(push())
    for text in (FEWER, None, b"*.key\n"):
        if text is None:
            place.delete(".osssyncignore")
        else:
            place.put(".osssyncignore", text)
        equal(place.pull("--delete").status, 0, "the run that changes them")
        for turn in range(2):
            for options in (("--dry-run",), ()):
                result = push(*options)
                equal((result.status, second_sent()), (1, []), f"the second state with {text}: {result}")
            # By now, the first state knows that its run has brought them.
            equal(place.push().status, 1, "the first state")
        equal(sent(place), [], "what the first state sent")
    # What the user accepts is accepted for both.
    now = time.time()
    os.utime(place.path(".osssyncignore"), (now, now + 0.5))
    place.in_step(push())
    equal(second_sent(), SECRETS[:2], "what was sent once they were accepted")
    place.in_step(place.push())
    equal(sent(place), SECRETS[:2], "what the first state sent then")


@case("F440", "a state that had its own record of accepted rules keeps to it")
def _(place):
    private(place)
    push = second(place)
    place.in_step(push())
    os.remove(place.path(".osssync/ignore-accepted"))
    place.put(".osssyncignore", FEWER)
    equal(place.pull().status, 0, "the run that changes them")
    result = push()
    equal(result.status, 1, f"the second state: {result}")


@case("F175", "an ignore file that cannot be used is not taken, and ends no later run")
def _(place):
    private(place)
    for name, text in {"line": b"[abc\n", "size": b"#" * 70_000}.items():
        place.put(".osssyncignore", text)
        place.put("new-" + name, OTHER)
        result = place.pull()
        equal((result.status, result.count("failed")), (1, 1), f"{name}: {result}")
        expect("cannot be used" in result.said(".osssyncignore"), f"no reason: {result}")
        found = place.tree()
        equal((found[".osssyncignore"], found["new-" + name]), (RULES, OTHER), "the tree")
        equal(place.run("sync").status, 1, "a second run")
        equal(place.start("status", place.directory, "--json").status, 0, "status")
    place.put(".osssyncignore", RULES + b"*.o\n")
    place.in_step(place.pull())
    place.put(".osssyncignore/x", OTHER)
    place.delete("new-line")
    result = place.pull("--delete")
    equal((result.status, result.count("skipped"), result.count("deleted")), (1, 1, 1),
          f"a key beneath: {result}")
    equal(place.tree()[".osssyncignore"], RULES + b"*.o\n", "the rules")


@case("F175", "a bad ignore file that came from the bucket is fetched anew before all else")
def _(place):
    place.put("a", OTHER)
    place.put(".osssyncignore", RULES)
    place.in_step(place.pull())
    # As a version that took anything would have left it.
    place.put(".osssyncignore", b"[abc\n")
    with open(place.path(".osssyncignore"), "wb") as file:
        file.write(b"[abc\n")
    equal(place.push().status, 2, "a file that was broken here")
    os.remove(place.path(".osssyncignore"))
    place.run("pull")
    expect(not os.path.exists(place.path(".osssyncignore")), "it was taken")
    place.put(".osssyncignore", RULES)
    place.in_step(place.pull())
    equal(place.tree()[".osssyncignore"], RULES, "the rules")


@case("F490", "on a disk that ignores case, no other spelling of the ignore file from the bucket is taken for it")
def _(place):
    private(place)
    if not pretending(place, folding="1"):
        return
    # Before the rules are gone, and afterwards.
    for spelling in (".OSSSYNCIGNORE", ".OsssyncIgnore", ".o\u00dfsyncignore"):
        place.put(spelling, FEWER)
        place.delete(".osssyncignore")
        for turn in range(3):
            result = place.run("sync", "--delete")
            equal((result.status, sent(place)), (1, []), f"turn {turn}: {result}")
            expect("reserved for the ignore file" in result.said(spelling), f"no reason: {result}")
        expect(spelling not in place.tree(), f"it was fetched: {place.tree()}")
        place.delete(spelling)
    place.write(".OSSSYNCIGNORE", RULES)
    result = place.push()
    equal((result.status, sent(place), place.get(".OSSSYNCIGNORE")), (1, [], None), f"a user's: {result}")


HOSTILE = {
    "names": b"".join(b"b%d\n" % (number % 10) for number in range(21_000)),
    "joker": b"b?\n" * 21_000,
    "stars": b"/".join([b"**", b"*"] * 500) + b"/b\n",
    "many": (b"/".join([b"**", b"*"] * 50) + b"/b\n") * 200,
}


@case("F176", "patterns and keys that are made to take long take little")
def _(place):
    deep = "/".join(["a"] * 500) + "/c"
    for name, rules in HOSTILE.items():
        place.prefix += "x"
        place.directory += "x"
        place.put(".osssyncignore", rules)
        place.in_step(place.pull())
        for number in range(5):
            place.put(f"{number}/{deep}", b"x")
        place.put("z", OTHER)
        begin = os.times()
        result = place.pull("--delete")
        used = os.times().children_user - begin.children_user
        equal(place.tree()["z"], OTHER, f"with {name}")
        expect(used < 20, f"{name} took {used} s: {result}")
        expect(result.status == 0 or result.count("skipped") >= 5, f"{name}: {result}")
        if result.count("skipped"):
            expect("take too long" in result.said(f"0/{deep}"), f"no reason: {result}")


@case("F176", "Ctrl-C is heard while patterns are compared")
def _(place):
    deep = "/".join(["a"] * 500) + "/c"
    place.put(".osssyncignore", HOSTILE["many"])
    place.in_step(place.pull())
    for number in range(100):
        place.put(f"{number}/{deep}", b"x")
    running = Running(place, "pull")
    until(lambda: place.requests("ListObjectsV2"), "the listing")
    time.sleep(0.3)
    at = running.send(signal.SIGINT)
    result = running.result()
    expect(result.status in (0, 1, 130), f"the exit status of {result}")
    expect(time.monotonic() - at < 5, f"it took {time.monotonic() - at} s")
