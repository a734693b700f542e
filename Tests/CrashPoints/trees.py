"""Trees of files: reading, comparing, and bringing a workplace back to a moment."""

import os
import random
import re
import shutil
import stat

from Support.files import read
from workplace import Violation

STATE = ".osssync"
# Of a single transfer, beside its file.
PARTIAL = ".osssync-"
CONFLICT = re.compile(r"\.conflict-\d{8}T\d{6}Z-[0-9A-Za-z-]*(?:-\d+)?")


def content(seed, size):
    """Bytes that no other seed has: a mixture of two versions is equal to neither."""
    return random.Random(seed).randbytes(size)


def canonical(path):
    """The name of a kept version without its time and host."""
    return CONFLICT.sub(".conflict", path)


def read_tree(root):
    """The files by their paths, and the directories, without osssync's own."""
    files, directories = {}, set()
    for folder, names, leaves in os.walk(root):
        below = os.path.relpath(folder, root)
        below = "" if below == "." else below + "/"
        if STATE in names:
            names.remove(STATE)
        for name in leaves:
            path = os.path.join(folder, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise Violation(f"'{below}{name}' is no regular file")
            files[below + name] = read(path)
        directories.update(below + name for name in names)
    return files, directories


def parents(paths):
    """The directories that a tree of these files has."""
    found = set()
    for path in paths:
        while "/" in path:
            path = path.rpartition("/")[0]
            found.add(path)
    return found



def check_instant(world, files, trash):
    """Each file is a complete version, and nothing that the user wrote is lost."""
    before, after = world.before or {}, world.after
    for path, data in files.items():
        name = canonical(path)
        allowed = [tree[name] for tree in (before, after) if name in tree]
        if data not in allowed:
            kind = "a strange file" if not allowed else "neither the old nor the new version"
            raise Violation(f"'{path}' is {kind} ({len(data)} bytes)")
    for path in before.keys() & after.keys():
        if path not in files:
            raise Violation(f"'{path}' is missing")
    held = list(files.values()) + trash
    for data in world.precious:
        if data not in held:
            raise Violation(f"a version of the user is lost ({len(data)} bytes)")


def check_end(world, files, directories):
    """The tree is what the run was to make of it."""
    found = {}
    for path, data in files.items():
        name = canonical(path)
        if name in found and found[name] != data:
            raise Violation(f"two versions were kept of '{name}'")
        found[name] = data
    for path in world.after.keys() - found.keys():
        raise Violation(f"'{path}' is missing at the end")
    for path in found.keys() - world.after.keys():
        raise Violation(f"'{path}' should not be there at the end")
    for path, data in found.items():
        if data != world.after[path]:
            raise Violation(f"'{path}' has other bytes at the end")
    expected = parents(world.after) | world.directories
    if directories != expected:
        raise Violation(f"directories at the end: {sorted(directories ^ expected)} differ")


class Snapshot:
    """A workplace as it is now, to come back to.

    Files keep their inodes, which the manifest knows, as it does its own: they are held by second
    names. The state is copied, because it is written in place.
    """

    def __init__(self, place, folder):
        self.place = place
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.directories = {}
        self.files = {}
        self.state = {}
        self.inodes = {}
        self.numbers = {}
        for current, names, leaves in os.walk(place.outer):
            self.directories[current] = os.stat(current)
            for name in names:
                self.directories[os.path.join(current, name)] = None
            for name in leaves:
                path = os.path.join(current, name)
                held = os.path.join(folder, str(len(self.files) + len(self.state)))
                if self.is_state(path):
                    shutil.copy2(path, held)
                    self.state[path] = held
                    self.numbers[path] = self.hold_inode(path)
                else:
                    os.link(path, held)
                    status = os.stat(held)
                    self.files[path] = (held, status.st_ino, status.st_mtime_ns, status.st_size)
        self.digest = {path: hash(read(held)) for path, (held, *_) in self.files.items()}
        self.outside = self.outside_now()
        self.bucket = os.path.join(folder, "bucket")
        self.save_bucket(self.bucket)

    def is_state(self, path):
        below = os.path.relpath(path, self.place.outer).split("/")
        return below[0] == "state" or STATE in below or below[-1].startswith(PARTIAL)

    def save_bucket(self, folder):
        server = self.place.server
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(server.root, folder)
        server.start()

    def restore_bucket(self, folder=None):
        server = self.place.server
        server.stop()
        shutil.rmtree(server.root)
        shutil.copytree(folder or self.bucket, server.root)
        server.start()

    def restore(self):
        """The directories as they were; the server is another matter."""
        self.clear()
        for path, status in self.directories.items():
            if not os.path.isdir(path):
                os.mkdir(path)
            if status:
                os.chmod(path, stat.S_IMODE(status.st_mode))
        for path, held in self.state.items():
            self.keep_inode(path, self.numbers[path])
            shutil.copy2(held, path)
        for path, (held, _, modified, _) in self.files.items():
            if not os.path.exists(path):
                os.link(held, path)
            # A file that was renamed here got its object's time.
            if os.stat(held).st_mtime_ns != modified:
                os.utime(held, ns=(modified, modified))

    def hold_inode(self, path):
        """Keeps the inode of a manifest, and its number for what is written to its path."""
        number = os.stat(path).st_ino
        if path.endswith("/manifest.db") and number not in self.inodes:
            self.inodes[number] = os.path.join(self.folder, f"inode-{number}")
            os.link(path, self.inodes[number])
        return number

    def keep_inode(self, path, number):
        """Gives what is to be written to a path the inode that the file had."""
        if number in self.inodes and not os.path.exists(path):
            os.link(self.inodes[number], path)

    def clear(self, keeps_files=True, keeping=()):
        """Removes what was not there; with `keeps_files` false also what was, but directories
        around the mirror, the mirror itself and those of `keeping`: a power cut leaves them the
        same directories."""
        for current, names, leaves in os.walk(self.place.outer, topdown=False):
            for name in leaves:
                path = os.path.join(current, name)
                known = self.files.get(path)
                if keeps_files and known and os.lstat(path).st_ino == known[1]:
                    continue
                if not keeps_files and self.is_outside(path):
                    continue
                os.unlink(path)
            for name in names:
                path = os.path.join(current, name)
                keeps = path in self.directories if keeps_files else (
                    self.is_outside(path) or path == self.place.mirror or path in keeping)
                if not keeps:
                    os.rmdir(path)

    def is_outside(self, path):
        """Neither in the mirror nor in a state directory beside it."""
        below = os.path.relpath(path, self.place.outer).split("/")
        return below[0] not in ("mirror", "state")

    def outside_now(self):
        """Everything around the mirror, to see that it stays as it is."""
        found = {}
        for current, names, leaves in os.walk(self.place.outer):
            for name in names + leaves:
                path = os.path.join(current, name)
                if self.is_outside(path):
                    status = os.lstat(path)
                    found[path] = (status.st_ino, status.st_mode, status.st_size,
                                   status.st_mtime_ns)
        return found

    def check_outside(self):
        if self.outside_now() != self.outside:
            raise Violation("something outside the mirror changed")

    def is_renamed(self, path, inode):
        """True if the mirror has the file by another name."""
        if os.path.lexists(path) and os.lstat(path).st_ino == inode:
            return False
        return any(os.lstat(os.path.join(current, name)).st_ino == inode
                   for current, _, leaves in os.walk(self.place.mirror) for name in leaves)

    def check_held(self):
        """No file was written in place."""
        for path, (held, inode, modified, size) in self.files.items():
            status = os.stat(held)
            same = status.st_size == size and hash(read(held)) == self.digest[path]
            # A rename gives the file the time of its object.
            if status.st_mtime_ns != modified and not self.is_renamed(path, inode):
                same = False
            if not same:
                raise Violation(f"'{path}' was written in place")


def trash_of(place):
    """The contents in the trash."""
    found = []
    for folder, _, leaves in os.walk(os.path.join(place.mirror, STATE, "trash")):
        found += [read(os.path.join(folder, name)) for name in leaves]
    return found
