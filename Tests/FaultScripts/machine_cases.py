"""Rows F074, F092, F093 and F125: other machines, which a preloaded library pretends."""

import os

from case_table import case, equal, expect
from machine import pretending
from name_cases import hint
from scenes import FRESH, NEW, OLD, OTHER, ends_in_step, pulled
from stage import ramp

YEAR = 365 * 86_400


@case("F092", "a wall clock that is set by a year in the middle of a run ends nothing")
def _(place):
    clock = os.path.join(place.folder, "clock")
    if not pretending(place, clock=clock):
        return
    content = ramp(6_000_000, 5)
    for years in (1, -1):
        if os.path.exists(clock):
            os.remove(clock)
        place.prefix += "x"
        place.directory += "x"
        tree = pulled(place, new=content)
        between = place.wire()

        def step(request, forward, years=years):
            if (request.range_start or 0) == 1 << 20:
                with open(clock, "w") as file:
                    file.write(str(years * YEAR))
            return None
        between.on("GetObject", step, "victim")
        result = place.pull("--delete", "--part-size", "1M", "--jobs", "1")
        ends_in_step(place, result, tree)
        warnings = [event["message"] for event in result.all("warning")]
        expect(any("clock is" in text for text in warnings), f"the clock was not set: {warnings}")
        expect(result.summary["seconds"] < 100, f"its duration is {result.summary['seconds']} s")
        between.clear()
        again = place.in_step(place.pull("--delete"))
        equal((again.count("transferred"), again.count("deleted")), (0, 0), f"what {again} did")


@case("F125", "a mirror on a network file system is warned of, and its manifest does without a log")
def _(place):
    if not pretending(place, network="1"):
        return
    tree = pulled(place)
    result = place.pull("--delete")
    ends_in_step(place, result, tree)
    warnings = [event["message"] for event in result.all("warning")]
    expect(any("network file system" in text for text in warnings), f"no warning: {warnings}")
    place.put(".osssync/manifest.db", OTHER)
    result = place.start("status", place.directory, "--exit-code", "--json")
    status = result.last("status")
    equal((result.status, status["in_step"], status["not_mirrored"]), (1, False, 1),
          f"the end of {result}")
    equal(len(result.all("warning")), 2, f"what was said: {result.output}")
    place.put("other", OTHER)
    result = place.start("status", place.directory, "--exit-code", "--json")
    equal((result.status, result.last("status")["in_step"]), (1, False), f"the end of {result}")
    place.delete("other")
    place.delete(".osssync/manifest.db")
    with open(place.path(".osssync/manifest.db"), "rb") as file:
        equal(file.read(20)[18:], b"\x01\x01", "the versions of the journal in the manifest")
    equal([name for name in os.listdir(place.path(".osssync")) if name.startswith("manifest.db-")],
          [], "companions of the manifest")
    place.write("victim", FRESH)
    place.in_step(place.push())
    equal(place.get("victim"), FRESH, "the object")


@case("F093", "where names fold one of two keys is a file, and the other is named")
def _(place):
    twins = {"A": NEW, "a": OTHER, "d/B": FRESH, "d/b": ramp(10)}
    for name, content in {**twins, "plain": OTHER}.items():
        place.put(name, content)
    if not pretending(place, folding="1"):
        return
    trees = []
    for turn in range(3):
        result = place.pull("--delete")
        equal((result.status, result.count("skipped"), result.count("failed"),
               result.count("deleted")), (1, 2, 0, 0), f"the end of {result}")
        if turn:
            equal(result.count("bytes"), 0, f"bytes that were fetched again by {result}")
        trees.append(place.tree())
        expect(trees[-1] == trees[0], f"files changed in {result}")
        for first, second in (("A", "a"), ("d/B", "d/b")):
            there, missing = (first, second) if first in trees[0] else (second, first)
            equal(trees[0].get(there), twins[there], f"the file '{there}'")
            said = result.said(missing)
            expect("the same name on this disk" in said and f"'{os.path.basename(there)}'" in said,
                   f"what was said of '{missing}': {said}")
    equal((len(trees[0]), trees[0]["plain"]), (3, OTHER), "the files")
    pushed = place.push("--delete")
    equal(pushed.count("deleted"), 0, f"deletions of {pushed}")
    for name, content in twins.items():
        equal(place.get(name), content, f"the object '{name}'")
    # It holds back no other deletion, and what is said of it silences it.
    place.delete("plain")
    result = place.pull("--delete")
    equal((result.status, result.count("skipped"), result.count("deleted")), (1, 2, 1),
          f"the end of {result}")
    missing = [name for name in twins if name not in trees[0]]
    options = [word for name in missing for word in hint(result, name)]
    place.in_step(place.pull("--delete", *options))


@case("F074", "a disk that can only be read from the middle of a run on ends it, and nothing is lost")
def _(place):
    flag = os.path.join(place.folder, "read-only")
    if not pretending(place, readonly=flag):
        return
    tree = pulled(place, new=ramp(6_000_000, 5))
    between = place.wire()

    def freeze(request, forward):
        with open(flag, "w"):
            return None
    between.on("GetObject", freeze, "victim", only=3)
    result = place.pull("--delete", "--part-size", "1M", "--jobs", "1")
    equal(result.status, 5, f"the exit status of {result}")
    expect("ead-only" in result.error["message"], f"what was said: {result.error}")
    equal(place.tree()["victim"], OLD, "the victim")
    equal(place.tree()["gone"], OTHER, "what was to be deleted")
    os.remove(flag)
    between.clear()
    ends_in_step(place, place.pull("--delete", "--part-size", "1M"), tree)
