"""Row F241: sharded mirrors with their state on another mount."""

import os
import signal

from case_table import case, equal, expect
from machine import Disk, until
from shards import content
from stage import ramp
from wire import HANG

# Of up to 4 MiB nothing is recorded, and nothing is kept.
LARGE = ramp(12 << 20)
PARTS = ["--part-size", "1M", "--jobs", "1"]


class Apart:
    """A mirror of objects `0/f0` to `3/f0` whose directory and state are mounts of their own."""

    def __init__(self, place):
        self.place, self.disk = place, Disk(place)
        self.folder = os.path.join(place.folder, "states")
        self.options = ["--state-dir", os.path.join(self.folder, "state")]
        self.disk.memory(place.directory, "size=64m")
        self.disk.memory(self.folder, "size=64m")
        # One port for all runs: they record it.
        self.between = place.wire()
        for shard in range(4):
            place.put(f"{shard}/f0", content(shard))
        place.in_step(self.run("pull"))

    def run(self, command, *options):
        return self.disk.run(command, *options, *self.options)

    def cut(self):
        path = os.path.join(self.place.folder, "cuts")
        with open(path, "w") as file:
            file.writelines(f"{shard}/\n" for shard in range(1, 4))
        equal(self.run("shard", "--cuts", path).status, 0, "the cutting")

    def interrupt(self, *task):
        """A pull of a large object that gets SIGINT when eight of its twelve parts are there."""
        self.place.put("2/large", LARGE)
        between = self.between
        between.on("GetObject", lambda request, forward: [HANG]
                   if len(between.seen("GetObject", "2/large")) > 8 else None, "2/large")
        running = self.disk.running("pull", *PARTS, *task, *self.options)
        until(lambda: len(between.seen("GetObject", "2/large")) == 9 or running.status is not None,
              "the ninth part")
        running.send(signal.SIGINT)
        result = running.result()
        equal(result.status, 130, f"how it ended: {result}")
        between.clear()
        return result

    def partials(self):
        """The folders of unfinished downloads on each of the two mounts."""
        root = f"/proc/{self.disk.holder.pid}/root"
        return [[os.path.relpath(folder, root + top) for folder, _, names in os.walk(root + top)
                 for _ in names if os.path.basename(folder) == "partial"]
                for top in (self.place.directory, self.folder)]

    def resume(self, *task):
        """A pull that fetches the rest of the object, and nothing that is there already."""
        self.place.server.forget_requests()
        result = self.place.in_step(self.run("pull", *PARTS, *task))
        received = sum(request["bytes_sent"] for request in self.place.requests("GetObject"))
        equal((result.count("bytes_resumed"), received), (8 << 20, 4 << 20),
              f"bytes that were resumed and received: {result}")
        equal(self.disk.tree()["2/large"], LARGE, "the content")
        equal(self.partials(), [[], []], "unfinished downloads at the end")


@case("F241", "a task resumes a download where the state is on another mount")
def _(place):
    if not Disk.is_possible():
        return
    mirror = Apart(place)
    mirror.cut()
    task = ["--shard", "1/4", "--round", "one"]
    mirror.interrupt(*task)
    (folder,), others = mirror.partials()
    expect(folder.startswith(".osssync/work-") and "/shards/" in folder and folder.endswith("/0001/partial"),
           f"the unfinished download is in {folder}")
    equal(others, [], "unfinished downloads beside the state")
    mirror.resume(*task)


@case("F241", "a download is resumed after its mirror was sharded, with the state on another mount")
def _(place):
    if not Disk.is_possible():
        return
    mirror = Apart(place)
    mirror.interrupt()
    (folder,), others = mirror.partials()
    expect(folder.startswith(".osssync/work-") and folder.count("/") == 2, f"the unfinished download: {folder}")
    equal(others, [], "the unfinished download")
    for count in ("2", "3", "1"):
        equal(mirror.run("shard", "--count", count).status, 0, f"cut into {count}")
        equal([len(folders) for folders in mirror.partials()], [1, 0], f"in {count} shards")
    mirror.resume()
