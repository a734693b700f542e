"""Rows F526 to F529 and F540 to F542: what mirrors with encrypted contents can do, and refuse."""

import os
import random
import time

from case_table import case, equal, expect
from machine import Running
from past_cases import own_server
from scenes import FRESH, NEW, OLD, OTHER
from shards import cut
from stage import BUCKET, ramp
from Support.processes import PATIENCE

LARGE = ramp(200_000, 5)
# Of which no two may have one nonce; `make soak` sends 100,000.
UPLOADS = int(os.environ.get("OSSSYNC_SEALED_UPLOADS", "400"))


def linked(place, directory, key="key", prefix=None):
    """The directory, linked with encrypted contents."""
    file = os.path.join(place.folder, key)
    if not os.path.exists(file):
        equal(place.start("keygen", file).status, 0, "the key")
    path = os.path.join(place.folder, directory)
    remote = f"{place.scheme}://{BUCKET}/{prefix or place.prefix}"
    found = place.start("init", "--encrypt", "--encryption-password-file", file, path, remote)
    equal(found.status, 0, str(found))
    return path


def done(place, *words, status=0):
    found = place.start(*words, "--json")
    equal(found.status, status, str(found))
    return found


def moment_after(place, key):
    """A time between what was written and what will be."""
    moment = int(time.time()) + 1
    while time.time() < moment + 1.1:
        place.head(key)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def versioned(place):
    """An encrypted mirror in a bucket with versions, changed since the moment."""
    own_server(place)
    status, _, text = place.server.call(
        "PUT", "", {"versioning": ""},
        b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
    equal(status, 200, f"versioning: {text}")
    linked(place, "tree")
    for name, content in (("2026/a", LARGE), ("2026/b", OLD), ("kept", b"")):
        place.write(name, content)
    done(place, "push", place.directory)
    moment = moment_after(place, "kept")
    os.remove(place.path("2026/a"))
    place.write("2026/b", NEW)
    place.write("added", OTHER)
    done(place, "push", "--delete", place.directory)
    return moment


THEN = {"2026/a": LARGE, "2026/b": OLD, "kept": b""}
NOW = {"2026/b": NEW, "added": OTHER, "kept": b""}


@case("F526", "what was deleted and overwritten comes back from encrypted versions")
def _(place):
    moment = versioned(place)
    listed = done(place, "restore", "--list", place.directory, "2026")
    sizes = {line["size"] for line in listed.all("file_version") if line["key"] == "2026/a"}
    equal(sizes, {len(LARGE)}, str(listed))
    out = os.path.join(place.folder, "out")
    for words in (["2026/a", "--to", out], ["2026/a", "--to", "beside"], ["2026/a"],
                  ["2026/b", "--at", moment]):
        found = done(place, "restore", place.directory, *words)
        equal([line["place"] for line in found.all("restored")], ["versions"], str(found))
    wanted = {**THEN, "added": OTHER, "beside": LARGE}
    equal(place.tree(), wanted, "the files")
    with open(out, "rb") as file:
        equal(file.read(), LARGE, "the copy")
    expect(LARGE[:50] not in place.get("2026/a"), "the object is not encrypted")
    place.directory = linked(place, "second")
    done(place, "pull", place.directory)
    equal(place.tree(), wanted, "what another machine gets")


@case("F527", "a version that is not encrypted with this password is not copied back")
def _(place):
    versioned(place)
    first = place.directory
    place.directory = linked(place, "other", "other-key", place.prefix + "-other")
    place.write("x", FRESH)
    done(place, "push", place.directory)
    _, _, foreign = place.server.call("GET", place.prefix + "-other/x")
    place.directory = first
    mine = place.get("2026/b")
    damaged = bytes([*mine[:60], mine[60] ^ 1, *mine[61:]])
    for name, content in (("plain", FRESH), ("foreign", foreign), ("damaged", damaged)):
        place.put(name, content)
    moment = moment_after(place, "kept")
    for name in ("plain", "foreign", "damaged"):
        place.put(name, mine)
    done(place, "pull", place.directory)
    for name in ("plain", "foreign", "damaged"):
        for options in ([], ["--force"], ["--to", f"{name}-2"], ["--to", place.folder + "/out"]):
            place.server.forget_requests()
            found = done(place, "restore", place.directory, name, "--at", moment, *options,
                         status=1)
            expect("encrypt" in found.output, f"{name} {options}: {found}")
            equal(place.requests("CopyObject"), [], f"{name} {options}")
            equal(place.get(name), mine, f"{name} {options}: the object")
            expect(not os.path.exists(place.folder + "/out"), f"{name}: a file outside")
    equal(place.tree(), {**NOW, "plain": NEW, "foreign": NEW, "damaged": NEW}, "the files")


@case("F528", "an encrypted bucket as it was, and with another password nothing of it")
def _(place):
    moment = versioned(place)
    place.directory = linked(place, "then")
    done(place, "pull", "--as-of", moment, place.directory)
    equal(place.tree(), THEN, "what was there")
    again = done(place, "pull", "--as-of", moment, place.directory)
    equal(again.count("transferred"), 0, f"the second time: {again}")
    done(place, "verify", place.directory)
    for command in ("push", "sync", "pull"):
        found = done(place, command, place.directory, status=3)
        expect("--as-of" in found.errors, str(found))
    place.directory = linked(place, "wrong", "other-key")
    found = done(place, "pull", "--as-of", moment, place.directory, status=4)
    expect("the password does not fit" in found.errors, str(found))
    equal(place.tree(), {}, "what came of it")



@case("F529", "only files are freed that the bucket is shown to have as they were encrypted")
def _(place):
    for scheme, header in (("oss", "x-oss-hash-crc64ecma"), ("s3", "ETag")):
        place.scheme = scheme
        place.directory = linked(place, scheme, prefix=f"{place.prefix}-{scheme}")
        files = {"f/a": LARGE, "f/b": b"", "f/c": ramp(3 << 20, 7), "kept": OLD}
        for name, content in files.items():
            place.write(name, content)
        done(place, "push", "--part-size", "1M", place.directory)
        place.server.forget_requests()
        if scheme == "oss":
            place.faults({"match": {"operation": "HeadObject",
                                    "key": f"{place.prefix}-{scheme}/f/a"},
                          "effect": {"headers": {"set": {header: "1"}}}})
            found = done(place, "free", place.directory, "f/a", status=1)
            expect("not what it was encrypted to" in found.output, str(found))
            equal(place.tree(), files, "the files")
            place.faults()
        done(place, "free", place.directory, "f")
        equal(place.tree(), {"kept": OLD}, "what is left")
        bytes_sent = sum(request["bytes_sent"] for request in place.server.requests()
                         if request["operation"] == "GetObject")
        expect(bytes_sent < 1_000, f"the objects were read: {bytes_sent}")
        done(place, "push", "--delete", place.directory)
        done(place, "pull", place.directory)
        equal(place.tree(), {"kept": OLD}, "what a pull brings unasked")
        done(place, "pull", place.directory, "f")
        equal(place.tree(), files, "what came back")


@case("F540", "an encrypted mirror that is cut does what one that is whole does, with its password")
def _(place):
    linked(place, "tree")
    tree = {f"{shard:x}/{name}": ramp(size, shard) for shard in range(8)
            for name, size in (("a", 70_000), ("b", 300))}
    for name, content in tree.items():
        place.write(name, content)
    equal(cut(place, "2/", "5/").status, 0, "the cutting")
    for number in range(3):
        done(place, "push", "--delete", "--shard", f"{number}/3", "--round", "one", place.directory)
    done(place, "finish", "--round", "one", place.directory)
    for name, content in tree.items():
        found = place.get(name)
        expect(found.startswith(b"RCLONE\0\0") and content[:50] not in found, f"{name} is plain")
    # One task has another password, and sends nothing.
    os.remove(place.path("0/a"))
    place.write("0/b", NEW)
    equal(place.start("keygen", os.path.join(place.folder, "other-key")).status, 0, "the key")
    place.server.forget_requests()
    found = place.start("push", "--delete", "--shard", "0/3", "--round", "two", place.directory,
                        "--encryption-password-file", os.path.join(place.folder, "other-key"))
    equal(found.status, 3, str(found))
    equal([request for request in place.requests() if request["operation"] != "ListObjectsV2"], [],
          "what it asked for")
    for number in range(3):
        done(place, "push", "--delete", "--shard", f"{number}/3", "--round", "three",
             place.directory)
    ended = done(place, "finish", "--round", "three", place.directory)
    equal(ended.count("deleted"), 1, str(ended))
    tree["0/b"] = NEW
    del tree["0/a"]
    place.directory = linked(place, "second")
    done(place, "pull", place.directory)
    equal(place.tree(), tree, "what another machine gets")


@case("F541", "archived objects keep no machine out of an encrypted mirror if another object can be read")
def _(place):
    linked(place, "tree")
    for name in ("a", "b"):
        place.write(name, OLD)
    done(place, "push", place.directory)
    archive = {"x-oss-storage-class": "Archive"}
    place.put("a", place.get("a"), headers=archive)
    place.directory = linked(place, "second")
    found = done(place, "pull", place.directory, status=1)
    expect("archived" in found.output + found.errors, str(found))
    equal(place.tree(), {"b": OLD}, "what another machine gets")
    # Of archived ones alone, nobody knows whether the password fits.
    place.put("b", place.get("b"), headers=archive)
    place.directory = linked(place, "third", "other-key")
    place.write("new", NEW)
    found = place.start("push", place.directory, "--json")
    expect(found.status != 0 and place.get("new") is None, f"it was sent: {found}")


def collect(place, beginnings):
    """Compares what the server has under each nonce, parts of unfinished uploads included."""
    for folder, _, names in os.walk(os.path.join(place.server.root)):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    stored = file.read(400)
            except FileNotFoundError:
                continue
            if stored[:8] != b"RCLONE\0\0":
                continue
            found = stored[32:]
            known = beginnings.setdefault(stored[8:32], found)
            length = min(len(known), len(found))
            expect(known[:length] == found[:length], f"two contents under {stored[8:32].hex()}")


@case("F542", "no two contents have one nonce, whenever uploads are killed")
def _(place):
    own_server(place)
    linked(place, "tree")
    chance = random.Random(542)
    beginnings = {}
    size = min(UPLOADS // 4, 2_000)
    while len(beginnings) < UPLOADS:
        for lines in (chance.randrange(1, size), chance.randrange(1, size), None):
            # Some are sent again as they were. One is sent in parts, of which some are there when
            # the run is killed.
            for number in range(size):
                if chance.random() < 0.5:
                    length = 700_000 if number == 0 else chance.randrange(1, 300)
                    place.write(f"d/{number}", chance.randbytes(length))
            run = Running(place, "push", "--part-size", "100K")
            while lines is None or lines > 0:
                if not run.line():
                    break
                lines = lines and lines - 1
            if lines is not None:
                run.kill()
            run.wait(PATIENCE)
            collect(place, beginnings)
        equal(run.status, 0, str(run.last_words()))
    print(f"F542: {len(beginnings)} nonces", flush=True)
