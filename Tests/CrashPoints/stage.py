"""Both sides before a run that is disturbed, and how they are set up."""

import dataclasses
import os

from Support.files import write, write_below
from trees import parents
from workplace import REMOTE


@dataclasses.dataclass
class World:
    """Both sides before the run and what it is to make of them."""

    before: dict = None
    after: dict = dataclasses.field(default_factory=dict)
    # Directories at the end that hold nothing.
    directories: set = dataclasses.field(default_factory=set)
    # What the user made: it must be somewhere, at every moment.
    precious: list = dataclasses.field(default_factory=list)
    # The content of each version, by key and ETag.
    versions: dict = dataclasses.field(default_factory=dict)
    # Bytes of content that the run has to move; None where that depends.
    needed: int = None


class Stage:
    """What scenarios are set up with, in a workplace whose server has an empty bucket."""

    def __init__(self, place):
        self.place = place
        self.seed_folder = place.path("seed")
        self.world = World()
        self.tree = {}
        os.mkdir(self.seed_folder)
        os.mkdir(os.path.join(place.outer, "beside"))
        write(os.path.join(place.outer, "canary"), b"must not change")
        write(os.path.join(place.outer, "beside", "canary"), b"nor this")

    def ok(self, arguments, **shim):
        run = self.place.run(arguments, **shim)
        if run.code != 0:
            raise RuntimeError(f"{arguments} failed: {run}")
        return run

    def lay(self, folder, tree):
        """Makes `folder` hold the files of `tree`; None removes one, a "/" makes a directory."""
        for path, data in tree.items():
            whole = os.path.join(folder, path)
            if path.endswith("/"):
                os.makedirs(whole, exist_ok=True)
            elif data is None:
                os.unlink(whole)
                while not os.listdir(os.path.dirname(whole)):
                    whole = os.path.dirname(whole)
                    os.rmdir(whole)
            else:
                write_below(folder, path, data)

    def seed(self, tree, moves=None):
        """Makes the bucket hold what it holds with the changes of `tree`."""
        for old, new in (moves or {}).items():
            self.tree[new] = self.tree.pop(old)
            self.lay(self.seed_folder, {new: self.tree[new], old: None})
        self.lay(self.seed_folder, tree)
        self.tree.update(tree)
        self.tree = {path: data for path, data in self.tree.items() if data is not None}
        self.ok(["push", self.seed_folder, REMOTE, "--delete", "--max-delete", "100%"])
        self.learn(self.tree)

    def learn(self, tree):
        """Remembers which content the ETags of the bucket stand for."""
        for key, etag in self.place.server.objects().items():
            self.world.versions[key, etag] = tree.get(key, b"")

    def files(self):
        return {path: data for path, data in self.tree.items() if not path.endswith("/")}

    def pull(self):
        """Makes the mirror hold what the bucket holds."""
        self.ok(["pull", self.place.mirror, REMOTE])
        self.world.before = self.files()

    def edit(self, tree):
        """Changes the mirror as a user does."""
        self.lay(self.place.mirror, tree)
        self.world.before = {**self.world.before, **tree}
        self.world.before = {path: data for path, data in self.world.before.items()
                             if data is not None and not path.endswith("/")}

    def move(self, moves):
        """Renames files of the mirror as a user does."""
        for old, new in moves.items():
            path = os.path.join(self.place.mirror, new)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.rename(os.path.join(self.place.mirror, old), path)
            self.world.before[new] = self.world.before.pop(old)
        for folder in {os.path.dirname(old) for old in moves} - {""}:
            os.removedirs(os.path.join(self.place.mirror, folder))

    def ends_as_bucket(self, needed=None):
        self.world.after = self.files()
        self.world.directories = {path[:-1] for path in self.tree if path.endswith("/")}
        self.world.directories |= parents(self.world.directories)
        self.world.needed = needed
        return self.world

    def ends_as_mirror(self, needed=None):
        self.world.after = dict(self.world.before)
        self.world.needed = needed
        return self.world


# MARK: Interrupted runs

def interrupt(stage, arguments, counter, limit, first=40):
    """Kills a run, and again, until `limit` bytes were moved, as the server counts them."""
    server = stage.place.server
    server.forget_requests()
    for number in range(first, 400, 2):
        run = stage.place.run(arguments, kill=number)
        if run.code == 0:
            raise RuntimeError("the run was over before it was killed")
        if sum(request[counter] for request in server.requests()) >= limit:
            return
    raise RuntimeError("the run did not come far enough")
