"""Cut mirrors, the tasks of their rounds, and what ends a round."""

import glob
import urllib.parse

from case_table import equal, expect
from machine import Running, until
from stage import ramp
from Support.processes import PATIENCE
from wire import CLOSE


def content(number, version=0):
    return ramp(1_000 + version, number)


def cut(place, *keys):
    """Cuts at the keys."""
    path = f"{place.folder}/cuts"
    with open(path, "w") as file:
        file.writelines(urllib.parse.quote(key) + "\n" for key in keys)
    return place.run("shard", "--cuts", path)


def cut_mirror(place, shards=4, each=2):
    """A mirror in step: shard K in key order has the objects `K/f0`, `K/f1` and so on.

    The numbers of four shards in key order are 0, 2, 1 and 3.
    """
    tree = {f"{shard:x}/f{number}": content(number) for shard in range(shards)
            for number in range(each)}
    for key, text in tree.items():
        place.put(key, text)
    place.in_step(place.pull())
    result = cut(place, *[f"{shard:x}/" for shard in range(1, shards)])
    equal((result.status, len(result.all("cut"))), (0, shards), f"the cutting: {result}")
    place.server.forget_requests()
    return tree


def task(place, shard, name, *options, command="pull"):
    """One task with --delete; `shard` is K/M."""
    return place.run(command, "--delete", "--shard", shard, "--round", name, *options)


def finish(place, name, *options):
    return place.run("finish", "--round", name, *options)


def done(place, shard, name, *options, command="pull"):
    """A task in which all goes well, and which deletes nothing."""
    result = place.in_step(task(place, shard, name, *options, command=command))
    equal((result.count("deleted"), result.count("shards_missing")), (0, []), f"a task: {result}")
    is_over = result.count("shards") > 0 and result.count("deletions_waiting") == 0
    equal(result.count("in_step"), is_over, f"whether both sides are equal: {result}")
    return result


def ended(place, name, deleted, *options):
    """An end of a round in which all goes well."""
    result = place.in_step(finish(place, name, *options))
    equal((result.count("deleted"), result.count("deletions_waiting"), result.count("in_step")),
          (deleted, 0, True), f"the end of the round: {result}")
    return result


def without(tree, *keys):
    return {key: text for key, text in tree.items() if key not in keys}


def state_file(place, pattern):
    """The path of the only file in the state that a pattern matches."""
    path, = glob.glob(place.path(f".osssync/{pattern}"))
    return path


def says(result, status, *words):
    """It ends with a status, and says why."""
    equal(result.status, status, f"the exit status of {result}")
    message = result.error.get("message") or result.errors
    for word in words:
        expect(word in message, f"'{word}' is not in what was said: {message!r}")
    return result


def held(place):
    """How many requests the server's script holds."""
    return int(place.server.plain("GET", "/-/held")[2])


def holding(place, faults, command, *options, wrapper=()):
    """A run that the server keeps waiting until another script is set."""
    place.faults(*faults)
    running = Running(place, command, *options, wrapper=wrapper)
    until(lambda: held(place), "the request")
    return running


def held_task(place, name="one"):
    """A task that waits for the new version of `0/f0`, in shard 0."""
    place.put("0/f0", content(0, 1))
    return holding(place, [place.fault("GetObject", {"hold": True}, "0/f0")], "pull", "--delete",
                   "--shard", "0/4", "--round", name)


def killed_at(place, number, moment, command, *options):
    """Kills a run at its n-th request; False if it has fewer."""
    between = place.wire()
    runs = []

    def kill(request, forward):
        if moment == "after":
            forward()
        until(lambda: runs, "the start")
        runs[0].kill()
        return [CLOSE]
    between.on(None, kill, only=number)
    running = Running(place, command, "--jobs", "1", *options)
    runs.append(running)
    running.wait(PATIENCE)
    between.close()
    place.closers.remove(between.close)
    place.endpoint = place.server.url
    expect(running.status in (0, -9), f"how it ended: {running.status}")
    return running.status != 0
