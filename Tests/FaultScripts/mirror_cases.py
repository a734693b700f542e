"""Rows F165 to F168: the whole mirror is not where or what it was."""

import os
import shutil

from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER
from stage import ramp


@case("F165", "an empty directory in place of the mirror deletes no object")
def _(place):
    for index in range(3):
        place.write(f"f{index}", ramp(100, index))
    place.in_step(place.push())
    # The disk is not mounted: an empty mount point, with or without our own state.
    away = place.directory + ".away"
    os.rename(place.directory, away)
    os.mkdir(place.directory)
    result = place.push("--delete")
    expect(result.count("deleted") in (0, None), f"deletions of {result}")
    equal(place.get("f0"), ramp(100, 0), "the object")
    shutil.rmtree(place.directory)
    os.rename(away, place.directory)
    for index in range(3):
        os.remove(place.path(f"f{index}"))
    result = place.push("--delete")
    equal(result.status, 3, f"exit of {result}")
    expect("the directory is empty" in result.error["message"], str(result.error))
    equal(place.get("f0"), ramp(100, 0), "the object")


@case("F165", "a state elsewhere does not let an unmounted mirror pass for an empty one")
def _(place):
    state = os.path.join(place.folder, "state")
    for index in range(3):
        place.write(f"f{index}", ramp(100, index))
    place.in_step(place.push("--state-dir", state))
    away = place.directory + ".away"
    os.rename(place.directory, away)
    os.mkdir(place.directory)
    place.write("one", b"something else is there")
    for command in (place.push, place.pull):
        result = command("--delete", "--state-dir", state)
        equal(result.status, 3, f"exit of {result}")
        expect("Is its disk mounted?" in result.error["message"], str(result.error))
    equal(place.get("f0"), ramp(100, 0), "the object")
    equal(place.tree(), {"one": b"something else is there"}, "the tree")


@case("F166", "a directory that was never linked is compared, and nothing of it lost")
def _(place):
    place.put("same", OLD)
    place.put("other", NEW)
    place.put("new", OTHER)
    place.write("same", OLD)
    place.write("other", b"of this directory")
    place.write("own", b"not in the remote")
    result = place.pull("--delete")
    equal((result.status, result.count("conflicts"), result.count("adopted")), (1, 1, 1),
          str(result))
    found = place.tree()
    kept = [name for name in found if name.startswith("other.conflict-")]
    equal(len(kept), 1, "copies of the local version")
    equal(found.pop(kept[0]), b"of this directory", "the local version")
    equal(found, {"same": OLD, "other": NEW, "new": OTHER, "own": b"not in the remote"}, "the tree")


@case("F167", "what a filter hides is not taken for deleted")
def _(place):
    for name in ("a.txt", "b.log", "sub/c.log"):
        place.write(name, name.encode() * 40)
    place.in_step(place.push())
    result = place.in_step(place.push("--delete", "--exclude", "*.log"))
    equal(result.count("deleted"), 0, f"deletions of {result}")
    warnings = " ".join(event["message"] for event in result.all("warning"))
    expect("filters have changed" in warnings, f"nothing announced: {warnings}")
    again = place.in_step(place.push("--delete", "--exclude", "*.log"))
    equal(again.all("warning"), [], "warnings of a run with the same filter")
    os.remove(place.path("b.log"))
    result = place.in_step(place.push("--delete", "--exclude", "*.log"))
    equal(result.count("deleted"), 0, f"deletions of {result}")
    expect(place.get("b.log") is not None, "the object that is hidden was deleted")
    result = place.in_step(place.pull("--delete", "--exclude", "*.log"))
    equal((result.count("deleted"), "sub/c.log" in place.tree()), (0, True), str(result))
    # What vanished while it was excluded is unknown, and comes back with a pull.
    result = place.in_step(place.push("--delete"))
    equal((result.count("deleted"), result.count("only_remote")), (0, 1), f"without it: {result}")
    result = place.in_step(place.pull("--delete"))
    equal((result.count("deleted"), place.tree()["b.log"]), (0, b"b.log" * 40), f"{result}")
    os.remove(place.path("b.log"))
    result = place.in_step(place.push("--delete"))
    equal((result.count("deleted"), place.get("b.log")), (1, None), f"what is seen: {result}")


@case("F168", "the second of two machines that push to one prefix sees conflicts")
def _(place):
    place.write("f", OLD)
    place.in_step(place.push())
    second = place.directory + ".second"
    first, place.directory = place.directory, second
    place.in_step(place.pull())
    place.write("f", b"of the second machine")
    place.directory = first
    place.write("f", NEW)
    place.in_step(place.push())
    place.directory = second
    result = place.push("--delete")
    equal((result.status, result.count("conflicts")), (1, 1), str(result))
    expect("both sides changed it" in result.said("f"), result.said("f"))
    expect("--on-conflict local sends the version here" in result.said("f"), result.said("f"))
    equal((place.get("f"), place.tree()["f"]), (NEW, b"of the second machine"), "both versions")
