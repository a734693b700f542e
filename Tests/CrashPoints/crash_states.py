"""The states that a disk may be in after a power cut, rebuilt from the calls of a recorded run.

What a sync covers is there. Of the rest:
- of a write, any of its pages of 4 KiB may be missing: then the old bytes are there, or zeros where
  the file was shorter;
- sizes, times and permissions of a file are those of some moment since its last sync;
- names that were made, moved and removed since the last sync of their directory may be as they
  were. A rename happens whole or not at all. What comes into a directory that was itself lost is
  where it was before, and a directory is not removed while something is left in it.
"""

import hashlib
import os
import stat

from Support.files import read, write

PAGE = 4096
NAME_ORDERS = ("none", "all", "prefix", "prefix", "directories", "directories", "subset", "subset")
DATA_ORDERS = ("none", "all", "pages", "pages", "status only", "each")


class File:
    """A file with what happened to it; the first `synced` of its operations are on the disk."""

    def __init__(self, mode, base=None, modified=0):
        self.mode, self.base, self.modified = mode, base, modified
        self.ops = []
        self.synced = 0
        # A second name of this very inode, which the manifest may know.
        self.held = None
        self.inode = None

    def volatile_size(self):
        size = os.path.getsize(self.base) if self.base else 0
        for op in self.ops:
            if op[0] == "size":
                size = op[1]
        return size

    def written(self, offset, data):
        size = self.volatile_size()
        self.ops.append(("write", offset, data))
        if offset + len(data) > size:
            self.ops.append(("size", offset + len(data)))

    def cut(self, rng, order):
        """Bytes, time and permissions after a power cut."""
        data = bytearray(read(self.base) if self.base else b"")
        modified, mode = self.modified, self.mode
        pending = self.ops[self.synced:]
        statuses = sum(op[0] != "write" for op in pending)
        if order == "each":
            order = rng.choice(("none", "all", "pages", "status only"))
        kept = {"none": 0, "all": statuses, "status only": statuses}.get(order)
        kept = rng.randint(0, statuses) if kept is None else kept
        chance = rng.choice((0.1, 0.5, 0.9))
        size = len(data)
        for index, op in enumerate(self.ops):
            is_pending = index >= self.synced
            if op[0] == "write":
                if not is_pending or order == "all":
                    put(data, op[1], op[2])
                elif order == "pages":
                    for start, piece in pages(op[1], op[2]):
                        if rng.random() < chance:
                            put(data, start, piece)
                continue
            if is_pending:
                if kept == 0:
                    continue
                kept -= 1
            if op[0] == "size":
                size = op[1]
                del data[size:]
            elif op[0] == "times":
                modified = op[1]
            elif op[0] == "mode":
                mode = op[1]
        del data[size:]
        data.extend(bytes(size - len(data)))
        return bytes(data), modified, mode


class Directory:
    def __init__(self, mode):
        self.mode = mode
        self.parent = None
        # What the disk had at first, and what a program sees now.
        self.base, self.names = {}, {}


class NameOp:
    """Names that were set and removed together, as `(directory, name, node or None)`."""

    def __init__(self, changes):
        self.changes = changes
        self.is_durable = False
        # The directory that a rmdir removes.
        self.removed = None

    def directories(self):
        return [directory for directory, _, _ in self.changes]


class Disk:
    """The tree below `outer`, and what a recorded run did to it."""

    def __init__(self, snapshot):
        self.outer = snapshot.place.outer
        self.by_inode = {}
        self.name_ops = []
        self.problems = []
        self.root = self.scan(self.outer, snapshot)

    def scan(self, path, snapshot):
        status = os.lstat(path)
        node = Directory(stat.S_IMODE(status.st_mode))
        self.by_inode[status.st_ino] = node
        for name in os.listdir(path):
            child = os.path.join(path, name)
            status = os.lstat(child)
            if stat.S_ISDIR(status.st_mode):
                found = self.scan(child, snapshot)
                found.parent = node
            else:
                held = snapshot.state.get(child) or snapshot.files[child][0]
                found = File(stat.S_IMODE(status.st_mode), held, status.st_mtime_ns)
                found.held = None if child in snapshot.state else held
                found.inode = status.st_ino
                self.by_inode[status.st_ino] = found
            node.base[name] = node.names[name] = found
        return node

    # Replaying

    def replay(self, record):
        """Carries out what shim.c wrote down."""
        with open(record + ".data", "rb") as file:
            data = file.read()
        with open(record, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                name, *fields = line.rstrip("\n").split("\t")
                getattr(self, "do_" + name)(data, *fields)

    def place(self, path):
        """The directory and the last component of an absolute path."""
        parts = [part for part in os.path.relpath(path, self.outer).split("/") if part != "."]
        node = self.root
        for part in parts[:-1]:
            node = node.names[part]
        return node, parts[-1]

    def change(self, *changes):
        for directory, name, node in changes:
            if node is None:
                directory.names.pop(name, None)
            else:
                directory.names[name] = node
        self.name_ops.append(NameOp(list(changes)))

    def do_open(self, _, inode, path, created, mode):
        if created == "1":
            node = self.by_inode[int(inode)] = File(int(mode, 8))
            node.inode = int(inode)
            directory, name = self.place(path)
            self.change((directory, name, node))
        else:
            self.by_inode[int(inode)].ops.append(("size", 0))

    def do_write(self, data, inode, offset, count, start):
        start = int(start)
        self.by_inode[int(inode)].written(int(offset), data[start:start + int(count)])

    def do_truncate(self, _, inode, size):
        self.by_inode[int(inode)].ops.append(("size", int(size)))

    def do_allocate(self, _, inode, mode, offset, length):
        node = self.by_inode[int(inode)]
        end = int(offset) + int(length)
        if mode == "0" and end > node.volatile_size():
            node.ops.append(("size", end))

    def do_times(self, _, inode, seconds, nanoseconds):
        self.by_inode[int(inode)].ops.append(("times", int(seconds) * 10**9 + int(nanoseconds)))

    def do_mode(self, _, inode, mode):
        node = self.by_inode.get(int(inode))
        # A power cut leaves a directory with the permissions that it was made with.
        if isinstance(node, File):
            node.ops.append(("mode", int(mode, 8)))

    def do_mkdir(self, _, path, mode):
        directory, name = self.place(path)
        node = Directory(int(mode, 8))
        node.parent = directory
        self.change((directory, name, node))

    def do_rename(self, _, old, new, flags):
        source, source_name = self.place(old)
        target, target_name = self.place(new)
        node = source.names[source_name]
        if isinstance(node, Directory):
            node.parent = target
        # RENAME_EXCHANGE
        other = target.names[target_name] if flags == "2" else None
        if isinstance(other, Directory):
            other.parent = source
        self.change((source, source_name, other), (target, target_name, node))

    def do_link(self, _, old, new):
        source, source_name = self.place(old)
        target, target_name = self.place(new)
        self.change((target, target_name, source.names[source_name]))

    def do_unlink(self, _, path):
        directory, name = self.place(path)
        self.change((directory, name, None))

    def do_rmdir(self, _, path):
        directory, name = self.place(path)
        removed = directory.names[name]
        self.do_unlink(_, path)
        self.name_ops[-1].removed = removed

    def do_fsync(self, _, inode, path):
        node = self.by_inode.get(int(inode))
        if node is None:
            directory, name = self.place(path)
            node = self.by_inode[int(inode)] = directory.names[name]
        if isinstance(node, File):
            node.synced = len(node.ops)
            return
        for op in self.name_ops:
            if node in op.directories():
                op.is_durable = True

    do_fdatasync = do_fsync

    def do_syncfs(self, *_):
        for op in self.name_ops:
            op.is_durable = True
        for node in self.by_inode.values():
            if isinstance(node, File):
                node.synced = len(node.ops)

    # Cutting the power

    def kept_names(self, rng, order):
        """The operations on names that reached the disk, in their order."""
        pending = [op for op in self.name_ops if not op.is_durable]
        if order == "all":
            kept = set(pending)
        elif order == "prefix":
            kept = set(pending[:rng.randint(0, len(pending))])
        elif order == "subset":
            chance = rng.choice((0.2, 0.5, 0.8))
            kept = {op for op in pending if rng.random() < chance}
        elif order == "directories":
            # Each directory is as it was at some moment of its own; what moved goes with the
            # directory that it moved to.
            kept, ends = set(), {}
            for op in pending:
                directory = op.directories()[-1]
                if directory not in ends:
                    count = sum(other.directories()[-1] is directory for other in pending)
                    ends[directory] = rng.randint(0, count)
                if ends[directory] > 0:
                    ends[directory] -= 1
                    kept.add(op)
        else:
            kept = set()
        return [op for op in self.name_ops if op.is_durable or op in kept]

    def cut(self, rng):
        """One state of the disk after a power cut now, as `{path: directory or file}`."""
        tables = {}

        def table(directory):
            return tables.setdefault(directory, dict(directory.base))

        def is_reachable(directory):
            while directory is not self.root:
                parent = directory.parent
                if directory not in table(parent).values():
                    return False
                directory = parent
            return True

        for op in self.kept_names(rng, rng.choice(NAME_ORDERS)):
            if not all(is_reachable(directory) for directory in op.directories()):
                continue
            if op.removed is None or not table(op.removed):
                self.apply(op, table)
        order = rng.choice(DATA_ORDERS)
        cuts = {}
        state = {}

        def collect(directory, path):
            for name, node in sorted(table(directory).items()):
                child = os.path.join(path, name)
                if isinstance(node, Directory):
                    state[child] = node
                    collect(node, child)
                else:
                    if node not in cuts:
                        is_clean = node.base and not node.ops
                        cuts[node] = None if is_clean else node.cut(rng, order)
                    state[child] = (node, cuts[node])

        collect(self.root, self.outer)
        return state

    @staticmethod
    def apply(op, table):
        for directory, name, node in op.changes:
            if node is not None:
                table(directory)[name] = node
        for directory, name, node in op.changes:
            if node is None:
                moved = [other for _, _, other in op.changes if other is not None]
                # A rename of something that is not under its old name any more removes nothing.
                if not moved or table(directory).get(name) in moved:
                    table(directory).pop(name, None)


def put(data, offset, piece):
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset:offset + len(piece)] = piece


def pages(offset, data):
    start = 0
    while start < len(data):
        end = min(len(data), start + PAGE - (offset + start) % PAGE)
        yield offset + start, data[start:end]
        start = end


def fingerprint(state):
    """What tells one state from another."""
    digest = hashlib.sha256()
    for path, node in sorted(state.items()):
        # Names of temporary files are random.
        digest.update(path.encode("utf-8", "surrogateescape") + b"\0")
        if not isinstance(node, Directory):
            file, found = node
            if found:
                digest.update(found[0] + repr(found[1:]).encode())
            else:
                digest.update(repr(file.base).encode())
    return digest.hexdigest()


def materialize(state, snapshot):
    """Makes the workplace's directories hold `state`."""
    directories = {path for path, node in state.items() if isinstance(node, Directory)}
    for path in state:
        if os.path.isfile(path):
            snapshot.hold_inode(path)
    snapshot.clear(keeps_files=False, keeping=directories)
    made = {}
    for path, node in state.items():
        if snapshot.is_outside(path):
            continue
        if isinstance(node, Directory):
            if not os.path.isdir(path):
                os.mkdir(path)
            os.chmod(path, node.mode)
            continue
        file, found = node
        if file in made:
            os.link(made[file], path)
            continue
        made[file] = path
        if found is None:
            if file.held:
                os.link(file.held, path)
            else:
                snapshot.keep_inode(path, file.inode)
                write(path, read(file.base))
                os.chmod(path, file.mode)
            continue
        data, modified, mode = found
        if file.held and not file.base:
            write(file.held, data)
            os.link(file.held, path)
        else:
            snapshot.keep_inode(path, file.inode)
            write(path, data)
        os.chmod(path, mode)
        if modified:
            os.utime(path, ns=(modified, modified))
