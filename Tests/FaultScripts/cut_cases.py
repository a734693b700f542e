"""Rows F238 and F239: names and directories across a cut, and worlds of odd names."""

import os
import random
import shutil

from case_table import case, equal, expect
from listings import Listing
from scenes import NEW, OTHER
from shards import cut, done, ended, finish, says, task, without
from stage import Place, ramp


@case("F238", "an object with the name of a directory across a cut holds back deletions")
def _(place):
    tree = {"a": OTHER, "x/1": OTHER, "x/2": OTHER, "z": OTHER}
    for key, text in tree.items():
        place.put(key, text)
    place.in_step(place.pull())
    equal(cut(place, "x/1").status, 0, "the cutting")
    place.put("x", NEW)
    place.put("z", NEW)
    place.delete("x/2")
    for command in ("pull", "sync"):
        for number in (0, 1):
            result = task(place, f"{number}/2", command, command=command)
            equal(result.status, 1, f"the task: {result}")
        said = [line["message"] for line in result.all("warning")]
        expect(any("'x' is a file or an object" in text and "'osssync shard'" in text
                   for text in said), f"said: {said}")
        end = finish(place, command)
        equal((end.status, end.count("deleted")), (1, 0), f"the end: {end}")
        equal(place.tree(), {**tree, "z": NEW}, "the tree")
    says(cut(place, "x/1"), 2, "'x/1' cannot begin a shard", "the file 'x'")
    equal(cut(place, "w").status, 0, "the mirror cut anew")
    equal(place.pull("--delete").status, 1, "the object has no place in any case")
    place.delete("x")
    place.in_step(place.pull("--delete"))
    equal(place.tree(), without({**tree, "z": NEW}, "x/2"), "the tree at last")


@case("F238", "a file that replaces a directory across a cut is reported by each round")
def _(place):
    tree = {"a": OTHER, "x/1": OTHER, "x/2": OTHER}
    for key, text in tree.items():
        place.put(key, text)
    place.in_step(place.pull())
    equal(cut(place, "x/1").status, 0, "the cutting")
    shutil.rmtree(place.path("x"))
    place.write("x", NEW)
    place.write("b", NEW)
    for command in ("push", "pull"):
        equal(task(place, "0/1", command, command=command).status, 1, "the task")
        end = finish(place, command)
        equal((end.status, end.count("deleted")), (1, 0), f"the end: {end}")
    equal([place.get(key) for key in tree], [OTHER] * 3, "the objects")
    equal(cut(place, "m").status, 0, "the mirror cut anew")
    place.in_step(place.push("--delete"))
    equal([place.get(key) for key in ("a", "b", "x", "x/1", "x/2")], [OTHER, NEW, NEW, None, None],
          "the objects at last")
    equal(place.tree(), {"a": OTHER, "b": NEW, "x": NEW}, "the tree")


def folders(place):
    """The directories of the mirror, but for osssync's own."""
    found = set()
    for base, names, _ in os.walk(place.directory):
        found.update(os.path.relpath(os.path.join(base, name), place.directory) for name in names)
    return {name for name in found if name.split("/")[0] != ".osssync"}


@case("F239", "directories that are emptied on both sides of a cut are removed when the round ends")
def _(place):
    for cuts in (["d/e/3"], ["d/"], ["d/e/"], ["d/e/3", "d/e/4", "d/f/"], ["d/m"]):
        place.prefix += "x"
        place.directory += "x"
        for key in ("a", "d/e/3", "d/e/4", "d/f/1", "k/", "k/1", "m/1"):
            place.put(key, b"" if key.endswith("/") else OTHER)
        place.in_step(place.pull())
        equal(cut(place, *cuts, "k/1").status, 0, f"the cutting at {cuts}")
        for key in ("d/e/3", "d/e/4", "d/f/1", "k/1", "m/1"):
            place.delete(key)
        done(place, "0/2", "one")
        done(place, "1/2", "one")
        expect("d/e" in folders(place), "a directory went before the end of the round")
        ended(place, "one", 5)
        equal((place.tree(), folders(place)), ({"a": OTHER}, {"k"}), f"cut at {cuts}")


ODD = ["a", "a b", "a!b", "a-b", "ä", "a\u0308", "😀", "100%", "a+b", "&<>\"'", "~", "0", "a\\b",
       "%41", "d.d", "\u2028", "-"]


class World:
    """A mirror of odd names that is cut, and one like it that is not."""

    def __init__(self, place, seed):
        self.random = random.Random(seed)
        self.places = [place, Place(place.server, place.name)]
        place.closers.append(self.places[1].close)
        self.folders = [f"{self.name()}/{self.name()}_d" for _ in range(6)] + ["x_d"]
        self.seconds = 1_700_000_000

    def name(self):
        return self.random.choice(ODD)

    def key(self):
        return f"{self.random.choice(self.folders)}/{self.name()}f{self.random.randrange(3)}"

    def change(self, count):
        for _ in range(count):
            chance, key = self.random.random(), self.key()
            text = ramp(self.random.randrange(300), self.random.randrange(250))
            self.seconds += 9
            for place in self.places:
                if chance < 0.5:
                    place.write(key, text)
                    os.utime(place.path(key), (self.seconds, self.seconds))
                elif chance < 0.8:
                    place.put(key, text)
                elif chance < 0.9:
                    os.makedirs(place.path(os.path.dirname(key) + "/e/e"), exist_ok=True)
                else:
                    place.put(os.path.dirname(key) + "/~/")

    def delete(self):
        for name in sorted(self.places[0].tree()):
            if self.random.random() < 0.3:
                for place in self.places:
                    os.remove(place.path(name))
        for key in sorted(objects(self.places[0])):
            if self.random.random() < 0.3:
                for place in self.places:
                    place.delete(key)

    def cut(self):
        """Cuts the first mirror at keys, in their midst or behind them."""
        place = self.places[0]
        keys = self.random.sample(sorted(objects(place)), 5)
        cuts = {key[:self.random.randint(1, len(key))] + self.random.choice(["", "", "!", "/"])
                for key in keys}
        if cut(place, *sorted(cuts, key=str.encode)).status != 0:
            # One of them parts a file from the directory of its name.
            result = place.run("shard", "--count", "5")
            equal(result.status, 0, f"the cutting: {result}")


def objects(place):
    """The tags of all objects, by their keys."""
    pages = Listing(place)
    keys = [key[len(place.prefix) + 1:] for key in pages.keys(pages.entries)]
    tags = [entry.split("<ETag>")[1].split("</ETag>")[0] for entry in pages.entries]
    return dict(zip(keys, tags))


def both_sides(place):
    return objects(place), place.tree(), folders(place)


def same_as_plain(place, seed, command):
    """Tasks in any order and the end of their round do what one run does that is not cut."""
    world = World(place, seed)
    place, plain = world.places
    for each in world.places:
        each.run("init")
    world.change(40)
    for each in world.places:
        each.push("--on-conflict", "local")
        each.pull("--on-conflict", "local")
    equal(both_sides(place), both_sides(plain), f"world {seed} before it is cut")
    world.cut()
    for name in ("one", "two"):
        world.change(12)
        world.delete()
        options = ["--on-conflict", world.random.choice(["local", "remote"])]
        count = world.random.randint(1, 4)
        for number in world.random.sample(range(count), count):
            result = task(place, f"{number}/{count}", name, *options, command=command)
            equal(result.count("deleted"), 0, f"a task of world {seed}: {result}")
        finish(place, name, "--max-delete", "100%")
        plain.run(command, "--delete", "--max-delete", "100%", *options)
        equal(both_sides(place), both_sides(plain), f"world {seed} after {command} {name}")


@case("F239", "tasks that pull odd names leave both sides as one pull does")
def _(place):
    for seed in range(6):
        same_as_plain(place, seed, "pull")
        place.prefix += "x"
        place.directory += "x"


@case("F239", "tasks that push odd names leave both sides as one push does")
def _(place):
    for seed in range(6, 12):
        same_as_plain(place, seed, "push")
        place.prefix += "x"
        place.directory += "x"
