"""What most cases begin with, and how their ends are judged."""

from case_table import equal, expect
from stage import ramp

OLD, NEW, OTHER, FRESH = ramp(3_000, 1), ramp(5_000, 2), ramp(700, 3), ramp(900, 4)


def pulled(place, new=NEW):
    """A mirror in step; then the victim changes, `other` comes and `gone` goes in the remote."""
    for key, content in {"victim": OLD, "gone": OTHER, "kept": OTHER}.items():
        place.put(key, content)
    place.in_step(place.pull())
    equal(place.tree(), {"victim": OLD, "gone": OTHER, "kept": OTHER}, "the first tree")
    place.put("victim", new)
    place.put("other", FRESH)
    place.delete("gone")
    place.server.forget_requests()
    return {"victim": new, "other": FRESH, "kept": OTHER}


def ends_in_step(place, result, tree):
    """Nothing of the fault is left: the tree is the remote's, what was deleted there is gone."""
    place.in_step(result)
    equal(place.tree(), tree, f"the tree after {result}")
    equal(result.count("deleted"), 1, f"deletions of {result}")


def recovers(place, tree):
    """Without the fault, one run makes the tree the remote's and the next one moves nothing."""
    place.faults()
    result = place.pull("--delete")
    place.in_step(result)
    equal(place.tree(), tree, f"the tree after the fault: {result}")
    again = place.in_step(place.pull("--delete"))
    equal((again.count("transferred"), again.count("deleted"), again.count("bytes")), (0, 0, 0),
          f"what the run after it did: {again}")
    return result


def skips(place, result, tree, *words, failed=1, skipped=0):
    """SKIP: the victim is reported and old, the others are new, nothing was deleted; exit 1."""
    equal(result.status, 1, f"the exit status of {result}")
    equal((result.count("failed"), result.count("skipped")), (failed, skipped),
          f"failed and skipped of {result}")
    equal(result.count("deleted"), 0, f"deletions of {result}")
    expect(result.summary.get("deletions_held_back"), f"no word on deletions: {result}")
    said = result.said("victim")
    for word in words:
        expect(word in said, f"'{word}' is not in what was said of the victim: {said!r}")
    equal(place.tree(), {**tree, "victim": OLD, "gone": OTHER}, f"the tree after {result}")


def stops(place, result, status, *words):
    """STOP: the run ends early with a reason, and nothing was deleted or made worse."""
    equal(result.status, status, f"the exit status of {result}")
    for word in words:
        expect(word in result.error.get("message", ""), f"'{word}' is not in {result.error}")
    found = place.tree()
    expect(found.get("gone") == OTHER, f"'gone' was deleted by {result}")
    expect(found.get("victim") in (OLD, NEW), f"'victim' is neither old nor new after {result}")
