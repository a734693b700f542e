"""The runs that are killed, disturbed and cut off: what there is before, and what must come out."""

import dataclasses
import os

import sealed
from stage import interrupt
from Support.files import write
from trees import content
from workplace import REMOTE

MIB = 1 << 20


@dataclasses.dataclass
class Scenario:
    name: str
    arguments: list
    prepare: object
    # False where the bucket is only read.
    changes_bucket: bool = False
    # Bytes that a kill may cost: 4 MiB for each stream of a pull, a part for each of a push.
    waste: int = 2 * 4 * MIB
    # The commands that go on after the fault, if they are others.
    repair: list = None
    # Commands before each run.
    begin: list = ()
    # False where deletions are planned for a later command: what a plan notes of a file's status
    # would not outlive the snapshot, whose second names change it.
    has_power_cuts: bool = True
    # A run that met a conflict says so with its exit status.
    has_conflicts: bool = False
    # The manifest is unreadable at first.
    is_damaged: bool = False
    state: str = "mirror/.osssync"
    # A file of which one part is changed after a kill was mended: nothing but that part is sent.
    parted: str = None
    # The contents of objects are encrypted.
    is_sealed: bool = False
    # What is looked at, if it is no mirror.
    trial = None

    def command(self, place, arguments=None):
        names = {"DIR": place.mirror, "REMOTE": REMOTE,
                 "STATE": os.path.join(place.outer, "state")}
        return [names.get(word, word) for word in arguments or self.arguments]

    def begin_commands(self, place):
        return [self.command(place, words) for words in self.begin]

    def repair_commands(self, place):
        return [self.command(place, words) for words in self.repair or [self.arguments]]

    @property
    def is_run(self):
        """False for a command that brings nothing in step by itself."""
        return self.repair is None

    def state_folder(self, place):
        return os.path.join(place.outer, self.state)

    def manifest(self, place):
        return os.path.join(self.state_folder(place), "manifest.db")


SMALL = {"a.txt": content("a1", 700), "b/c.bin": content("c1", 5_000), "b/empty": b"",
         "b/d/e": content("e1", 20_000), "ü.txt": content("u1", 300), "nothing/": b""}
MORE = {"f.txt": content("f1", 4_096), "b/d/g": content("g1", 8_193), "h/i/j": content("j1", 1),
        "h/zero": b"", "later/": b""}
LARGE = {"film.bin": content("film1", 12 * MIB)}
NEWER = {"a.txt": content("a2", 900), "b/c.bin": content("c2", 5_000), "big": content("big2", 5 * MIB)}
PARTS = ["--part-size", "6M", "-j", "2"]
SMALL_PARTS = ["--part-size", "100K", "-j", "2"]
PART = 100 << 10
ONE_STREAM = ["--part-size", "6M", "-j", "1"]
TASK = ["pull", "DIR", "--shard", "0/1", "--round", "r", "--delete"]


def size(tree):
    return sum(len(data) for data in tree.values() if data)


# MARK: Pulls

def first_pull(stage):
    stage.seed(SMALL)
    return stage.ends_as_bucket(size(SMALL))


def small_pull(stage):
    stage.seed(SMALL)
    stage.pull()
    stage.seed(MORE)
    return stage.ends_as_bucket(size(MORE))


def large_pull(stage):
    stage.seed(SMALL)
    stage.pull()
    stage.seed(LARGE)
    return stage.ends_as_bucket(size(LARGE))


def resumed_pull(stage):
    large_pull(stage)
    interrupt(stage, ["pull", stage.place.mirror, *PARTS], "bytes_sent", 9 * MIB)
    # What is left of it depends on where it was killed.
    return stage.ends_as_bucket()


def replacing_pull(stage):
    stage.seed({**SMALL, "big": content("big1", 5 * MIB)})
    stage.pull()
    stage.seed(NEWER)
    return stage.ends_as_bucket(size(NEWER))


def many_pull(stage):
    many = {f"m/{number:02}": content(f"m{number}", MIB) for number in range(24)}
    stage.seed(SMALL)
    stage.pull()
    stage.seed(many)
    return stage.ends_as_bucket(size(many))


def conflicting_pull(stage):
    stage.seed(SMALL)
    stage.pull()
    mine = {"a.txt": content("mine", 1_000), "b/c.bin": content("mine too", 5_000)}
    stage.edit(mine)
    newer = {"a.txt": NEWER["a.txt"], "b/c.bin": NEWER["b/c.bin"]}
    stage.seed(newer)
    world = stage.ends_as_bucket(size(newer))
    # A name's extension stays at its end, so that the file opens as before.
    world.after["a.conflict.txt"] = mine["a.txt"]
    world.after["b/c.conflict.bin"] = mine["b/c.bin"]
    world.precious = list(mine.values())
    return world


def forced_pull(stage):
    stage.seed(SMALL)
    stage.pull()
    mine = {"a.txt": content("mine", 1_000), "b/d/e": content("mine too", 20_000)}
    stage.edit(mine)
    world = stage.ends_as_bucket(size({path: SMALL[path] for path in mine}))
    world.precious = list(mine.values())
    return world


def deleting_pull(stage):
    stage.seed({**SMALL, **MORE})
    stage.pull()
    gone = {"f.txt": None, "b/d/e": None, "b/d/g": None, "h/i/j": None}
    stage.seed(gone)
    world = stage.ends_as_bucket(0)
    world.precious = [MORE["f.txt"], SMALL["b/d/e"]]
    return world


def final_pull(stage):
    world = deleting_pull(stage)
    world.precious = []
    return world


def renaming_pull(stage):
    large = {"old/film": content("film3", 2 * MIB), "old/short": content("s", 300_000)}
    stage.seed({**SMALL, **large})
    stage.pull()
    stage.seed({}, moves={"old/film": "new/film", "old/short": "short"})
    return stage.ends_as_bucket(0)


def turning_pull(stage):
    """A file becomes a directory and a directory a file."""
    stage.seed({**SMALL, "x": content("x", 500), "y/z": content("z", 600)})
    stage.pull()
    stage.seed({"x": None, "y/z": None})
    stage.seed({"x/y": content("xy", 700), "y": content("y", 800)})
    return stage.ends_as_bucket(1_500)


def damaged_pull(stage):
    """The manifest is unreadable; it is set aside and made again from what both sides have."""
    small_pull(stage)
    write(os.path.join(stage.place.mirror, ".osssync", "manifest.db"), b"no database" * 500)
    return stage.ends_as_bucket(size(MORE))


# MARK: Pushes

def mirror(stage, tree):
    """A directory of the user's, which nobody has mirrored yet."""
    os.mkdir(stage.place.mirror)
    stage.world.before = {}
    stage.edit(tree)


def pushed(stage, tree, *options):
    """The same after a first push."""
    mirror(stage, tree)
    stage.ok(["push", stage.place.mirror, REMOTE, *options])
    stage.learn(stage.world.before)


def first_push(stage):
    mirror(stage, {path: data for path, data in SMALL.items() if not path.endswith("/")})
    return stage.ends_as_mirror(size(SMALL))


def small_push(stage):
    pushed(stage, {"a.txt": SMALL["a.txt"], "b/c.bin": SMALL["b/c.bin"]})
    changes = {"a.txt": NEWER["a.txt"], "b/new": content("n", 6_000), "zero": b""}
    stage.edit(changes)
    return stage.ends_as_mirror(size(changes))


def apart_push(stage):
    """The state lies elsewhere, and the marker has the number of an earlier run."""
    mirror(stage, {"a.txt": SMALL["a.txt"], "b/c.bin": SMALL["b/c.bin"]})
    state = os.path.join(stage.place.outer, "state")
    stage.ok(["push", stage.place.mirror, REMOTE, "--state-dir", state])
    stage.learn(stage.world.before)
    changes = {"a.txt": NEWER["a.txt"], "b/new": content("n", 6_000)}
    stage.edit(changes)
    return stage.ends_as_mirror(size(changes))


FILM = content("film4", 700_000)


def multipart_push(stage):
    pushed(stage, {"a.txt": SMALL["a.txt"], "old": content("old", 300_000)})
    changes = {"film": FILM, "old": content("new", 330_000)}
    stage.edit(changes)
    return stage.ends_as_mirror(size(changes))


def changed_push(stage):
    """Two of the parts of a file changed; the store copies the other ten."""
    image = content("image", 12 * PART)
    pushed(stage, {"a.txt": SMALL["a.txt"], "image": image}, *SMALL_PARTS)
    for part in (2, 8):
        image = image[:part * PART] + content(part, 100) + image[part * PART + 100:]
    stage.edit({"image": image})
    return stage.ends_as_mirror(2 * PART)


def resumed_push(stage):
    pushed(stage, {"a.txt": SMALL["a.txt"]})
    stage.edit({"film": FILM})
    interrupt(stage, ["push", stage.place.mirror, *SMALL_PARTS], "bytes_received", 350_000)
    return stage.ends_as_mirror()


def deleting_push(stage):
    files = {path: data for path, data in {**SMALL, **MORE}.items() if not path.endswith("/")}
    pushed(stage, files)
    stage.edit({"f.txt": None, "b/d/e": None, "h/i/j": None})
    return stage.ends_as_mirror(0)


def renaming_push(stage):
    pushed(stage, {"a.txt": SMALL["a.txt"], "old/film": FILM, "old/short": content("s", 300_000)})
    stage.move({"old/film": "new/film", "old/short": "short"})
    return stage.ends_as_mirror(0)


# MARK: Encrypted contents

def sealed_push(stage):
    mirror(stage, {"a.txt": SMALL["a.txt"], "old": content("old", 300_000)})
    sealed.link(stage, stage.place.mirror)
    stage.ok(["push", stage.place.mirror])
    stage.learn(stage.world.before)
    stage.edit({"film": content("film5", 900_000), "old": content("new", 330_000), "zero": b""})
    return stage.ends_as_mirror()


def sealed_pull(stage):
    sealed.link(stage, stage.seed_folder, stage.place.mirror)
    stage.seed(SMALL)
    stage.pull()
    stage.seed({**LARGE, "a.txt": NEWER["a.txt"], "ends": content("ends", 2 * 65_536)})
    return stage.ends_as_bucket()


# MARK: Shards

def cut_anew(stage):
    """Another cut of a mirror in the midst of a download, and with news in the bucket."""
    stage.seed(SMALL)
    stage.pull()
    stage.ok(["shard", stage.place.mirror, "--count", "2"])
    stage.seed(LARGE)
    interrupt(stage, ["pull", stage.place.mirror, *PARTS], "bytes_sent", 9 * MIB)
    stage.seed({"b/new": content("n", 6_000)})
    return stage.ends_as_bucket()


def shards_pull(stage):
    """Every range has something to fetch and to delete, and a directory ends beyond a cut."""
    stage.seed({**SMALL, **MORE})
    stage.pull()
    stage.ok(["shard", stage.place.mirror, "--count", "4"])
    stage.seed({"a.txt": NEWER["a.txt"], "f.txt": None, "b/d/e": None, "b/d/g": None,
                "h/i/j": None, "h/zero": None, "i/new": content("n", 6_000)})
    return stage.ends_as_bucket(len(NEWER["a.txt"]) + 6_000)


def ended_round(stage):
    """All tasks of a round have ended; what is left is its end."""
    world = shards_pull(stage)
    world.needed = 0
    world.precious = [MORE["f.txt"], SMALL["b/d/e"]]
    return world


def shards_push(stage):
    files = {path: data for path, data in {**SMALL, **MORE}.items() if not path.endswith("/")}
    pushed(stage, files)
    stage.ok(["shard", stage.place.mirror, "--count", "4"])
    stage.edit({"f.txt": None, "b/d/e": None, "h/i/j": None, "a.txt": NEWER["a.txt"],
                "i/new": content("n", 6_000)})
    return stage.ends_as_mirror(len(NEWER["a.txt"]) + 6_000)


def ended_push_round(stage):
    world = shards_push(stage)
    world.needed = 0
    return world


ALL = [
    Scenario("first-pull", ["pull", "DIR", "REMOTE"], first_pull),
    Scenario("small-pull", ["pull", "DIR"], small_pull),
    Scenario("large-pull", ["pull", "DIR", *PARTS], large_pull),
    Scenario("resumed-pull", ["pull", "DIR", *PARTS], resumed_pull),
    # With one stream there is more to fetch than a kill may cost: what the stream had on its way,
    # and the small files that were waiting for their names.
    Scenario("replacing-pull", ["pull", "DIR", *ONE_STREAM], replacing_pull,
             waste=4 * MIB + 5_900),
    Scenario("many-pull", ["pull", "DIR", "-j", "2"], many_pull),
    Scenario("conflicting-pull", ["pull", "DIR"], conflicting_pull, has_conflicts=True),
    Scenario("forced-pull", ["pull", "DIR", "--force"], forced_pull),
    Scenario("deleting-pull", ["pull", "DIR", "--delete"], deleting_pull),
    Scenario("final-pull", ["pull", "DIR", "--delete", "--trash-days", "0"], final_pull),
    Scenario("renaming-pull", ["pull", "DIR", "--delete"], renaming_pull),
    Scenario("turning-pull", ["pull", "DIR", "--delete"], turning_pull),
    Scenario("damaged-pull", ["pull", "DIR"], damaged_pull, is_damaged=True),
    Scenario("apart-pull", ["pull", "DIR", "REMOTE", "--state-dir", "STATE"], first_pull,
             state="state"),
    Scenario("apart-push", ["push", "DIR", "REMOTE", "--state-dir", "STATE"], apart_push, True,
             state="state"),
    Scenario("first-push", ["push", "DIR", "REMOTE"], first_push, True),
    Scenario("small-push", ["push", "DIR"], small_push, True),
    Scenario("multipart-push", ["push", "DIR", *SMALL_PARTS], multipart_push, True,
             waste=2 * 102_400),
    Scenario("changed-push", ["push", "DIR", *SMALL_PARTS], changed_push, True, waste=2 * PART,
             parted="image"),
    Scenario("resumed-push", ["push", "DIR", *SMALL_PARTS], resumed_push, True,
             waste=2 * 102_400),
    Scenario("deleting-push", ["push", "DIR", "--delete"], deleting_push, True),
    Scenario("renaming-push", ["push", "DIR", "--delete"], renaming_push, True),
    Scenario("sealed-push", ["push", "DIR", *SMALL_PARTS], sealed_push, True, waste=2 * PART,
             is_sealed=True),
    # Besides what the streams had on their way, the small files that waited for their names.
    Scenario("sealed-pull", ["pull", "DIR", *PARTS], sealed_pull, is_sealed=True,
             waste=2 * 4 * MIB + 140_000),
    Scenario("cancelled-pull", ["cancel", "DIR"], resumed_pull,
             repair=[["pull", "DIR", *PARTS]]),
    Scenario("cancelled-push", ["cancel", "DIR"], resumed_push, True,
             repair=[["push", "DIR", *SMALL_PARTS]]),
    Scenario("cut", ["shard", "DIR", "--count", "3"], resumed_pull,
             repair=[["pull", "DIR", *PARTS]]),
    Scenario("cut-anew", ["shard", "DIR", "--count", "3"], cut_anew,
             repair=[["shard", "DIR", "--count", "3"], ["pull", "DIR", *PARTS]]),
    Scenario("join", ["shard", "DIR", "--count", "1"], cut_anew,
             repair=[["shard", "DIR", "--count", "1"], ["pull", "DIR", *PARTS]]),
    Scenario("task", TASK, shards_pull, repair=[["pull", "DIR", "--delete"]]),
    # In the same round: what a result says is done is not done again.
    Scenario("task-again", TASK, shards_pull, repair=[TASK, ["finish", "DIR", "--round", "r"]],
             has_power_cuts=False),
    Scenario("shards-pull", ["pull", "DIR", "--delete"], shards_pull),
    Scenario("shards-push", ["push", "DIR", "--delete"], shards_push, True),
    Scenario("finish", ["finish", "DIR", "--round", "r"], ended_round,
             begin=[TASK], has_power_cuts=False),
    Scenario("finish-push", ["finish", "DIR", "--round", "r"], ended_push_round, True,
             begin=[["push", *TASK[1:]]], has_power_cuts=False),
]
