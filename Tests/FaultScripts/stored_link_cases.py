"""Rows F217 to F221, F456 and F481: symbolic links that are stored as objects, or followed."""

import os
import shutil

from case_table import case, equal, expect
from scenes import FRESH, NEW, OLD, OTHER

STORE = ("--links", "store")
ALL = ("--delete", "--max-delete", "100%")
SUFFIX = ".rclonelink"


def link(place, name, target):
    path = place.path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.islink(path):
        os.remove(path)
    os.symlink(target, path)


def content(place, name):
    with open(place.path(name), "rb") as file:
        return file.read()


def links(place):
    """The text of every link, by its path."""
    found = {}
    for folder, names, leaves in os.walk(place.directory):
        if ".osssync" in names:
            names.remove(".osssync")
        for name in names + leaves:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[os.path.relpath(path, place.directory)] = os.readlink(path)
    return found


def stored(place):
    """A mirror in step with links to a file, a directory, nothing, and out of it."""
    for name, content in {"a": OLD, "d/e": OTHER}.items():
        place.write(name, content)
    made = {"to-a": "a", "d/up": "..", "none": "no/such", "out": "/etc"}
    for name, target in made.items():
        link(place, name, target)
    place.in_step(place.push(*STORE))
    for name, target in made.items():
        equal(place.get(name + SUFFIX), target.encode(), f"the object of '{name}'")
    return made


@case("F217", "a run with another --links than the last one takes no link for a deleted file")
def _(place):
    made = stored(place)
    os.remove(place.path("to-a"))
    place.delete("none" + SUFFIX)
    # The name of the object of a link, as a user might have it.
    place.write("d/up" + SUFFIX, FRESH)
    for command in ("pull", "push", "sync"):
        for options in ((), ("--checksum",), ("--delete=excluded",), ("--force",)):
            result = place.run(command, *ALL, *options)
            equal((result.status, result.count("deleted"), result.count("transferred")),
                  (0, 0, 0), f"{command} {options}: {result}")
            expect("4 symbolic links" in str(result.all("warning")), f"no word of them: {result}")
    equal(place.get("d/up" + SUFFIX), b"..", "the object of a link")
    expect(not os.path.lexists(place.path("to-a" + SUFFIX)), "a link was fetched as a file")
    del made["to-a"]
    equal(links(place), made, "the links")
    os.remove(place.path("d/up" + SUFFIX))
    # To the next run that stores links, what went meanwhile is unknown and not deleted.
    result = place.in_step(place.run("sync", *ALL, *STORE))
    equal(result.count("deleted"), 0, str(result))
    expect(place.get("none" + SUFFIX) is not None, "the object of a link that is here")
    equal(sorted(links(place)), sorted([*made, "to-a"]), "the end")


@case("F217", "an object of a link's name is a file to a run that skips links, and to no other")
def _(place):
    place.put("l" + SUFFIX, b"a")
    place.put("a", OLD)
    place.in_step(place.pull())
    equal(place.tree(), {"a": OLD, "l" + SUFFIX: b"a"}, "the tree")
    # A copy that was changed here is the user's.
    place.write("l" + SUFFIX, b"b")
    for command in ("pull", "push", "sync"):
        result = place.run(command, *ALL, *STORE)
        equal((result.status, result.count("deleted"), result.count("transferred")), (1, 0, 0),
              str(result))
        expect("only symbolic links" in result.said("l" + SUFFIX), result.said("l" + SUFFIX))
    os.remove(place.path("l" + SUFFIX))
    place.in_step(place.pull(*STORE))
    equal((place.tree(), links(place)), ({"a": OLD, "l": OLD}, {"l": "a"}), "the tree")
    place.put("m" + SUFFIX, b"a")
    place.in_step(place.pull())
    equal(place.tree()["m" + SUFFIX], b"a", "a copy")
    # One that nobody changed makes room for the link.
    place.in_step(place.pull(*STORE))
    equal(links(place), {"l": "a", "m": "a"}, "the links")
    expect("m" + SUFFIX not in place.tree(), "the copy is gone")


@case("F218", "a link that becomes a file or a directory, and one in their place")
def _(place):
    stored(place)
    # While it is a directory, nothing is written into what the link leads to.
    os.remove(place.path("to-a"))
    place.write("to-a/x", NEW)
    result = place.pull(*STORE)
    equal(result.status, 1, str(result))
    expect("directory" in result.said("to-a" + SUFFIX), result.said("to-a" + SUFFIX))
    equal(content(place, "to-a/x"), NEW, "the file in the directory")
    result = place.in_step(place.push(*ALL, *STORE))
    equal((place.get("to-a" + SUFFIX), place.get("to-a/x")), (None, NEW), "the objects")
    # A file becomes a link: its object goes, and the link is sent.
    os.remove(place.path("a"))
    link(place, "a", "d/e")
    result = place.in_step(place.push(*ALL, *STORE))
    equal((place.get("a"), place.get("a" + SUFFIX)), (None, b"d/e"), "the objects of 'a'")
    result = place.in_step(place.pull(*ALL, *STORE))
    equal((result.count("deleted"), result.count("transferred")), (0, 0), str(result))


@case("F219", "a link to /etc, and objects beneath it")
def _(place):
    outside = os.path.join(place.folder, "outside")
    os.mkdir(outside)
    place.put("l" + SUFFIX, outside.encode())
    place.put("etc" + SUFFIX, b"/etc")
    place.put("kept", OLD)
    for key in ("l/new", "l/d/new", "etc/osssync-test", "etc/hostname"):
        place.put(key, NEW)
    for _ in range(3):
        result = place.pull(*ALL, *STORE, "--force")
        equal(result.status, 1, str(result))
        equal(os.listdir(outside), [], "what was written through the link")
        expect(not os.path.exists("/etc/osssync-test"), "written into /etc")
    result = place.run("sync", *ALL, *STORE)
    equal((place.get("etc/hostname"), place.get("l/new")), (NEW, NEW), "the objects")
    equal(place.get("kept"), OLD, "the object beside them")


@case("F219", "names that lead out of the mirror are refused without the suffix, too")
def _(place):
    place.put("kept", OLD)
    for key in (SUFFIX, "." + SUFFIX, ".." + SUFFIX, "d/.." + SUFFIX, ".osssyncignore" + SUFFIX,
                ".osssync" + SUFFIX):
        place.put(key, b"/etc")
    result = place.pull(*STORE)
    equal((result.status, result.count("skipped"), place.tree()), (1, 5, {"kept": OLD}),
          str(result))
    expect(not os.path.islink(os.path.join(place.directory, ".osssync")), "the state is a link")


@case("F220", "a content that no link can have is named, and makes none")
def _(place):
    place.put("kept", OLD)
    for name, content in {"empty": b"", "long": b"x" * 4096, "nul": b"a\0b"}.items():
        place.put(name + SUFFIX, content)
    for _ in range(2):
        result = place.pull(*STORE)
        equal((result.status, result.count("skipped"), result.count("failed")), (1, 2, 1),
              str(result))
        equal((place.tree(), links(place)), ({"kept": OLD}, {}), "the tree")
    equal(os.listdir(place.path(".osssync/partial")), [], "temporary files")


@case("F221", "a link that is followed leads to a file of the directory and nowhere else")
def _(place):
    outside = os.path.join(place.folder, "outside")
    with open(outside, "wb") as file:
        file.write(NEW)
    place.write("a", OLD)
    place.write("d/e", OTHER)
    link(place, "d/good", "../a")
    for name, target in {"up": "..", "loop": "loop", "dir": "d", "out": "../outside",
                         "etc": "/etc/hostname", "none": "no/such", "over": "d/good",
                         "state": ".osssync/marker", "through": "dir/e"}.items():
        link(place, name, target)
    follow = ("--links", "follow", *ALL)
    result = place.in_step(place.push(*follow))
    equal((result.count("transferred"), result.count("not_mirrored")), (3, 9), str(result))
    equal((place.get("d/good"), place.get("out")), (OLD, None), "the objects")
    # Another writer changes and deletes what is a link here.
    place.put("d/good", FRESH)
    for options in ((), ("--force",), ("--on-conflict", "remote")):
        result = place.pull(*follow, *options)
        equal((result.status, content(place, "a")), (1, OLD), str(result))
        expect("through" in result.said("d/good"), result.said("d/good"))
    place.delete("d/good")
    result = place.pull(*follow)
    equal((result.status, result.count("deleted")), (1, 0), str(result))
    expect(os.path.islink(place.path("d/good")), "the link is gone")
    # No other run takes the link for a file that was deleted, or its object for one.
    place.in_step(place.push(*follow))
    os.remove(place.path("d/good"))
    for policy in ("skip", "store"):
        result = place.push("--links", policy, *ALL)
        equal((result.status, result.count("deleted"), place.get("d/good")), (0, 0, OLD),
              str(result))


@case("F481", "a stored link comes back by its own name, from the bucket and from its trash")
def _(place):
    stored(place)
    place.in_step(place.push(*STORE, "--trash", "remote"))
    os.remove(place.path("to-a"))
    # Whoever may write to the bucket can put such an object: links are made only where they are
    # mirrored.
    found = place.start("restore", place.directory, "to-a", "--json")
    equal((found.status, found.all("restored")), (1, []), f"without links: {found}")
    os.symlink("a", place.path("to-a"))
    with open(place.path(".osssync/config"), "a") as config:
        config.write("[mirror]\nlinks = store\n")
    for turn in range(2):
        os.remove(place.path("to-a"))
        if turn == 1:
            place.in_step(place.push(*STORE, *ALL, "--trash", "remote"))
            equal(place.get("to-a" + SUFFIX), None, "the object")
        found = place.start("restore", place.directory, "to-a", "--json")
        equal((found.status, links(place).get("to-a")), (0, "a"), f"turn {turn}: {found}")
    found = place.start("restore", place.directory, "nowhere", "--json")
    equal((found.status, found.all("restored")), (1, []), f"{found}")


@case("F456", "links that are restored elsewhere are links, and nothing is restored through them")
def _(place):
    outside, copy = place.directory + "-outside", place.directory + "-copy"
    os.makedirs(outside)
    place.write("d/e", OTHER)
    for name, target in {"d/up": "..", "d/over": outside}.items():
        link(place, name, target)
    place.in_step(place.push(*STORE))

    def restore(target, *options):
        return place.start("restore", place.directory, "d", "--to", target, *options, "--json")

    def copied(folder):
        return {name: os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)
                if os.path.islink(os.path.join(folder, name))}

    found = restore(copy)
    equal((found.status, copied(copy)), (0, {}), f"without links: {found}")
    expect(os.path.isfile(os.path.join(copy, "up" + SUFFIX)), f"{os.listdir(copy)}")
    for turn in range(2):
        found = restore(copy + "2", *STORE, *(["--force"] if turn else []))
        equal((found.status, copied(copy + "2")), (0, {"up": "..", "over": outside}), f"{turn}: {found}")
        equal(sorted(os.listdir(copy + "2")), ["e", "over", "up"], "the copy")
    # In the mirror, from the bucket and from its trash.
    equal(restore("x", *STORE).status, 0, "beside it")
    equal(links(place), {"d/up": "..", "d/over": outside, "x/up": "..", "x/over": outside}, "links")
    place.in_step(place.push(*STORE))
    shutil.rmtree(place.path("d"))
    place.in_step(place.push(*STORE, *ALL, "--trash", "remote"))
    equal(restore("y", *STORE).status, 0, "from the trash")
    equal(links(place).get("y/up"), "..", f"{links(place)}")
    # What another writer puts beneath the name of a link goes nowhere.
    place.put("d/over/planted", NEW)
    place.put("d/up" + SUFFIX, b"\0")
    found = restore(copy + "2", *STORE, "--force")
    equal((found.status, os.listdir(outside)), (1, []), f"{found}")
    expect("never followed" in str(found.all("restored")), f"{found}")
    equal(copied(copy + "2"), {"up": "..", "over": outside}, "after it")
