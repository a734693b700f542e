"""What the manifest claims, held against the disk and the bucket."""

import os
import shutil
import sqlite3

from workplace import Violation


def entries(connection):
    connection.text_factory = bytes
    if connection.execute("PRAGMA quick_check").fetchall() != [(b"ok",)]:
        raise Violation("the manifest is damaged")
    found = connection.execute(
        "SELECT key, size_bytes, etag, inode, local_modified_seconds, local_modified_nanoseconds"
        " FROM entry")
    return {key.decode(): (size, etag.decode(), inode, seconds * 10**9 + nanoseconds)
            for key, size, etag, inode, seconds, nanoseconds in found}


def recovered_rows(paths, scratch):
    """The rows of manifests that nobody closed; none of those that are not there."""
    return joined(recovered(path, scratch, entries) for path in paths if os.path.exists(path))


def joined(parts):
    """All of them: no key is in two manifests."""
    found = {}
    for part in parts:
        if found.keys() & part.keys():
            raise Violation(f"two manifests have the same keys: {sorted(found.keys() & part.keys())}")
        found.update(part)
    return found


def recovered(path, scratch, look):
    """What `look` finds in a copy of a manifest that nobody closed."""
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    for suffix in ("", "-wal"):
        if os.path.exists(path + suffix):
            shutil.copyfile(path + suffix, os.path.join(scratch, "m" + suffix))
    connection = sqlite3.connect(os.path.join(scratch, "m"))
    try:
        return look(connection)
    except sqlite3.DatabaseError as error:
        raise Violation(f"the manifest cannot be opened: {error}") from None
    finally:
        connection.close()


def check_rows(found, place, bucket):
    """The rows are the tree's and the bucket's."""
    if found.keys() != bucket.keys():
        raise Violation(f"rows and objects differ: {sorted(found.keys() ^ bucket.keys())}")
    for key, (size, etag, inode, modified) in found.items():
        if etag != bucket[key]:
            raise Violation(f"the row of '{key}' has another ETag than the object")
        file = os.path.join(place.mirror, key)
        status = os.lstat(file)
        if key.endswith("/"):
            continue
        # What changed in the moment of recording is recorded a nanosecond early.
        if status.st_size != size or status.st_mtime_ns - modified not in (0, 1):
            raise Violation(f"the row of '{key}' has another size or time than the file")
        if status.st_ino != inode:
            raise Violation(f"the row of '{key}' has another inode than the file")


def check_closed(paths, place, bucket):
    """The same after a run that is in step and was not disturbed, and nothing is open."""
    check_rows(joined(closed(path) for path in paths), place, bucket)


def closed(path):
    """The rows of all entries: `key: (size, etag, inode, modified)`."""
    if os.path.exists(path + "-wal"):
        raise Violation("the manifest was not closed")
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        for table in ("download", "download_range", "upload", "upload_part", "planned_deletion"):
            count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            if count:
                raise Violation(f"{count} rows are left in {table}")
        return entries(connection)
    finally:
        connection.close()
