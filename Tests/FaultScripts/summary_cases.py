"""Row F178: what a summary says of two sides that differ."""

import os

from case_table import case, equal, expect
from scenes import FRESH, NEW, OLD, OTHER
from stage import BUCKET


def mirrored(place):
    for key, content in {"a": OLD, "b": OTHER, "c": FRESH}.items():
        place.put(key, content)
    place.in_step(place.pull())


def differs(place, result, **counts):
    """Done, not in step, and the counts say why."""
    equal((result.status, result.summary["in_step"]), (0, False), f"what was said: {result}")
    for name in ("only_local", "only_remote", "local_changes", "deleted_here", "deleted_there"):
        equal(result.count(name), counts.get(name, 0), f"{name} of {result}")


@case("F178", "two sides that differ are not called in step, in any direction")
def _(place):
    mirrored(place)
    place.write("mine", NEW)
    place.put("theirs", NEW)
    os.remove(place.path("a"))
    place.delete("b")
    differs(place, place.pull("--dry-run"), only_local=1, deleted_there=1)
    differs(place, place.push("--dry-run"), only_remote=1, deleted_here=1)
    differs(place, place.run("sync", "--dry-run"), deleted_here=1, deleted_there=1)
    differs(place, place.run("sync"), deleted_here=1, deleted_there=1)
    with open(place.path("c"), "ab") as file:
        file.write(b"more")
    differs(place, place.pull(), local_changes=1, deleted_there=1)
    # A push sends what the remote lost.
    result = place.in_step(place.push())
    expect(result.summary["in_step"], f"two equal sides: {result}")


@case("F178", "what is never sent keeps both sides apart until it is excluded")
def _(place):
    mirrored(place)
    os.symlink("a", place.path("link"))
    os.mkfifo(place.path("pipe"))
    for command in (place.pull, place.push):
        result = place.in_step(command())
        counts = (result.summary["in_step"], result.count("only_local"),
                  result.count("not_mirrored"))
        equal(counts, (False, 0, 2), "what no run sends")
    status = place.start("status", place.directory, "--json", "--exit-code")
    told = status.last("status")
    equal((status.status, told["in_step"], told["not_mirrored"]), (1, False, 2), "the status")
    result = place.in_step(place.push("--exclude", "link", "--exclude", "pipe"))
    equal((result.summary["in_step"], result.count("excluded")), (True, 2), "excluded")


@case("F178", "the text says what was left and which option would take it")
def _(place):
    mirrored(place)
    os.remove(place.path("a"))
    place.delete("b")
    remote = f"oss://{BUCKET}/{place.prefix}"
    for command, words in {
            "sync": ("1 item deleted here and kept in the bucket; --delete removes",
                     "1 item deleted in the bucket and kept here; --delete removes")}.items():
        result = place.start(command, place.directory, remote)
        equal(result.status, 0, f"the exit status of {result}")
        for word in words:
            expect(word in result.output, f"'{word}' is not in {result.output!r}")
    place.write("mine", NEW)
    expect("1 item only here; a push or sync sends" in
           place.start("pull", place.directory, remote, "--exclude", "/b").output, "of a pull")
    place.put("theirs", NEW)
    expect("1 item only in the bucket; a pull or sync fetches" in
           place.start("push", place.directory, remote).output, "of a push")


@case("F178", "status tells by its exit status whether the sides differ")
def _(place):
    mirrored(place)

    def status(*options):
        return place.start("status", place.directory, "--json", *options)

    equal((status().status, status("--exit-code").status), (0, 0), "of equal sides")
    os.remove(place.path("a"))
    place.delete("b")
    place.write("mine", NEW)
    place.put("theirs", NEW)
    result = status("--exit-code")
    found = result.last("status")
    equal((status().status, result.status, found["in_step"]), (0, 1, False), "of others")
    counts = [found[name] for name in
              ("only_local", "only_remote", "deleted_here", "deleted_there", "local_changes")]
    equal(counts, [1, 1, 1, 1, 0], "what differs")
