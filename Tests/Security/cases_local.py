"""C07, C24, C27, C30: the directory, its state, and what a crash leaves.

Of the register of faults: F068.
"""

import os
import signal
import sqlite3
import threading
import time

from endpoints import OSS, PREFIX, Endpoint, Store, crc64, error, reply
from harness import CANARIES, case, equal, expect, tree
from Support.checksums import row_check


@case("directories that nobody would mirror are refused", {
    path: path for path in ["/", "//", "/.", "/etc", "/usr", "/usr/lib", "/var", "/bin", "/home",
                            "/dev", "/proc", "/etc/../etc/.", "HOME", "HOME/.", "HOME/.ssh",
                            "HOME/.aws", "HOME/.config", "HOME/.aliyun", "HOME/.gnupg",
                            "HOME/link-to-root", "HOME/link-to-home"]})
def refused(place, path):
    for name in [".ssh", ".aws", ".config", ".aliyun", ".gnupg"]:
        os.mkdir(os.path.join(place.home, name))
    os.symlink("/", os.path.join(place.home, "link-to-root"))
    os.symlink(place.home, os.path.join(place.home, "link-to-home"))
    before = tree(place.home)
    path = path.replace("HOME", place.home)
    with Endpoint(Store({PREFIX + b"authorized_keys": b"evil"})) as endpoint:
        for command in ["init", "pull", "push", "sync"]:
            place.run(command, path, OSS, endpoint=endpoint.url, expected=3)
        expect(all(request.is_listing for request in endpoint.requests), "an object was asked for")
    equal(tree(place.home), before)
    expect(not os.path.lexists(os.path.join(path, ".osssync")), "state was made")


def pulled(place, *names):
    store = Store({PREFIX + name: b"content of " + name for name in names})
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=0)
    return store


STATE = {
    "a link": lambda state, elsewhere: (os.rename(state, elsewhere), os.symlink(elsewhere, state)),
    "writable by others": lambda state, _: os.chmod(state, 0o777),
    "writable by the group": lambda state, _: os.chmod(state, 0o770),
    "a file": lambda state, elsewhere: (os.rename(state, elsewhere), open(state, "w").close()),
    "with a link for partial files": lambda state, elsewhere: (
        os.rename(state + "/partial", elsewhere), os.symlink(elsewhere, state + "/partial")),
    "with a link for the lock": lambda state, elsewhere: (
        os.remove(state + "/lock"), os.symlink(elsewhere, state + "/lock")),
    "with a link for the manifest": lambda state, elsewhere: (
        os.rename(state + "/manifest.db", elsewhere), os.symlink(elsewhere, state + "/manifest.db")),
}


@case("state that is not ours alone is not used", {
    word: (word, spoil) for word, spoil in STATE.items()})
def state(place, parameter):
    word, spoil = parameter
    store = pulled(place, b"a")
    directory = os.path.join(place.mirror, ".osssync")
    elsewhere = os.path.join(place.folder, "elsewhere")
    spoil(directory, elsewhere)
    before = tree(elsewhere) if os.path.isdir(elsewhere) else None
    if os.path.isfile(elsewhere):
        with open(elsewhere, "rb") as file:
            content = file.read()
    store.objects[PREFIX + b"b"] = b"new"
    with Endpoint(store) as endpoint:
        outcome = place.run("pull", place.mirror, OSS, endpoint=endpoint.url)
        if "manifest" in word:
            # It is set aside, and all that it leads to is left as it was.
            equal(outcome.status, 0, str(outcome))
            expect("not a regular file" in outcome.text and "set aside" in outcome.text,
                   str(outcome))
        else:
            equal(outcome.status, 5, str(outcome))
            # Nor is it used by a command that finds it above the current directory.
            place.run("pull", endpoint=endpoint.url, limit=f"cd '{place.mirror}'", expected=(2, 5))
            # A listing may be under way when the state is looked at.
            expect(all(request.is_listing for request in endpoint.requests), "content was asked for")
    if os.path.isfile(elsewhere):
        with open(elsewhere, "rb") as file:
            equal(file.read(), content, "what the link leads to was used")
    if before is not None:
        equal(tree(elsewhere), before, "what the link leads to was used")


@case("state is for its owner alone, with names that nobody can guess")
def private(place):
    store = Store({PREFIX + b"a": b"x" * (9 << 20)})
    store.get = lambda request: reply(206, b"", b"Content-Range: bytes 0-4194303/9437184",
                                      b"Content-Length: 4194304", length=False) + b"y" * 100
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, longest=3, limit="umask 0")
    directory = os.path.join(place.mirror, ".osssync")
    equal(os.lstat(directory).st_mode & 0o7777, 0o700)
    partial = []
    for folder, folders, names in os.walk(directory):
        for name in folders:
            equal(os.lstat(os.path.join(folder, name)).st_mode & 0o077, 0, name)
        for name in names:
            equal(os.lstat(os.path.join(folder, name)).st_mode & 0o077, 0, name)
            if os.path.basename(folder) == "partial":
                expect(len(name) == 32 and int(name, 16) >= 0, name)
                partial.append(name)
    equal(len(partial), 1, "partial files")


# MARK: A manifest that somebody else wrote, with sound checksums

def insert(database, table, *values, behind=()):
    """Writes a row whose checksum is sound, for who knows how to make one."""
    row = (*values, row_check(table, values), *behind)
    database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({','.join('?' * len(row))})", row)


def entry(database, key, size=5, inode=0):
    sample = 1 if crc64(key) & 0xFF == 0 else 0
    insert(database, "entry", key, size, "0" * 32, None, None, None, "Standard", 0, 0, inode,
           None, 0, behind=(sample, int(size >= 256 << 10)))


def outside(database, place):
    path = os.path.join(place.folder, "around", "outside", "canary")
    status = os.stat(path)
    for key in [b"../outside/canary", b"a/../../outside/canary", path.encode()]:
        entry(database, key, status.st_size, status.st_ino)


def partials(database, place):
    for key, name in [(b"x", "../../../outside/canary"), (b"y", "/etc/passwd"), (b"z", "..")]:
        insert(database, "download", key, 5, "0" * 32, None, name, 8 << 20)


def numbers(database, place):
    huge = 2**63 - 1
    for key in [b"a", b"n1", b"n2"]:
        entry(database, key, huge)
    insert(database, "download", b"x", huge, "0" * 32, None, "0" * 32, 1)
    for index in range(3):
        insert(database, "download_range", b"x", index, 0, huge, huge, 0, "boot")
    insert(database, "upload", b"large", "U", huge, huge, huge, 999_999_999, huge, 999_999_999, 1, 1,
           "t" * 32, huge, 0)
    for number in range(1, 4):
        insert(database, "upload_part", b"large", number, huge, "e", 0)


def times(database, place):
    for field in range(2):
        insert(database, "entry", b"t%d" % field, 1, "e", None, 2**63 - 1, 10**9 + field, "S",
               -2**63, -1, 0, None, 0, behind=(0, 0))


def settings(database, place):
    for name, in database.execute("SELECT name FROM setting").fetchall():
        insert(database, "setting", name, "../" * 20_000)


def triggers(database, place):
    database.execute("CREATE TRIGGER evil AFTER INSERT ON entry BEGIN "
                     "DELETE FROM entry; SELECT load_extension('/tmp/evil'); END")


def views(database, place):
    database.execute("DROP TABLE run_item")
    database.execute("CREATE VIEW run_item AS SELECT writefile('/tmp/evil', 'x')")


def many(database, place):
    database.execute("DELETE FROM run_item")
    database.executemany("INSERT INTO run_item VALUES (1, ?, x'61', 'download', 'failed', 'm', 0)",
                         ((number,) for number in range(100_000)))


def generated(database, place):
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_schema SET sql = 'CREATE TABLE entry (key BLOB, x AS (key))' "
                     "WHERE name = 'entry'")


@case("a manifest that somebody else wrote leads nowhere", {
    "entries outside": outside, "partial files outside": partials, "huge numbers": numbers,
    "impossible times": times, "other settings": settings, "triggers": triggers, "views": views,
    "many rows": many, "another schema": generated})
def manifest(place, spoil):
    store = pulled(place, b"a", b"d/b")
    path = os.path.join(place.mirror, ".osssync", "manifest.db")
    with sqlite3.connect(path) as database:
        spoil(database, place)
    database.close()
    with open(os.path.join(place.mirror, "mine"), "wb") as file:
        file.write(b"mine")
    del store.objects[PREFIX + b"d/b"]
    store.put = lambda request: error(403, b"AccessDenied")
    with Endpoint(store) as endpoint:
        place.run("status", place.mirror, endpoint=endpoint.url)
        place.run("pull", place.mirror, "--delete", "--max-delete", "100%", endpoint=endpoint.url)
        equal(place.files().get(b"mine"), b"mine")
        place.run("push", place.mirror, "--delete", endpoint=endpoint.url)
        for request in endpoint.requests:
            expect(b".." not in request.path and b"/etc" not in request.path, request.target)
        place.run("cancel", place.mirror, endpoint=endpoint.url)
        place.run("pull", place.mirror, endpoint=endpoint.url, expected=(0, 1, 3, 5))
    equal(place.files().get(b"a"), b"content of a")


@case("a configuration that somebody else wrote takes no credentials elsewhere", {
    "another endpoint over http": "endpoint = http://192.0.2.1\n",
    "plain http allowed": "endpoint = http://192.0.2.1\ninsecure-http = yes\n",
    "another file of profiles": "config = {home}/profiles\n",
    "a program": "credential-process = /bin/touch {home}/ran\n",
    "keys": "access-key-id = other\naccess-key-secret = other\n",
    "a line end": "remote = oss://x/\\r\\nHost: evil\n", "no text": "\xff\0\n",
    "another place for the state": "state-dir = ../outside\n"})
def link(place, lines):
    pulled(place, b"a")
    path = os.path.join(place.mirror, ".osssync", "config")
    with open(path, "rb") as file:
        kept = [line for line in file.read().split(b"\n") if not line.startswith(b"endpoint")]
    with open(path, "wb") as file:
        file.write(b"\n".join(kept) + b"\n" + lines.format(home=place.home).encode("latin-1"))
    with open(os.path.join(place.home, "profiles"), "w") as file:
        file.write(f"[default]\ncredential-process = /bin/touch {place.home}/ran\n")
    os.chmod(os.path.join(place.home, "profiles"), 0o600)
    with Endpoint(Store({PREFIX + b"a": b"content of a"})) as endpoint:
        outcome = place.run("pull", place.mirror, endpoint=endpoint.url,
                            environment={"OSS_ENDPOINT": None} if "http" in lines else None)
        for request in endpoint.requests:
            expect("canary-key-id" in request.headers["authorization"], "another key was used")
    expect(not os.path.exists(os.path.join(place.home, "ran")), "a program was started")
    if "http" in lines:
        equal(outcome.status, 2)


IGNORED = {
    "too large": b"a\n" * (1 << 15) + b"b", "escapes": b"[\x1b[2J\xc2\x9b31m\xe2\x80\xae\n",
    "slashes": b"a//\x1b[2J\n", "bytes": bytes(range(256)),
}


@case("a hostile ignore file is not taken and commands nothing", IGNORED)
def ignored(place, content):
    store = Store({PREFIX + b".osssyncignore": content, PREFIX + b"a": b"x"})
    for _ in range(2):
        with Endpoint(store) as endpoint:
            outcome = place.run("pull", place.mirror, OSS, "--delete", endpoint=endpoint.url,
                                expected=1)
        expect(".osssyncignore" in outcome.text, str(outcome))
        equal(place.files(), {b"a": b"x"})
    # As a file of the user's it ends a run before anything is sent.
    for name, text in ("secret.key", b"mine"), (".osssyncignore", content):
        with open(os.path.join(place.mirror, name), "wb") as file:
            file.write(text)
    with Endpoint(store) as endpoint:
        outcome = place.run("push", place.mirror, "--delete", endpoint=endpoint.url, expected=2)
        expect(".osssyncignore" in outcome.text, str(outcome))
        expect(all(request.method in (b"GET", b"HEAD") for request in endpoint.requests), "sent")


@case("a crash leaves no memory with secrets behind")
def core(place):
    def limited(process):
        def kill():
            while process.status is None and not endpoint.requests:
                time.sleep(0.01)
            while process.status is None:
                process.send(signal.SIGSEGV)
                time.sleep(0.5)
        threading.Thread(target=kill, daemon=True).start()
    with Endpoint(lambda _: time.sleep(10)) as endpoint:
        try:
            # Inherited: what is set once the program runs may come after what it sets itself.
            place.run("ls", OSS, endpoint=endpoint.url, started=limited,
                      limit="ulimit -c $(ulimit -H -c)")
        except AssertionError as failure:
            # The crash itself is wanted, what it shows is not.
            expect("it crashed" in str(failure), str(failure))
            for canary in CANARIES:
                expect(canary not in str(failure), "a secret is shown")
        else:
            raise AssertionError("it did not crash")
    for folder, _, names in os.walk(place.folder):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            for canary in CANARIES:
                expect(canary.encode() not in content, f"{name} has a secret")
