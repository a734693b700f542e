"""Rows F211 to F213, F412, F448 and F546: a versioned bucket as it was."""

import os
import shutil
import time

from case_table import case, equal, expect
from scenes import FRESH, NEW, OLD, OTHER
from stage import BUCKET, Server


def own_server(place):
    """A server whose bucket no other case uses."""
    server = Server(os.path.dirname(place.server.osssync))
    place.closers.append(server.stop)
    place.server, place.endpoint = server, server.url


def moment_between(place):
    """A time after all that was written by now, and before all that is written then."""
    moment = int(time.time()) + 1
    while time.time() < moment + 1.1:
        place.head("kept")
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def versioned(place):
    """A bucket with versions, whose objects were edited, deleted and added since the moment."""
    if place.server is place.first_server:
        own_server(place)
    status, _, text = place.server.call(
        "PUT", "", {"versioning": ""},
        b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
    equal(status, 200, f"versioning: {text}")
    for name in ("2026/a.jpg", "2026/b.jpg", "kept"):
        place.put(name, OLD)
    moment = moment_between(place)
    place.delete("2026/a.jpg")
    place.put("2026/b.jpg", NEW)
    place.put("added", OTHER)
    return moment


THEN = {"2026/a.jpg": OLD, "2026/b.jpg": OLD, "kept": OLD}
NOW = {"2026/b.jpg": NEW, "added": OTHER, "kept": OLD}


@case("F211", "a folder that was deleted two nights ago comes back as it was, beside the mirror")
def _(place):
    moment = versioned(place)
    place.in_step(place.pull())
    equal(place.tree(), NOW, "the mirror")
    mirror, place.directory = place.directory, os.path.join(place.folder, "then")
    place.in_step(place.pull("--as-of", moment))
    equal(place.tree(), THEN, "what was there")
    again = place.in_step(place.pull("--as-of", moment))
    equal(again.count("transferred"), 0, f"the second time: {again}")
    # What was lost is copied into the mirror, and sent.
    lost = os.path.join(place.directory, "2026", "a.jpg")
    os.rename(lost, os.path.join(mirror, "2026", "a.jpg"))
    place.directory = mirror
    place.in_step(place.push())
    equal(place.get("2026/a.jpg"), OLD, "the object")


@case("F211", "what was deleted and overwritten comes back from the versions of the bucket")
def _(place):
    moment = versioned(place)
    place.in_step(place.pull())
    found = place.start("restore", place.directory, "2026/a.jpg", "--dry-run", "--json")
    equal((found.status, place.tree()), (0, NOW), f"without a time: {found}")
    equal([line["place"] for line in found.all("restored")], ["versions"], str(found))
    found = place.start("restore", place.directory, "2026", "--at", moment, "--json")
    equal(found.status, 1, f"another version is there: {found}")
    equal({line["key"]: line["state"] for line in found.all("restored")},
          {"2026/a.jpg": "restored", "2026/b.jpg": "kept"}, str(found))
    equal(place.get("2026/a.jpg"), OLD, "the object")
    equal(place.get("2026/b.jpg"), NEW, "the object that is there")
    equal(place.tree(), {**NOW, "2026/a.jpg": OLD}, "the files")
    beside = place.start("restore", place.directory, "2026/b.jpg", "--at", moment, "--to",
                         "b-old.jpg", "--json")
    equal(beside.status, 0, str(beside))
    equal(place.tree(), {**NOW, "2026/a.jpg": OLD, "b-old.jpg": OLD}, "the file beside it")
    # What the trash here has may have been made later, or be a part of what was there.
    place.write("2026/c.jpg", OTHER)
    place.in_step(place.push())
    place.delete("2026/c.jpg")
    place.delete("2026/b.jpg")
    place.in_step(place.pull("--delete"))
    found = place.start("restore", place.directory, "2026", "--at", moment, "--json")
    equal(found.status, 0, str(found))
    equal({line["key"]: line["state"] for line in found.all("restored")},
          {"2026/a.jpg": "unchanged", "2026/b.jpg": "restored"}, str(found))
    equal(place.get("2026/b.jpg"), OLD, "the object of then")
    missing = place.start("restore", place.directory, "nothing", "--at", moment, "--json")
    equal(missing.status, 1, str(missing))
    expect("'nothing' was not there at that time" in missing.errors, str(missing))
    place.in_step(place.pull())


@case("F546", "of each file in a folder the newest version comes back, from the trash or the versions")
def _(place):
    versioned(place)
    place.in_step(place.pull())
    # The trash has a draft that is older than what was pushed after it.
    for name in ("draft", "edit", "plain"):
        place.write(f"p/{name}", OLD)
    place.in_step(place.push())
    place.write("p/draft", OTHER)
    place.put("p/draft", FRESH)
    equal(place.pull("--on-conflict", "remote").status, 1, "the conflict")
    second = int(time.time())
    while int(time.time()) <= second:
        place.head("p/draft")
    place.write("p/draft", NEW)
    place.in_step(place.push())
    # And an edit that is newer than all that was pushed.
    place.write("p/edit", NEW)
    place.delete("p/edit")
    place.pull("--delete", "--on-conflict", "remote")
    shutil.rmtree(place.path("p"))
    place.in_step(place.push("--delete"))
    found = place.start("restore", place.directory, "p", "--json")
    equal({line["key"]: line["place"] for line in found.all("restored")},
          {"p/draft": "versions", "p/edit": "trash", "p/plain": "versions"}, str(found))
    equal(found.status, 0, str(found))
    back = {name: content for name, content in place.tree().items() if name.startswith("p/")}
    equal(back, {"p/draft": NEW, "p/edit": NEW, "p/plain": OLD}, "the folder")


@case("F211", "a file that was named is replaced by its version of that time, and kept")
def _(place):
    moment = versioned(place)
    place.in_step(place.pull())
    found = place.start("restore", place.directory, "2026/b.jpg", "--at", moment, "--json")
    equal([(line["state"], line["place"]) for line in found.all("restored")],
          [("replaced", "versions")], str(found))
    equal((found.status, place.tree(), place.get("2026/b.jpg")),
          (0, {**NOW, "2026/b.jpg": OLD}, OLD), "both sides")
    place.in_step(place.pull())
    back = place.start("restore", place.directory, "2026/b.jpg", "--json")
    equal((back.status, place.tree()["2026/b.jpg"]), (0, NEW), f"the one that it replaced: {back}")
    # Also one that was edited and not sent.
    place.write("2026/b.jpg", OTHER)
    edited = place.start("restore", place.directory, "2026/b.jpg", "--at", moment, "--json")
    equal((edited.status, len(edited.all("restored"))), (0, 1), edited.output)
    equal(place.tree(), {**NOW, "2026/b.jpg": OLD}, "the file of that time, and nothing beside it")
    kept = [line["size"] for line in place.start("trash", place.directory, "--json").all("trashed")
            if not line.get("remote")]
    expect(len(OTHER) in kept, f"the edit is not in the trash: {kept}")


@case("F211", "a directory that only the versions have comes back, also what was deleted in the second it was written in")
def _(place):
    versioned(place)
    place.put("2027/a.jpg", OLD)
    place.delete("2027/a.jpg")
    place.put("2027/b/c.jpg", OTHER)
    place.put("2027/b/c.jpg", NEW)
    place.delete("2027/b/c.jpg")
    place.in_step(place.pull())
    found = place.start("restore", place.directory, "2027", "--json")
    equal([line["place"] for line in found.all("restored")], ["versions", "versions"], str(found))
    wanted = {**NOW, "2027/a.jpg": OLD, "2027/b/c.jpg": NEW}
    equal((found.status, place.tree()), (0, wanted), str(found))
    place.in_step(place.pull())
    equal(place.start("restore", place.directory, "2027/b/c.jpg", "--json").status, 0, "its older version")
    equal(place.tree()["2027/b/c.jpg"], OTHER, "the file")


@case("F491", "a directory that is here and empty gets from the versions what another machine deleted in it")
def _(place):
    versioned(place)
    place.write("2027/a.jpg", OLD)
    place.write("2027/b.jpg", NEW)
    place.in_step(place.run("sync"))
    for name in ("2027/a.jpg", "2027/b.jpg"):
        place.delete(name)
        os.remove(place.path(name))
    for options in (["--to", "beside"], []):
        found = place.start("restore", place.directory, "2027", *options, "--json")
        equal(found.status, 0, str(found))
        equal([line["place"] for line in found.all("restored")], ["versions", "versions"], str(found))
    back = {"a.jpg": OLD, "b.jpg": NEW}
    for folder in ("2027", "beside"):
        equal({name: place.tree()[f"{folder}/{name}"] for name in back}, back, f"the files in {folder}")


# A key that may list and read, and nothing else.
READ_ONLY = [{"match": {"operation": operation},
              "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}
             for operation in ("PutObject", "CopyObject", "DeleteObject", "DeleteMultipleObjects",
                               "InitiateMultipartUpload")]


@case("F448", "a directory of which something is here gets back what was deleted in it")
def _(place):
    versioned(place)
    place.in_step(place.pull())
    for turn, state in enumerate(("restored", None)):
        found = place.start("restore", place.directory, "2026", "--json")
        told = {line["key"]: (line["state"], line["place"]) for line in found.all("restored")}
        if turn == 0:
            equal((found.status, told.get("2026/a.jpg")), (0, (state, "versions")), str(found))
        equal(place.tree(), {**NOW, "2026/a.jpg": OLD}, f"the tree after {found}")


@case("F412", "a key that may only read restores versions and the bucket's trash into the directory")
def _(place):
    moment = versioned(place)
    place.write("t/gone", OLD)
    place.write("t/old", OLD)
    for number in range(60):
        place.write(f"many/{number}", OLD)
    place.in_step(place.pull())
    place.in_step(place.push())
    os.remove(place.path("t/gone"))
    shutil.rmtree(place.path("many"))
    place.write("t/old", OTHER)
    place.in_step(place.push("--delete", "--trash", "remote", "--max-delete", "100%"))
    tree = place.tree()
    place.faults(*READ_ONLY)
    for path, options, origin in (("2026/a.jpg", [], "versions"), ("t/gone", [], "bucket-trash"),
                                  ("t/old", [], "bucket-trash"),
                                  ("2026/b.jpg", ["--at", moment], "versions")):
        found = place.start("restore", place.directory, path, *options, "--json")
        equal([line["place"] for line in found.all("restored")], [origin], str(found))
        tree[path] = OLD
        equal((found.status, place.tree()), (0, tree), str(found))
    equal((place.get("2026/b.jpg"), place.get("t/old")), (NEW, OTHER), "the bucket")
    many = {f"many/{number}": OLD for number in range(60)}
    tree.update(many)
    found = place.start("restore", place.directory, "many", "--json")
    equal((found.status, place.tree()), (0, tree), str(found))
    again = place.pull("--force", "-n")
    equal(again.status, 0, str(again))
    place.faults()
    kept = place.start("trash", place.directory, "--json")
    equal(sorted(line["key"] for line in kept.all("trashed") if not line.get("remote")),
          ["2026/b.jpg", "t/old"], f"what was replaced: {kept}")
    place.in_step(place.push())
    equal((place.get("2026/a.jpg"), place.get("t/gone"), place.get("t/old")), (OLD, OLD, OLD), "sent")


@case("F212", "a directory of the past is not mixed with another time, or with files")
def _(place):
    moment = versioned(place)
    place.in_step(place.pull("--as-of", moment))
    for command, *options in (("pull",), ("push",), ("sync",), ("pull", "--rebind"),
                              ("pull", "--as-of", "2020-01-01T00:00:00Z")):
        result = place.run(command, *options)
        equal((result.status, place.tree()), (3, THEN), f"{command} {options}: {result}")
        expect(f"--as-of {moment}" in result.errors, str(result))
    result = place.start("init", "--rebind", place.directory, f"oss://{BUCKET}/elsewhere/")
    equal(result.status, 3, f"linked with another remote: {result}")
    for command in ("status", "verify", "log", "explain"):
        path = ["kept"] if command == "explain" else []
        looked = place.start(command, place.directory, *path)
        equal(looked.status, 0, f"{command} of it: {looked}")
    place.directory = os.path.join(place.folder, "own")
    place.write("own", OTHER)
    result = place.pull("--as-of", moment)
    equal((result.status, place.tree()), (3, {"own": OTHER}), str(result))


@case("F213", "a bucket without versions has no past, and ls shows those that there are")
def _(place):
    own_server(place)
    place.put("a", OLD)
    result = place.pull("--as-of", "2020-01-01")
    equal((result.status, place.tree()), (3, {}), str(result))
    expect("keeps no versions" in result.errors, str(result))
    later = place.pull("--as-of", "2099-01-01")
    equal((later.status, place.tree()), (2, {}), str(later))
    versioned(place)
    early = place.pull("--as-of", "2020-01-01")
    equal((early.status, place.tree()), (1, {}), str(early))
    expect("had nothing at that time" in early.errors, str(early))
    listed = place.start("ls", "--versions", f"oss://{BUCKET}/{place.prefix}", "--json")
    found = [(line["key"].split("/", 1)[1], line["latest"], line["deleted"])
             for line in listed.all("version")]
    wanted = [("2026/a.jpg", True, True), ("2026/a.jpg", False, False),
              ("2026/b.jpg", True, False), ("2026/b.jpg", False, False), ("a", True, False),
              ("added", True, False), ("kept", True, False)]
    equal(found, wanted, f"the versions: {listed}")
    equal(sum(line["version_id"] == "null" for line in listed.all("version")), 1, "without an ID")


@case("F212", "what is extra in a directory of the past is deleted there")
def _(place):
    moment = versioned(place)
    place.in_step(place.pull("--as-of", moment))
    place.write("junk", NEW)
    place.in_step(place.pull("--as-of", moment, "--delete=extra"))
    equal(place.tree(), THEN, "the tree")


@case("F213", "put replaces nothing in a bucket with versions unless it is forced")
def _(place):
    versioned(place)
    path = os.path.join(place.folder, "file")
    with open(path, "wb") as file:
        file.write(OTHER)
    target = f"oss://{BUCKET}/{place.prefix}/kept"
    equal(place.start("put", path, target, "--json").status, 3, "without --force")
    equal(place.get("kept"), OLD, "the object")
    equal(place.start("put", path, target, "--json", "--force").status, 0, "with --force")
    equal(place.get("kept"), OTHER, "the object")
