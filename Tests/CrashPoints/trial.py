"""One scenario in one workplace: faults at its calls, and what is looked at afterwards."""

import errno
import os
import random
import shutil

import crash_states
import manifest
import sealed
import shards
from scenarios import PART
from stage import Stage
from Support.files import read, write
from trees import STATE, Snapshot, check_end, check_instant, read_tree, trash_of
from workplace import Violation, Workplace

CONTENT = {"GetObject", "PutObject", "UploadPart", "CompleteMultipartUpload", "CopyObject",
           "UploadPartCopy", "DeleteObject", "DeleteMultipleObjects", "InitiateMultipartUpload",
           "AbortMultipartUpload"}
# What stays in the state directory between runs.
KEPT = {"config", "cuts", "identity", "lock", "manifest.db", "marker", "partial", "rounds", "shards",
        "trash"}
KEPT_OF_SHARDS = {"identity", "lock", "manifest.db", "partial", "result"}
KILLED = -9
OTHER_BOOT = "ffffffff-0000-4000-8000-000000000002"

# For each error: the classes of calls that can fail so, whether it lasts, and a word of its message.
ERRORS = {
    "EIO": (",open,write,sync,truncate,allocate,name,remove,status,", (False, True),
            "Input/output|input/output|I/O error"),
    "ENOSPC": (",open,write,sync,allocate,name,", (False, True), "full|space"),
    "EDQUOT": (",open,write,sync,allocate,name,", (False, True), "quota"),
    "EACCES": (",open,name,remove,status,", (False, True), "Permission denied|permission denied"),
    "EINTR": (",open,write,sync,truncate,allocate,", (False,), ""),
}


class Trial:
    """A scenario that was set up, to be run again and again from the same moment."""

    def __init__(self, scenario, programs, shim):
        self.scenario = scenario
        self.place = Workplace(programs, shim)
        self.worst_waste = 0
        self.names = {}
        try:
            self.set_up()
        except BaseException:
            self.close()
            raise

    def set_up(self):
        place = self.place
        place.server.start()
        stage = Stage(place)
        self.world = self.scenario.prepare(stage)
        self.snapshot = Snapshot(place, place.path("snapshot"))
        self.bucket = place.server.objects()
        self.first_rows = self.rows()
        self.reset()
        # A run without a fault says what there is to move.
        run = place.run(self.scenario.command(place), counts=place.counts_path)
        self.check_success(run)
        self.counts = place.counts()
        if not self.scenario.is_run:
            self.repair()
        self.baseline = self.moved(place.server.requests())
        if self.world.needed is not None and self.baseline != self.world.needed:
            raise Violation(f"{self.baseline} bytes moved instead of {self.world.needed}")
        self.check_finished()
        self.check_quiet()

    def close(self):
        self.place.close()

    def reset(self):
        self.snapshot.restore()
        if self.scenario.changes_bucket:
            self.snapshot.restore_bucket()
        for command in self.scenario.begin_commands(self.place):
            run = self.place.run(command)
            if run.code != 0:
                raise Violation(f"the run before did not succeed: {run}")
        self.place.server.forget_requests()

    def moved(self, log):
        """Bytes of content that went over the wire."""
        if self.scenario.changes_bucket:
            return sum(request["bytes_received"] for request in log
                       if request["operation"] in ("PutObject", "UploadPart"))
        return sum(request["bytes_sent"] for request in log
                   if request["operation"] == "GetObject" and request["status"] in (0, 200, 206))

    # What is looked at

    def is_success(self, run):
        """True if it says that it did all there was to do."""
        summary = run.summary
        if self.scenario.has_conflicts and run.code == 1 and summary.get("conflicts"):
            return not (summary["failed"] or summary["skipped"] or summary["local_changes"])
        if run.code != 0 or not run.events:
            return False
        if "in_step" not in summary:
            return run.events[-1]["event"] in ("cancelled", "cut")
        # An empty directory that a kill left, and that this run fills, is only local to its plan:
        # there the trees tell whether both sides are equal.
        differences = ("only_remote", "local_changes", "damaged", "deleted_here", "deleted_there")
        # A task leaves its deletions to `finish`, which counts no such directories of the tasks.
        is_excused = summary["only_local"] > 0 or "round" in summary
        return summary["in_step"] or (
            is_excused and not any(summary[name] for name in differences))

    def check_success(self, run):
        if not self.is_success(run):
            raise Violation(f"the run did not succeed: {run}")
        # The numbers in the marker and in the manifest belong together after whatever fault.
        if "does not match the last run" in run.messages:
            raise Violation(f"the directory is taken for another one: {run}")

    def check_now(self):
        files = read_tree(self.place.mirror)[0]
        check_instant(self.world, files, trash_of(self.place))
        self.snapshot.check_outside()
        self.check_manifest_kept()

    def check_manifest_kept(self):
        """No run takes a sound manifest for a damaged one."""
        path = self.scenario.manifest(self.place)
        if not self.scenario.is_damaged:
            for folder, _, names in os.walk(os.path.dirname(path)):
                aside = [name for name in names if name.startswith("manifest.corrupt-")]
                if aside:
                    raise Violation(f"a sound manifest was set aside: {aside} in {folder}")

    def check_finished(self, is_disturbed=False):
        """After a run that says it is in step.

        What a fault kept from being removed may still be there; the next run takes it away.
        """
        place, world = self.place, self.world
        files, directories = read_tree(place.mirror)
        check_end(world, files, directories)
        self.snapshot.check_outside()
        bucket = place.server.objects()
        if not self.scenario.changes_bucket and bucket != self.bucket:
            raise Violation("a pull changed the bucket")
        if self.scenario.changes_bucket:
            for key in bucket.keys() | world.after.keys():
                if key not in world.after or self.content(key) != world.after[key]:
                    raise Violation(f"the object '{key}' is not the file")
        if is_disturbed:
            manifest.check_rows(self.rows(), place, bucket)
        else:
            manifest.check_closed(self.manifests, place, bucket)
        if place.server.uploads():
            raise Violation(f"multipart uploads are left: {place.server.uploads()}")
        self.check_manifest_kept()
        left = self.litter()
        if left and not is_disturbed:
            raise Violation(f"temporary files are left: {left}")

    def content(self, key):
        data = self.place.server.content(key)
        return sealed.opened(data) if self.scenario.is_sealed and key[-1] != "/" else data

    def litter(self):
        """What is in the state directories and belongs to no finished run."""
        state = self.scenario.state_folder(self.place)
        places = {os.path.join(self.place.mirror, STATE): KEPT, state: KEPT}
        cutting = shards.cutting(state)
        found = []
        if cutting:
            others = set(os.listdir(os.path.join(state, "shards"))) - {cutting}
            found += [f"shards/{name}" for name in others]
            for path in shards.manifests(state, cutting):
                places[os.path.dirname(path)] = KEPT_OF_SHARDS
        for folder, kept in places.items():
            for name in os.listdir(folder) if os.path.isdir(folder) else []:
                if name == "partial":
                    found += os.listdir(os.path.join(folder, name))
                elif name not in kept and not name.startswith("manifest.corrupt-"):
                    found.append(name)
        return found

    @property
    def manifests(self):
        return shards.manifests_of(self.scenario.state_folder(self.place))

    def repair(self):
        for command in self.scenario.repair_commands(self.place):
            run = self.place.run(command)
            self.check_success(run)
        return run

    def check_quiet(self):
        """One more run moves nothing."""
        place = self.place
        # What an earlier run had under way may be logged late, but not twice.
        for is_last in (False, True):
            place.server.forget_requests()
            run = self.repair()
            moved = [name for name in ("transferred", "bytes", "deleted", "renamed", "adopted")
                     if run.summary.get(name, 0) != 0]
            requests = [request["operation"] for request in place.server.requests()
                        if request["operation"] in CONTENT]
            if moved or requests and is_last:
                raise Violation(f"a run with nothing to do moved something: {requests} {run}")
            if not requests:
                return

    def check_repaired(self, waste=None, ends_quiet=True):
        """The same command again mends everything, at a bounded price."""
        place = self.place
        self.repair()
        again = self.moved(place.server.requests()) - self.baseline
        self.check_finished()
        if waste is not None:
            self.worst_waste = max(self.worst_waste, again)
            if again > waste:
                raise Violation(f"{again} bytes moved twice, {waste} are allowed")
        if ends_quiet:
            self.check_quiet()
        if waste is not None and self.scenario.parted:
            self.check_next_change(os.path.join(place.mirror, self.scenario.parted))

    def check_next_change(self, path):
        """What the run knew of the file's parts is known after it, however it ended."""
        changed = bytearray(read(path))
        changed[0] ^= 1
        # The snapshot has the old file.
        write(path + ".new", changed)
        os.replace(path + ".new", path)
        self.place.server.forget_requests()
        self.repair()
        sent = self.moved(self.place.server.requests())
        if sent != PART:
            raise Violation(f"of the next change {sent} bytes were sent instead of {PART}")

    # Faults

    def kill(self, number, is_torn=False, records=False):
        """A kill before call `number`; false if there are fewer calls."""
        place, scenario = self.place, self.scenario
        self.reset()
        disk = crash_states.Disk(self.snapshot) if records else None
        run = place.run(scenario.command(place), kill=number, torn=int(is_torn),
                        fired=place.fired_path, record=place.record_path if records else None)
        fired = place.fired()
        if not fired:
            self.check_success(run)
            return None
        if run.code != KILLED:
            raise Violation(f"exit {run.code} instead of the kill")
        self.count(fired)
        self.check_now()
        return disk or True

    def count(self, fired):
        call, path = fired
        name = f"{call} {self.kind(path)}"
        self.names[name] = self.names.get(name, 0) + 1

    def kind(self, path):
        """What a path stands for, in names of crash points."""
        below = os.path.relpath(path.removesuffix(" (deleted)"), self.place.outer)
        parts = below.split("/")
        if parts[0] != "state" and STATE not in parts:
            return "mirror" if below == "mirror" else "tree"
        rest = parts[1:] if parts[0] == "state" else parts[parts.index(STATE) + 1:]
        if len(rest) > 1:
            return rest[0] + "/*"
        return ("*" if len("".join(rest)) == 32 else "".join(rest)) or "state"

    def calls(self, error):
        """How many calls can fail so, more or less: the threads of a run race."""
        classes = ERRORS[error][0].strip(",").split(",")
        return sum(self.counts[name] for name in classes)

    def fail(self, number, error, lasts):
        """Call `number` of those that can fail so fails; false if there are fewer."""
        place, scenario = self.place, self.scenario
        classes, _, word = ERRORS[error]
        self.reset()
        run = place.run(scenario.command(place), fail=number, errno=getattr(errno, error),
                        sticky=int(lasts), classes=classes, fired=place.fired_path)
        fired = place.fired()
        if not fired:
            self.check_success(run)
            return False
        self.check_now()
        self.check_failure(run, error, fired, word)
        self.check_repaired()
        return True

    def check_failure(self, run, error, fired, word):
        """The exit status and the message are true."""
        where = f"{error} at {fired[0]} {self.kind(fired[1])}"
        if run.code not in (0, 1, 5):
            raise Violation(f"{where}: {run}")
        if run.code == 0 or self.is_success(run):
            self.check_success(run)
            if self.scenario.is_run:
                self.check_finished(is_disturbed=True)
            return
        is_manifest = "manifest" in fired[1]
        # What the system interrupts is done again; SQLite alone does not repeat a sync.
        if error == "EINTR" and not (fired[0].endswith("sync") and is_manifest):
            raise Violation(f"{where} was not repeated: {run}")
        words = word.split("|")
        if is_manifest and fired[0] == "open":
            # Of a file that it could not make SQLite keeps no reason.
            words += ["unable to open database file", "disk I/O error", "cannot be written"]
        if is_manifest:
            # Where it keeps a rollback journal, a file that it cannot look at counts as moved away.
            words.append("readonly database")
        if word and not any(part in run.messages for part in words):
            raise Violation(f"{where}: the message says nothing of it: {run}")

    # Power cuts

    def keep_inodes(self, disk):
        """Second names for the files that the killed run published: the manifest knows them."""
        folder = self.place.path("held")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        known = {entry[1] for entry in self.snapshot.files.values()}
        for current, _, leaves in os.walk(self.place.mirror):
            if STATE in current.split("/"):
                continue
            for leaf in leaves:
                path = os.path.join(current, leaf)
                inode = os.lstat(path).st_ino
                if inode in known or inode not in disk.by_inode:
                    continue
                node = disk.by_inode[inode]
                if node.held is None:
                    node.held = os.path.join(folder, str(inode))
                    os.link(path, node.held)

    def power(self, disk, seed, ends_quiet=True):
        """A power cut where the recorded run was killed; the fingerprint of the state."""
        place = self.place
        if self.scenario.changes_bucket:
            self.snapshot.restore_bucket(place.path("killed-bucket"))
        else:
            place.server.forget_requests()
        state = disk.cut(random.Random(seed))
        crash_states.materialize(state, self.snapshot)
        self.check_now()
        self.check_claims()
        place.set_boot(OTHER_BOOT)
        try:
            self.repair()
            self.check_finished()
            if ends_quiet:
                self.check_quiet()
        finally:
            place.set_boot("00000000-0000-4000-8000-000000000001")
        return crash_states.fingerprint(state)

    def rows(self):
        """The rows of a manifest that is perhaps not closed; none of one that is not there yet."""
        place, scenario = self.place, self.scenario
        try:
            return manifest.recovered_rows(self.manifests, place.path("recovered"))
        except Violation:
            if scenario.is_damaged:
                return {}
            raise

    def check_claims(self):
        """Whatever the manifest says is there, is there."""
        place, world = self.place, self.world
        rows = self.rows()
        for key, (size, etag, inode, modified) in rows.items():
            if key.endswith("/"):
                continue
            path = os.path.join(place.mirror, key)
            try:
                status = os.lstat(path)
                with open(path, "rb") as file:
                    found = file.read()
            except (FileNotFoundError, NotADirectoryError):
                status, found = None, None
            looks_unchanged = status is not None and (
                status.st_size, status.st_mtime_ns, status.st_ino) == (size, modified, inode)
            recorded = world.versions.get((key, etag))
            if looks_unchanged and recorded is not None and found != recorded:
                raise Violation(f"the manifest takes '{key}' for unchanged, and it is not")
            is_new = self.first_rows.get(key, (0, None))[1] != etag
            if is_new and recorded is not None and found != recorded:
                raise Violation(f"the manifest claims '{key}', which the disk does not have")
