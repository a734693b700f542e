"""Rows F228, F229, F233 and F234: what ends a round over a cut mirror, and what it must not do."""

import os
import shutil
import time

from case_table import case, equal, expect
from scenes import NEW
from shards import (cut_mirror, done, ended, finish, holding, says, state_file, task,
                    without)

DENIED = {"fail": {"status": 403, "code": "AccessDenied"}}


@case("F228", "finish without a result of every shard names the missing ones and deletes nothing")
def _(place):
    tree = cut_mirror(place)
    for key in ("0/f0", "3/f1"):
        place.delete(key)
    # Results of another round do not count.
    done(place, "0/1", "before")
    for number in (0, 1, 3):
        done(place, f"{number}/4", "one")
    early = finish(place, "one")
    equal((early.status, early.count("shards_missing"), early.count("deleted")), (1, ["2"], 0),
          f"the end before all tasks have ended: {early}")
    held_back = early.count("deletions_held_back")
    expect("1 of 4 shards" in held_back and "'one' (shard 2)" in held_back,
           f"what it says: {held_back}")
    equal(place.tree(), tree, "the tree before all tasks have ended")
    shown = place.start("finish", place.directory, "--round", "one")
    expect("nothing to do" not in shown.output and ": nothing was done\n" in shown.output
           and "3 of 4 shards done, shard 2 has no result" in shown.output
           and "nothing was deleted" in shown.errors, f"what a person reads: {shown.output} {shown}")
    done(place, "2/4", "one")
    ended(place, "one", 2)
    equal(place.tree(), without(tree, "0/f0", "3/f1"), "the tree")
    ended(place, "one", 0)


@case("F228", "finish without a round that has begun is refused")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    says(place.run("finish"), 2, "no round has begun")
    says(finish(place, "one"), 2, "there is no round 'one'")
    says(finish(place, "a/b"), 2, "cannot be the name of a round")
    equal(place.tree(), tree, "the tree")


@case("F228", "a task whose listing is incomplete fails and leaves no result")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    for number in (0, 1, 3):
        done(place, f"{number}/4", "one")
    for effect, status in (({"truncate": 150}, 6), ({"listing": "missingToken"}, 6),
                           ({"listing": "outOfOrder"}, 6), (DENIED, 4),
                           ({"fail": {"status": 500, "code": "InternalError"}}, 6)):
        place.faults(place.fault("ListObjectsV2", effect))
        says(task(place, "2/4", "one"), status, "ListObjectsV2")
        place.faults()
        early = finish(place, "one")
        equal((early.status, early.count("shards_missing")), (1, ["2"]), f"the end: {early}")
        equal(place.tree(), tree, f"the tree after {effect}")
    done(place, "2/4", "one")
    ended(place, "one", 1)


@case("F229", "all of a shard can be deleted if that is little of the whole")
def _(place):
    tree = cut_mirror(place, each=12)
    lost = [f"2/f{number}" for number in range(12)]
    for key in lost:
        place.delete(key)
    done(place, "1/4", "one")
    for number in (0, 2, 3):
        done(place, f"{number}/4", "one")
    ended(place, "one", 12)
    equal(place.tree(), without(tree, *lost), "the tree")
    expect(not os.path.exists(place.path("2")), "an empty directory")


@case("F229", "deletions that are few in each shard and too many in all are held back")
def _(place):
    tree = cut_mirror(place, each=12)
    lost = [key for key in tree if not key.endswith(("f0", "f1", "f2", "f3"))]
    for key in lost:
        place.delete(key)
    for number in range(4):
        done(place, f"{number}/4", "one")
    refused = says(finish(place, "one"), 3, "32 deletions", "50% of the 48", "--max-delete 32")
    equal((refused.count("deleted"), refused.count("deletions_waiting")), (0, 32), str(refused))
    says(finish(place, "one", "--max-delete", "31"), 3, "the limit is 31")
    equal(place.tree(), tree, "the tree")
    ended(place, "one", 32, "--max-delete", "32")
    equal(place.tree(), without(tree, *lost), "the tree at last")


@case("F229", "shards that are wrongly listed as empty lose nothing")
def _(place):
    tree = cut_mirror(place, each=1)
    place.faults(place.fault("ListObjectsV2", {"listing": "empty"}))
    for number in range(4):
        task(place, f"{number}/4", "one")
    refused = says(finish(place, "one"), 3, "listing of the remote is empty")
    equal((refused.count("deleted"), place.tree()), (0, tree), str(refused))
    # Nor one of which a listing hides a shard: each object is asked for.
    place.faults()
    for number in (0, 1, 3):
        done(place, f"{number}/4", "two")
    place.faults(place.fault("ListObjectsV2", {"listing": "empty"}))
    done(place, "2/4", "two")
    place.faults()
    kept = finish(place, "two")
    equal((kept.status, kept.count("deleted"), place.tree()), (1, 0, tree), str(kept))
    expect("exists in the store" in kept.said("1/f0"), f"what was said: {kept.said('1/f0')}")


@case("F233", "finish reports what failed in a task")
def _(place):
    tree = cut_mirror(place)
    place.put("0/f0", NEW)
    place.faults(place.fault("GetObject", DENIED, "0/f0"))
    result = task(place, "0/1", "one")
    equal((result.status, result.count("failed")), (1, 1), f"the task: {result}")
    result = finish(place, "one")
    equal((result.status, result.count("shards_complete")), (1, 3), f"the end: {result}")
    place.delete("3/f0")
    task(place, "0/1", "two")
    result = finish(place, "two")
    equal((result.status, result.count("deleted")), (1, 0), f"the end with deletions: {result}")
    expect("1 item failed" in result.count("deletions_held_back"), str(result))
    equal(place.tree(), tree, "the tree")
    place.faults()
    done(place, "0/1", "two")
    ended(place, "two", 1)
    equal(place.tree(), without({**tree, "0/f0": NEW}, "3/f0"), "the tree")


@case("F233", "a deletion that failed is retried by the next finish")
def _(place):
    tree = cut_mirror(place)
    for key in ("0/f0", "3/f0"):
        place.delete(key)
    done(place, "0/1", "one")
    place.faults(place.fault("HeadObject", DENIED, "0/f0"))
    result = finish(place, "one")
    equal((result.status, result.count("failed"), result.count("deleted")), (1, 1, 1), str(result))
    place.faults()
    ended(place, "one", 1)
    equal(place.tree(), without(tree, "0/f0", "3/f0"), "the tree")


@case("F233", "what changed between a task and finish is kept, and reported each time")
def _(place):
    tree = cut_mirror(place)
    for key in ("0/f0", "3/f0", "3/f1"):
        place.delete(key)
    done(place, "0/1", "one")
    place.write("0/f0", b"edited")
    place.put("3/f0", tree["3/f0"])
    for _ in range(2):
        result = finish(place, "one")
        equal(place.tree(), without({**tree, "0/f0": b"edited"}, "3/f1"), "the tree")
        equal(result.status, 1, f"the end of the round: {result}")


@case("F233", "deletions that a missing directory interrupted are retried by the next finish")
def _(place):
    tree = cut_mirror(place)
    for key in ("0/f0", "3/f0"):
        os.remove(place.path(key))
    done(place, "0/1", "one", command="push")
    running = holding(place, [place.fault("ListObjectsV2", {"hold": True})], "finish",
                      "--round", "one")
    os.rename(place.directory, place.directory + ".away")
    os.mkdir(place.directory)
    place.faults()
    says(running.finish(), 3, "moved, replaced or removed")
    equal(os.listdir(place.directory), [], "what was written there")
    equal([place.get(key) for key in tree], list(tree.values()), "the objects")
    shutil.rmtree(place.directory)
    os.rename(place.directory + ".away", place.directory)
    ended(place, "one", 2)
    equal([key for key in tree if place.get(key) is None], ["0/f0", "3/f0"], "what was deleted")


@case("F234", "tasks that are run twice send no request the second time")
def _(place):
    tree = cut_mirror(place)
    place.put("0/f0", NEW)
    place.delete("3/f0")
    for number in range(4):
        done(place, f"{number}/4", "one")
    place.server.forget_requests()
    before = os.stat(place.path("0/f0")).st_mtime_ns
    time.sleep(0.01)
    for tasks in (4, 2, 1):
        for number in range(tasks):
            result = done(place, f"{number}/{tasks}", "one")
            equal(result.count("shards_complete"), 4 // tasks, f"a task once more: {result}")
    equal(place.requests(), [], "requests of tasks that had nothing to do")
    ended(place, "one", 1)
    equal(os.stat(place.path("0/f0")).st_mtime_ns, before, "the file")
    equal(place.tree(), without({**tree, "0/f0": NEW}, "3/f0"), "the tree")


@case("F234", "no deletions wait after finish")
def _(place):
    cut_mirror(place)
    place.delete("3/f0")
    equal(done(place, "0/1", "one").count("deletions_waiting"), 1, "deletions of the task")
    ended(place, "one", 1)
    status = place.start("status", place.directory, "--json")
    equal([line["deletions_waiting"] for line in status.all("shard")], [0] * 4, "the status")
    equal(done(place, "0/1", "one").count("deletions_waiting"), 0, "a task once more")


@case("F234", "a round that is finished again is not refused for what it has deleted")
def _(place):
    tree = cut_mirror(place, each=4)
    gone = [key for key in tree if not key.startswith("0/")]
    for key in gone:
        place.delete(key)
    equal(done(place, "0/1", "one").count("deletions_waiting"), 12, "deletions of the task")
    says(finish(place, "one"), 3, "12 deletions were held back")
    ended(place, "one", 12, "--max-delete", "12")
    ended(place, "one", 0)
    status = place.start("status", place.directory, "--json")
    equal(sorted(line["recorded"] for line in status.all("shard")), [0, 0, 0, 4], "the status")


@case("F234", "a shard is not run again in a round that has ended, whatever became of its result")
def _(place):
    tree = cut_mirror(place, each=12)
    place.delete("0/f0")
    done(place, "0/1", "one")
    ended(place, "one", 1)
    os.remove(state_file(place, "shards/*/0000/result"))
    lost = [f"0/f{number}" for number in range(12)]
    for key in lost[1:]:
        place.delete(key)
    says(task(place, "0/4", "one"), 2, "round 'one': it has ended", "another NAME")
    early = finish(place, "one", "--max-delete", "1")
    equal((early.status, early.count("shards_missing"), early.count("deleted")), (1, ["0"], 0),
          f"the end once more: {early}")
    equal(place.tree(), without(tree, "0/f0"), "the tree")
    done(place, "0/1", "two")
    says(finish(place, "two", "--max-delete", "1"), 3, "11 deletions", "the limit is 1")
    equal(place.tree(), without(tree, "0/f0"), "the tree before the deletions")
    ended(place, "two", 11)
    equal(place.tree(), without(tree, *lost), "the tree")


@case("F233", "neither a task nor finish calls sides equal that are not")
def _(place):
    tree = cut_mirror(place)
    place.write("0/only", b"here")
    place.write("3/f0", b"edited")
    place.delete("1/f0")
    counts = {}
    for result in (task(place, "0/1", "one"), finish(place, "one"), place.pull("--delete")):
        equal((result.status, result.count("in_step")), (0, False), f"what it says: {result}")
        for name in ("only_local", "local_changes"):
            counts[name] = counts.get(name, 0) + result.count(name)
    expect(counts["only_local"] > 0 and counts["local_changes"] > 0, f"what was counted: {counts}")
    os.remove(place.path("0/only"))
    place.write("3/f0", tree["3/f0"])
    done(place, "0/1", "two")
    ended(place, "two", 0)
    equal(place.tree(), without(tree, "1/f0"), "the tree")


@case("F233", "finish says what the tasks have transferred")
def _(place):
    cut_mirror(place)
    for key in ("0/f0", "3/f1"):
        place.put(key, NEW)
    for number in range(4):
        done(place, f"{number}/4", "one")
    result = ended(place, "one", 0)
    equal((result.count("transferred"), result.count("shards_transferred"),
           result.count("shards_bytes")), (0, 2, 2 * len(NEW)), f"the end: {result}")
    shown = place.start("finish", place.directory, "--round", "one")
    expect("4 of 4 shards done, 2 transferred (" in shown.output, f"what a person reads: {shown}")
