"""Manifests as an older osssync left them, with the rows of one that this osssync wrote.

version1.sql holds the tables of version 1. The rows' columns are those of then, and a row that has
lost a column is sealed as it was sealed then.
"""

import os
import shutil
import sqlite3

from Support.checksums import row_check

HERE = os.path.dirname(os.path.realpath(__file__))
APPLICATION_ID = 0x4F535359
# What changes while a download or an upload goes on: in a killed run's log, not in the file.
IN_THE_LOG = ("download_range", "upload_part")
COMPANIONS = ("-wal", "-shm", "-journal")


def rows_of(connection, table):
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor]


def run_of_version1(row):
    """A row of `run` without the count that version 2 added and the paths that version 5 did, which
    its checksum may cover."""
    row = dict(row)
    vanished = row.pop("vanished")
    if row.pop("paths") is not None:
        raise RuntimeError("a row of 'run' was limited to paths, which version 1 does not know")
    seal = row.pop("row_check")
    values = list(row.values())
    if seal != row_check("run", values + ([] if vanished is None else [vanished])):
        raise RuntimeError("a row of 'run' is sealed in another way than this code knows")
    row["row_check"] = row_check("run", values)
    return row


def entry_of_version1(row):
    """A row of `entry` without the marks of versions 3 and 6, which its checksum covers where there are
    any, without that of version 4, which it does not cover, and without what version 7 knows of a file."""
    row = dict(row)
    row.pop("is_searchable")
    if row.pop("through_link") is not None or (row.pop("is_link") or 0) & 1:
        raise RuntimeError("a row of 'entry' is of a link, which version 1 does not know")
    for column in ("changed_nanoseconds", "mode", "is_damaged"):
        row.pop(column)
    covered = list(row)[:list(row).index("row_check")]
    row["row_check"] = row_check("entry", [row[column] for column in covered])
    return row


def turn_back(path, leaves_log):
    """Puts a manifest of version 1 with the same rows in the place of the one at `path`.

    With `leaves_log` it is one that a killed run left: what it did last is in a log beside it.
    Returns the version that it had.
    """
    source = sqlite3.connect(path)
    version = source.execute("PRAGMA user_version").fetchone()[0]
    made = path + ".older"
    target = sqlite3.connect(made, isolation_level=None)
    with open(os.path.join(HERE, "version1.sql"), encoding="ascii") as file:
        target.executescript(file.read())
    target.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    target.execute("PRAGMA user_version = 1")
    tables = [name for name, in target.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
    contents = {table: rows_of(source, table) for table in tables}
    source.close()
    contents["run"] = [run_of_version1(row) for row in contents["run"]]
    contents["entry"] = [entry_of_version1(row) for row in contents["entry"]]
    late = IN_THE_LOG if leaves_log else ()
    fill(target, contents, [table for table in tables if table not in late])
    target.execute("PRAGMA journal_mode = WAL")
    target.execute("PRAGMA wal_autocheckpoint = 0")
    if late:
        fill(target, contents, late)
    for suffix in COMPANIONS:
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    # While it is open: closing would empty the log.
    os.chmod(made, 0o600)
    for suffix in ("", "-wal") if late else ():
        shutil.copyfile(made + suffix, path + suffix)
    target.close()
    if late:
        os.unlink(made)
    else:
        os.replace(made, path)
    os.chmod(path, 0o600)
    return version


def fill(target, contents, tables):
    """One transaction, which raises the store's number as every one does."""
    target.execute("BEGIN IMMEDIATE")
    for table in tables:
        for row in contents[table]:
            marks = ", ".join("?" * len(row))
            names = ", ".join(row)
            target.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))
    target.execute("UPDATE store SET generation = generation + 1")
    target.execute("COMMIT")
