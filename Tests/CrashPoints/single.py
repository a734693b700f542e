"""Transfers of one object and one file: their record, their partial file and their locks."""

import dataclasses
import os

from scenarios import MIB, Scenario
from stage import interrupt
from Support.files import read, write
from trees import PARTIAL, content
from trial import Trial
from workplace import BUCKET, PREFIX, TRANSFER, Violation

KEY = "film.bin"
FILM = content("film6", 3 * MIB)
OLD = content("film5", 700_000)
OBJECT = f"oss://{BUCKET}/{PREFIX}{KEY}"
RANGES = ["--part-size", "256K", "-j", "2"]
PARTS = ["--part-size", "100K", "-j", "2"]
# What a record may be behind, and what was under way of two streams.
RECORD = MIB
RANGES_WASTE = RECORD + 2 * 256 * 1024
PARTS_WASTE = 2 * 102_400
ALREADY_EXISTS = 3


class SingleTrial(Trial):
    """What is true of one file, whatever happened to the run."""

    def is_success(self, run):
        return run.code == 0

    def check_success(self, run):
        if not self.is_success(run):
            raise Violation(f"the run did not succeed: {run}")

    @property
    def manifests(self):
        return []

    def rows(self):
        return {}

    def check_claims(self):
        pass

    def check_quiet(self):
        pass

    def keep_inodes(self, disk):
        """Nothing knows the file by its inode, and a partial file with a second name is refused."""

    @property
    def container(self):
        return self.scenario.container(self.place)

    def partials(self):
        return [name for name in os.listdir(self.container) if name.startswith(PARTIAL)]

    def visible(self):
        """What a user sees."""
        names = set(os.listdir(self.container)) - {"records"} - set(self.partials())
        return {name: read(os.path.join(self.container, name)) for name in names}

    def check_now(self):
        world = self.world
        before, after = world.before or {}, world.after
        for name, data in self.visible().items():
            if data not in (before.get(name), after.get(name)):
                raise Violation(f"'{name}' is neither the old nor the new version ({len(data)})")
        for name in before:
            if not os.path.exists(os.path.join(self.container, name)):
                raise Violation(f"'{name}' is missing")
        partials = self.partials()
        # A file of one call, by which the umask is found, is named as they are.
        if len(partials) > 2:
            raise Violation(f"more partial files than one: {partials}")
        self.snapshot.check_outside()
        self.check_object(is_end=False)

    def check_object(self, is_end):
        """The object is the old or the new one, and at the end the new one."""
        if not self.scenario.changes_bucket:
            return
        if KEY not in self.place.server.objects():
            if is_end:
                raise Violation("there is no object at the end")
            return
        found = self.place.server.content(KEY)
        if found != FILM and (is_end or found != OLD):
            raise Violation(f"the object has other bytes ({len(found)})")

    def check_finished(self, is_disturbed=False):
        ends = [self.world.after, self.world.before][:1 + self.scenario.gives_up]
        if self.visible() not in ends:
            raise Violation(f"the files at the end: {sorted(self.visible())}")
        self.check_object(is_end=True)
        self.snapshot.check_outside()
        if not self.scenario.changes_bucket and self.place.server.objects() != self.bucket:
            raise Violation("a download changed the bucket")
        if is_disturbed:
            return
        if self.litter():
            raise Violation(f"something is left: {self.litter()}")
        if self.place.server.uploads():
            raise Violation(f"multipart uploads are left: {self.place.server.uploads()}")

    # Of a download that is given up after a power cut, only a record that is still there names the
    # partial file; else the next download of the file removes it.
    is_after_cut = False

    def power(self, disk, seed, ends_quiet=True):
        self.is_after_cut = self.scenario.gives_up
        try:
            return super().power(disk, seed, ends_quiet)
        finally:
            self.is_after_cut = False

    def litter(self):
        state = self.scenario.state_folder(self.place)
        records = set(os.listdir(state) if os.path.isdir(state) else []) - {"manager.lock"}
        return [*([] if self.is_after_cut else self.partials()), *sorted(records)]

    def check_repaired(self, waste=None, ends_quiet=True):
        # Of a run that was killed when all was done nothing is known any more: it is done again.
        is_done = not [name for name in self.litter() if not name.endswith(".lock")] and (
            KEY in self.place.server.objects() and self.place.server.content(KEY) == FILM
            if self.scenario.changes_bucket else self.visible() == self.world.after)
        super().check_repaired(None if is_done else waste, ends_quiet)

    def repair(self):
        first, second = (os.path.join(self.place.mirror, f"app-{number}") for number in (1, 2))
        if self.scenario.moves and os.path.isdir(first):
            os.rename(first, second)
        for command in self.scenario.repair_commands(self.place):
            run = self.place.run(command)
            is_there = self.visible() == self.world.after and "--force" not in command
            if not (run.code == ALREADY_EXISTS and is_there):
                self.check_success(run)
        return run

    def kind(self, path):
        name = os.path.basename(path.removesuffix(" (deleted)"))
        if name.startswith(PARTIAL):
            return "partial file"
        for suffix in (".lock", ".tmp", ".download", ".upload"):
            if name.endswith(suffix):
                return "record" + suffix
        return "mirror" if name in ("mirror", KEY) else "records"

    def check_failure(self, run, error, fired, word):
        where = f"{error} at {fired[0]} {self.kind(fired[1])}"
        if run.code not in (0, 1, 5):
            raise Violation(f"{where}: {run}")
        if run.code == 0:
            self.check_finished(is_disturbed=True)
            return
        if error == "EINTR":
            raise Violation(f"{where} was not repeated: {run}")
        if word and not any(part in run.messages for part in word.split("|")):
            raise Violation(f"{where}: the message says nothing of it: {run}")


@dataclasses.dataclass
class Single(Scenario):
    """A scenario without a mirror: FILE is in CONTAINER, a directory of the user's."""

    state: str = "state"
    # The container is moved before the next run, as an update of an app moves it; the records are
    # in it.
    moves: bool = False
    # What comes after the fault removes the rest of a download; nothing of it may be left.
    gives_up: bool = False

    trial = SingleTrial

    def container(self, place):
        if not self.moves:
            return place.mirror
        moved = os.path.join(place.mirror, "app-2")
        return moved if os.path.isdir(moved) else os.path.join(place.mirror, "app-1")

    def state_folder(self, place):
        if self.moves:
            return os.path.join(self.container(place), "records")
        return super().state_folder(place)

    def command(self, place, arguments=None):
        container = self.container(place)
        names = {"OBJECT": OBJECT, "CONTAINER": container, "FILE": os.path.join(container, KEY),
                 "RECORDS": self.state_folder(place)}
        return [names.get(word, word) for word in arguments or self.arguments]

    @property
    def is_run(self):
        return not self.gives_up


# MARK: What there is before

def film(stage):
    """The object; a user's directory that is empty."""
    os.mkdir(stage.place.mirror)
    stage.seed({KEY: FILM})
    stage.world.before = {}
    stage.world.after = {KEY: FILM}
    stage.world.needed = len(FILM)
    return stage.world


def film_of_app(stage):
    """The same, in a directory of an app's own."""
    world = film(stage)
    os.makedirs(os.path.join(stage.place.mirror, "app-1", "records"), mode=0o700)
    return world


def old_film(stage):
    world = film(stage)
    write(os.path.join(stage.place.mirror, KEY), OLD)
    world.before = {KEY: OLD}
    return world


def half_film(stage):
    """A killed download, of which about a half is there."""
    world = film(stage)
    interrupt(stage, GET.command(stage.place), "bytes_sent", 2 * MIB, first=8)
    world.needed = None
    return world


def long_film(stage):
    """Where the first request is slow, as on a busy machine, others take over its ranges, and what is
    under way comes twice."""
    world = film(stage)
    world.needed = None
    return world


def upload(stage):
    os.mkdir(stage.place.mirror)
    write(os.path.join(stage.place.mirror, KEY), FILM)
    stage.world.before = stage.world.after = {KEY: FILM}
    stage.world.needed = len(FILM)
    return stage.world


def half_upload(stage):
    world = upload(stage)
    interrupt(stage, PUT.command(stage.place), "bytes_received", MIB, first=15)
    world.needed = None
    return world


AT = ["--state-dir", "RECORDS"]
GET = Single("get", ["get", "OBJECT", "FILE", *RANGES, *AT], film, waste=RANGES_WASTE)
PUT = Single("put", ["put", "FILE", "OBJECT", "--force", *PARTS, *AT], upload, True,
             waste=PARTS_WASTE)
APP = ["--bucket", BUCKET, "--key", PREFIX + KEY, "--path", "FILE", "--records", "RECORDS",
       "--identity", "film 7", "--part-size", str(256 << 10), "--streams", "2"]
DOWNLOAD = Single("download", [TRANSFER, "download", *APP], film, waste=RANGES_WASTE)
ALL = [
    GET,
    dataclasses.replace(GET, name="replacing-get", arguments=[*GET.arguments, "--force"],
                        prepare=old_film),
    dataclasses.replace(GET, name="resumed-get", prepare=half_film),
    # One request brings all ranges: more streams may lose more, and it may be all of so little.
    dataclasses.replace(GET, name="long-get", waste=None, prepare=long_film,
                        arguments=["get", "OBJECT", "FILE", "--part-size", "256K", "-j", "16",
                                   *AT]),
    PUT,
    dataclasses.replace(PUT, name="resumed-put", prepare=half_upload),
    dataclasses.replace(DOWNLOAD, name="moved-download", prepare=film_of_app, moves=True,
                        arguments=[*DOWNLOAD.arguments, "--base", "CONTAINER"]),
    dataclasses.replace(DOWNLOAD, name="swept-download", gives_up=True, waste=None,
                        repair=[[TRANSFER, "sweep", "--records", "RECORDS"]]),
    dataclasses.replace(DOWNLOAD, name="managed-download", prepare=film_of_app, moves=True,
                        arguments=[TRANSFER, "manage", *APP, "--base", "CONTAINER"]),
]
