"""Rows F230 to F232: tasks that are refused, meet each other, or are killed."""

import os
import time

from case_table import case, equal, expect
from machine import Running, until
from scenes import NEW, OTHER
from shards import (content, cut, cut_mirror, done, ended, finish, held, held_task, killed_at, says,
                    task, without)
from stage import ramp
from wire import HANG


@case("F230", "wrong arguments of a task are refused before any request")
def _(place):
    cut_mirror(place)
    for shard in ("64/64", "1", "-1/4", "0/0", "1/2/3", "a/4", "", "0/1000001"):
        says(task(place, shard, "one"), 2, "'--shard'", "expected K/M")
    for name in ("", ".", "..", "a/b", "a b", "ä", "x" * 65, "a\n"):
        says(task(place, "0/4", name), 2, "cannot be the name of a round", "such as a date")
    says(place.pull("--shard", "0/4"), 2, "'--round NAME'")
    says(place.pull("--round", "one"), 2, "'--shard K/M'")
    for option, mend in ((["--max-delete", "9"], "'osssync finish'"),
                         (["--allow-empty"], "'osssync finish'"),
                         (["--rebind"], "without --shard"),
                         (["--save-plan", place.folder + "/plan"], "without --shard")):
        says(task(place, "0/4", "one", *option), 2, option[0], mend)
    for command in (["verify"], ["watch"], ["log"], ["explain", "0/f0"], ["cancel"]):
        says(place.start(command[0], place.directory, *command[1:]), 2, "with 4 manifests")
    says(place.run("pull", "0/f0"), 2, "PATHs")
    equal((place.requests(), os.path.exists(place.path(".osssync/rounds"))), ([], False),
          "requests, and rounds that began")


@case("F230", "wrong places to cut at are refused, and the mirror stays cut as it was")
def _(place):
    tree = cut_mirror(place)
    path = place.folder + "/places"
    for text in (b"b\na\n", b"a\na\n", b"%zz\n", b"a%\n", b"0/f1/\n", b"0/f1%21\n"):
        with open(path, "wb") as file:
            file.write(text)
        says(place.run("shard", "--cuts", path), 2)
    says(place.run("shard", "--cuts", path + "-missing"), 2, "'--cuts'", "cannot be read")
    says(place.run("shard", "--cuts", path, "--count", "2"), 2, "cannot be used together")
    for count in ("0", "-1", "1001", "x"):
        says(place.run("shard", "--count", count), 2, "a number from 1 to 1000")
    status = place.start("status", place.directory, "--json")
    equal(len(status.all("shard")), 4, "shards")
    result = place.run("shard", "--count", "1000")
    said = [line["message"] for line in result.all("warning")]
    expect(any("has 8 of 1000 shards" in text for text in said), f"said: {said}")
    place.in_step(place.pull("--delete"))
    equal(place.tree(), tree, "the tree")


@case("F230", "a task of a mirror that is not cut is refused, and links nothing")
def _(place):
    place.put("f", NEW)
    place.in_step(place.pull())
    place.delete("f")
    for result in (task(place, "0/1", "one"), task(place, "0/1", "one", command="push")):
        says(result, 2, "is not sharded", "'osssync shard")
    equal(place.tree(), {"f": NEW}, "the tree")


@case("F230", "a task with other options than its round is refused, and the difference is named")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    done(place, "0/4", "one")
    done(place, "0/4", "two")
    place.server.forget_requests()
    says(place.pull("--shard", "1/4", "--round", "two"), 2, "it began with --delete", "another NAME")
    says(task(place, "1/4", "two", command="push"), 2, "it is a pull")
    for option in (["--exclude", "x"], ["--trash-days", "9"], ["--names", "escape"], ["--force"],
                   ["--links", "store"], ["--on-conflict", "local"], ["--delete=extra"]):
        says(task(place, "1/4", "two", *option), 2, "it began", "another NAME")
    for result in (task(place, "1/4", "one"), finish(place, "one")):
        says(result, 2, "round 'two' has begun since", "another NAME")
    equal(place.requests(), [], "requests of tasks that were refused")
    equal(cut(place, "1/").status, 0, "the mirror cut anew")
    for result in (task(place, "1/4", "two"), finish(place, "two")):
        says(result, 2, "sharded again since it began", "another NAME")
    equal(place.tree(), tree, "the tree")
    done(place, "0/1", "three")
    ended(place, "three", 1)


@case("F230", "the rules of the ignore file when a round begins are those of all its tasks")
def _(place):
    tree = cut_mirror(place)
    rules = b"0/f0\n3/f0\n"
    place.write(".osssyncignore", rules)
    for key in ("0/f0", "3/f0", "3/f1"):
        place.delete(key)
    task(place, "0/2", "one")
    place.write(".osssyncignore", b"3/f1\n")
    task(place, "1/2", "one")
    result = finish(place, "one")
    equal((result.status, result.count("deleted")), (0, 1), f"the end: {result}")
    tree = without(tree, "3/f1")
    equal(without(place.tree(), ".osssyncignore"), tree, "the tree")
    place.write(".osssyncignore", b"\0\n")
    says(task(place, "0/2", "two"), 2, "'.osssyncignore' cannot be used")


@case("F230", "a task beyond the last shard does nothing and warns")
def _(place):
    tree = cut_mirror(place)
    place.delete("0/f0")
    place.server.forget_requests()
    result = done(place, "6/9", "one")
    said = [line["message"] for line in result.all("warning")]
    expect(any("more tasks than shards" in text for text in said), f"said: {said}")
    equal((result.count("shards"), place.requests()), (0, []), "what it did")
    for number in range(9):
        done(place, f"{number}/9", "one")
    ended(place, "one", 1)
    equal(place.tree(), without(tree, "0/f0"), "the tree")


@case("F230", "several headers are the same options to every task")
def _(place):
    cut_mirror(place)
    headers = [word for number in range(6) for word in ("--header", f"x-oss-meta-{number}: x")]
    for number in range(4):
        done(place, f"{number}/4", "one", *headers, command="push")
    ended(place, "one", 0)


@case("F230", "a plain run does not skip shards because of a round that the user named run-N")
def _(place):
    tree = cut_mirror(place)
    done(place, "0/1", "run-2")
    ended(place, "run-2", 0)
    place.put("0/new", NEW)
    place.in_step(place.pull("--delete"))
    equal(place.tree(), {**tree, "0/new": NEW}, "the tree")
    place.in_step(place.pull())


@case("F231", "while a task works, only runs of other shards work")
def _(place):
    tree = {**cut_mirror(place), "3/f0": OTHER}
    place.put("3/f0", OTHER)
    place.delete("3/f1")
    running = held_task(place)
    for result in (cut(place, "1/"), place.pull("--delete"), place.push(), finish(place, "one"),
                   task(place, "0/4", "one")):
        says(result, 75, "another run holds this directory")
    done(place, "3/4", "one")
    # A task with more shards does the others first.
    others = says(task(place, "0/1", "one"), 75)
    equal((others.count("shards_complete"), others.count("shards_missing")), (3, ["0"]),
          f"a task of all: {others}")
    equal(place.start("status", place.directory, "--json").status, 0, "status beside a task")
    equal(place.tree(), tree, "the tree beside a task")
    place.faults()
    place.in_step(running.finish())
    ended(place, "one", 1)
    equal(place.tree(), without({**tree, "0/f0": content(0, 1)}, "3/f1"), "the tree")


@case("F231", "the message about a busy mirror names the process that works")
def _(place):
    cut_mirror(place)
    running = held_task(place)
    for result in (task(place, "0/4", "one"), finish(place, "one"), place.pull(), cut(place)):
        says(result, 75, f"process {running.pid} on")
    for command in (["trash", "--empty"], ["restore", "."], ["undo"]):
        says(place.start(command[0], place.directory, *command[1:], "--json"), 75,
             f"process {running.pid} on")
    status = place.start("status", place.directory, "--json")
    holders = {line["shard"]: line["holder"] for line in status.all("shard") if "holder" in line}
    equal(list(holders), [0], f"shards in work: {holders}")
    expect(f"process {running.pid} on" in holders[0], f"who works: {holders}")
    shown = place.start("status", place.directory).output
    expect(f", in work by process {running.pid} on" in shown, f"what is shown: {shown}")


@case("F231", "tasks that wait for their round to begin start once it has begun")
def _(place):
    tree = {key: content(9, 1) for key in cut_mirror(place, each=1)}
    first = held_task(place, "before")
    for key, text in tree.items():
        if key != "0/f0":
            place.put(key, text)
    tasks = [Running(place, "pull", "--delete", "--shard", f"{number}/4", "--round", "one")
             for number in (1, 2, 3)]
    # The rules of the round are read in the shard that the first one has.
    time.sleep(0.5)
    # Releases the first one, and holds what the others begin as soon as it has ended.
    place.faults(place.fault("GetObject", {"hold": True}))
    place.in_step(first.finish())
    place.put("0/f0", tree["0/f0"])
    tasks.append(Running(place, "pull", "--delete", "--shard", "0/4", "--round", "one"))
    until(lambda: held(place) == 4, "a request of each task")
    place.faults()
    for running in tasks:
        result = place.in_step(running.finish())
        said = [line["message"] for line in result.all("warning")]
        expect(not any("another run holds" in text for text in said), f"said: {said}")
    ended(place, "one", 0)
    equal(place.tree(), tree, "the tree")


@case("F231", "a task waits a few seconds for a shard that another run is about to release")
def _(place):
    tree = {**cut_mirror(place), "0/f0": content(0, 1)}
    first = held_task(place, "one")
    second = Running(place, "pull", "--delete", "--shard", "0/4", "--round", "one")
    # Its options are compared, and the shard is tried.
    time.sleep(0.5)
    place.faults()
    place.in_step(first.finish())
    place.in_step(second.finish())
    for number in (1, 2, 3):
        done(place, f"{number}/4", "one")
    ended(place, "one", 0)
    equal(place.tree(), tree, "the tree")


@case("F231", "a run with --if-locked skip reports that it was skipped")
def _(place):
    cut_mirror(place)
    running = held_task(place)
    for command, *options in (["pull", "--shard", "0/4", "--round", "one", "--delete"],
                              ["finish", "--round", "one"], ["pull"]):
        result = place.run(command, "--if-locked", "skip", *options)
        equal((result.status, len(result.all("skipped"))), (0, 1), f"a skipped run: {result}")
    place.faults()
    place.in_step(running.finish())


@case("F232", "a task that was killed resumes its files, also after the mirror is cut anew or joined")
def _(place):
    for since in ("nothing", "cut anew", "joined"):
        place.prefix += "x"
        place.directory += "x"
        tree = cut_mirror(place)
        tree["1/large"] = ramp(6 << 20)
        place.put("1/large", tree["1/large"])
        place.delete("0/f0")
        between = place.wire()
        between.on("GetObject", lambda request, forward:
                   [HANG] if request.range_start == 3 << 20 else None, "1/large")
        options = ["--part-size", "1M", "--jobs", "1"]
        running = Running(place, "pull", "--delete", "--shard", "0/1", "--round", "one", *options)
        until(lambda: len(between.seen("GetObject", "1/large")) == 4, "the fourth part")
        running.end()
        between.clear()
        equal(place.tree(), without(tree, "1/large"), "the tree after a kill")
        says(finish(place, "one"), 1)
        if since == "joined":
            place.in_step(place.run("shard", "--count", "1"))
            result = place.in_step(place.pull("--delete", *options))
        else:
            if since == "cut anew":
                equal(cut(place, "1/f1", "1/x").status, 0, "the mirror cut anew")
            name = "two" if since == "cut anew" else "one"
            result = done(place, "0/1", name, *options)
            ended(place, name, 1)
        expect(result.count("bytes_resumed") >= 2 << 20, f"too little resumed: {result}")
        equal(place.tree(), without(tree, "0/f0"), "the tree")


@case("F232", "a task that is killed at any request does the rest when it is run again")
def _(place):
    tree = cut_mirror(place, shards=2)
    for moment in ("before", "after"):
        for number in range(1, 30):
            name = f"{moment}-{number}"
            for key, version in (("0/f0", 1), ("1/f0", 2)):
                tree[key] = content(number, version)
                place.put(key, tree[key])
            place.put(f"1/{name}", OTHER)
            was_killed = killed_at(place, number, moment, "pull", "--delete", "--shard", "0/1",
                                   "--round", name)
            if was_killed:
                early = finish(place, name)
                equal((early.status, early.count("deleted")), (1, 0), f"the end: {early}")
            done(place, "0/1", name)
            ended(place, name, 0)
            equal(place.tree(), {**tree, f"1/{name}": OTHER}, f"the tree after {name}")
            place.delete(f"1/{name}")
            os.remove(place.path(f"1/{name}"))
            if not was_killed:
                break
        expect(number > 4, f"only {number} requests")


@case("F232", "an end that is killed at any request deletes the rest when it is run again")
def _(place):
    tree = cut_mirror(place)
    for command in ("pull", "push"):
        for moment in ("before", "after"):
            for number in range(1, 30):
                name = f"{command}-{moment}-{number}"
                gone = [f"{shard}/{name}{file}" for shard in range(4) for file in range(2)]
                for key in gone:
                    place.put(key, OTHER)
                place.in_step(place.pull())
                for key in gone:
                    place.delete(key) if command == "pull" else os.remove(place.path(key))
                done(place, "0/1", name, command=command)
                was_killed = killed_at(place, number, moment, "finish", "--round", name)
                place.in_step(finish(place, name))
                equal(place.tree(), tree, f"the tree after {name}")
                equal([key for key in gone if place.get(key)], [], f"objects after {name}")
                if not was_killed:
                    break
            expect(number > 4, f"only {number} requests of {command}")
    equal([key for key in tree if place.get(key) != tree[key]], [], "what was not to be deleted")
    result = place.in_step(place.pull("--delete"))
    equal((result.count("transferred"), result.count("deleted")), (0, 0), str(result))
