"""A mirror with a history of months: real runs, and rows that are put into its journal."""

import os
import signal
import random
import sqlite3
import subprocess

from Support.checksums import row_check
from Support.files import write
from Support.processes import Started
from Support.program import account
from Support.server import Server

KEY, SECRET, REGION, BUCKET = "me", "secret", "cn-demo", "my-bucket"
# What a page must show as text. The last one has a newline and a mark that turns the direction.
HOSTILE = ["<script>document.title='hostile'</script>",
           "<img src=hostile.example onerror=alert(1)>.jpg",
           "\"onmouseover=\"alert(1) & 'x'.jpg", "a" * 200 + ".jpg", "写真" * 40 + ".jpg",
           "line\nbreak \u202egpj.exe"]
DAY = 86400


class Mirror:
    """A directory, its bucket, and the programs."""

    def __init__(self, programs, folder, name="photos"):
        self.program = os.path.join(programs, "osssync")
        self.folder, self.directory = folder, os.path.join(folder, name)
        self.page = os.path.join(folder, "page.html")
        self.server = Server(os.path.join(programs, "osssync-server"), folder, [BUCKET], [KEY],
                             SECRET, REGION)
        self.server.start()
        self.environment = {"HOME": folder, "PATH": "/usr/bin:/bin", "TZ": "UTC",
                            **account("oss", KEY, SECRET, REGION, self.server.url)}

    def run(self, *arguments, status=0):
        found = subprocess.run([self.program, *arguments], env=self.environment, timeout=120,
                               cwd=self.folder, capture_output=True, text=True)
        if found.returncode != status:
            raise AssertionError(f"{arguments}: {found.returncode}: {found.stdout}{found.stderr}")
        return found.stdout

    def write(self, name, size):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, random.Random(name).randbytes(size))

    def push(self, *arguments, status=0):
        return self.run("push", self.directory, f"oss://{BUCKET}/photos", *arguments, status=status)

    def pushing(self, *arguments):
        """A push that the caller ends, once it shows itself."""
        push = Started([self.program, "push", self.directory, "--json", "--html", self.page,
                        *arguments], self.environment, self.folder)
        while b'"state":"started"' not in (line := push.line()):
            if not line:
                raise AssertionError(push.last_words())
        # A line for each moment; the page follows, and transfers are shown once a second old.
        while not self.shows_transfers() and push.process.poll() is None:
            follow = Started([self.program, "status", "--follow", "--json", self.directory],
                             self.environment, self.folder)
            while follow.line():
                if self.shows_transfers():
                    break
            # SIGINT is ignored in what a shell started in the background.
            follow.send(signal.SIGTERM)
            follow.wait(60)
        return push

    def shows_transfers(self):
        if not os.path.exists(self.page):
            return False
        with open(self.page, encoding="utf-8") as page:
            return '<ul class="now"><li' in page.read()

    def add_nights(self, count):
        """Puts that many nightly runs before the newest run of the journal."""
        generator = random.Random(7)
        database = sqlite3.connect(os.path.join(self.directory, ".osssync/manifest.db"))
        cursor = database.execute("SELECT * FROM run ORDER BY run_id DESC LIMIT 1")
        names = [column[0] for column in cursor.description]
        newest = dict(zip(names, cursor.fetchone()))
        database.execute("DELETE FROM run")
        first = newest["started_seconds"] - count * DAY
        for night in range(count + 1):
            row = dict(newest, run_id=newest["run_id"] + night)
            if night < count:
                chance = generator.random()
                outcome, message = "complete", None
                if chance < 0.05:
                    outcome, message = "failed", "the connection could not be made (the name " \
                        "could not be resolved)"
                elif chance < 0.08:
                    outcome, message = "incomplete", None
                if 0.08 <= chance < 0.12 and night:
                    continue
                moved = 0 if outcome == "failed" else int(2 ** generator.uniform(14, 31))
                row.update(
                    started_seconds=first + night * DAY + generator.randrange(900),
                    outcome=outcome, message=message, transferred_bytes=moved,
                    transferred=moved // 3_000_000, failed=1 if outcome == "incomplete" else 0,
                    duration_seconds=moved / 4e6 + 2)
            row["row_check"] = row_check("run", [row[name] for name in names[:-1]])
            database.execute(f"INSERT INTO run VALUES ({','.join('?' * len(names))})",
                             [row[name] for name in names])
        items = database.execute("SELECT * FROM run_item WHERE run_id = ?", [newest["run_id"]])
        columns = [column[0] for column in items.description]
        rows = [dict(zip(columns, item), run_id=newest["run_id"] + count) for item in items]
        database.execute("DELETE FROM run_item")
        for row in rows:
            if "row_check" in row:
                row["row_check"] = row_check("run_item", [row[name] for name in columns[:-1]])
            database.execute(f"INSERT INTO run_item VALUES ({','.join('?' * len(columns))})",
                             [row[name] for name in columns])
        database.commit()
        database.close()

    def end(self):
        self.server.stop()
