"""What must hold of a manifest of an earlier version while a run brings it up to date."""

import dataclasses

import manifest
from workplace import Violation

# Only these calls can harm it.
FILE = "/manifest.db"
# More calls than a migration makes.
MANY_CALLS = 256
# Settings that a run which was cut off leaves, and the next one settles.
OF_A_CUT_OFF_RUN = {"uploads.unrecorded-runs", b"uploads.unrecorded-runs",
                    "run.number-pending", b"run.number-pending"}


@dataclasses.dataclass
class Older:
    """A manifest of version 1 as it was before the run."""

    # The version that it is to become.
    current: int
    # The names of the columns of each table, and the rows in them.
    columns: dict
    rows: dict

    @staticmethod
    def read(path, scratch, current=None):
        def look(connection):
            columns = {}
            for table, in connection.execute(
                    "SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                cursor = connection.execute(f"SELECT * FROM {table}")
                columns[table] = [column[0] for column in cursor.description]
            return Older(current, columns, rows_in(connection, columns))
        return manifest.recovered(path, scratch, look)

    def now(self, path, scratch):
        """The version that the manifest has, and the rows of then in the columns of then."""
        def look(connection):
            problems = connection.execute("PRAGMA integrity_check").fetchall()
            if problems != [("ok",)]:
                raise Violation(f"the manifest is damaged: {problems}")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            return version, rows_in(connection, self.columns)
        return manifest.recovered(path, scratch, look)

    def check_kept(self, path, scratch, world, keeps_checkpoints):
        """The manifest is a sound one of either version and forgot nothing; its version.

        Without `keeps_checkpoints` a transfer may have failed and begins again.
        """
        version, rows = self.now(path, scratch)
        if version == 1:
            # Nothing is written before it is migrated, and nothing of a migration that failed.
            if rows != self.rows:
                tables = [table for table in rows if rows[table] != self.rows[table]]
                raise Violation(f"the manifest is still of version 1, and {tables} changed")
        elif version != self.current:
            raise Violation(f"the manifest has version {version}")
        # The value of a setting may change; each is named by its first column.
        for table, of in (("run", lambda row: row), ("setting", lambda row: row[0])):
            lost = set(map(of, self.rows[table])) - set(map(of, rows[table]))
            if lost - OF_A_CUT_OFF_RUN:
                raise Violation(f"rows of '{table}' are lost: {lost}")
        entries = keys(rows["entry"])
        lost = keys(self.rows["entry"]) - entries
        if lost & {key.encode() for key in world.after}:
            raise Violation(f"rows of 'entry' are lost: {lost}")
        for table in ("download", "upload") if keeps_checkpoints else ():
            lost = keys(self.rows[table]) - keys(rows[table]) - entries
            if lost:
                raise Violation(f"the checkpoints in {table!r} of {lost} are lost")
        return version


def keys(rows):
    return {row[0] for row in rows}


def rows_in(connection, columns):
    return {table: set(connection.execute(f"SELECT {', '.join(names)} FROM {table}"))
            for table, names in columns.items()}


def calls(trial):
    """How many calls on its files a run makes before the manifest has its new version."""
    low, high = 0, MANY_CALLS
    while high - low > 1:
        middle = (low + high) // 2
        if trial.version_after_kill(middle) == 1:
            low = middle
        else:
            high = middle
    return low
