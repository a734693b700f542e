"""Rows F222 to F224: keys that fit no file name, under escaped names."""

import os

from case_table import case, equal, expect
from scenes import FRESH, NEW, OLD, OTHER

ESCAPE = ("--names", "escape")
ALL = ("--delete", "--max-delete", "100%")
NAMES = {
    "a//b": "a%2F%2Fb",
    "../up": "%2E.%2Fup",
    "/top": "%2Ftop",
    "d/" + "x" * 300: "d%2F" + "x" * 234 + "%/" + "x" * 66,
}
FOLDER = ".osssync-names/"


def content(place, key):
    with open(place.path(FOLDER + NAMES[key]), "rb") as file:
        return file.read()


def escaped(place):
    """A mirror in step with keys of each kind, and files around them."""
    for key in NAMES:
        place.put(key, key.encode())
    for key in ("a", "d/f"):
        place.put(key, OTHER)
    place.in_step(place.pull(*ESCAPE))
    for key in NAMES:
        equal(content(place, key), key.encode(), f"the file of '{key}'")


@case("F222", "keys that fit no file name come and go under escaped names")
def _(place):
    escaped(place)
    place.put("/top", NEW)
    place.write(FOLDER + NAMES["a//b"], FRESH)
    place.write(FOLDER + "n%2F%2Fm", OLD)
    place.delete("../up")
    place.in_step(place.run("sync", *ESCAPE, *ALL))
    equal(content(place, "/top"), NEW, "the file of '/top'")
    equal(place.get("a//b"), FRESH, "the object 'a//b'")
    equal(place.get("n//m"), OLD, "the object 'n//m'")
    expect(not os.path.exists(place.path(FOLDER + NAMES["../up"])), "'../up' is gone here")
    for command in ("pull", "push", "sync"):
        result = place.in_step(place.run(command, *ESCAPE, *ALL))
        equal((result.count("deleted"), result.count("transferred")), (0, 0), f"{command} again")


@case("F492", "restore brings back one escaped file by its path")
def _(place):
    escaped(place)
    file = FOLDER + NAMES["a//b"]
    os.remove(place.path(file))
    found = place.start("restore", place.directory, file, *ESCAPE, "--json")
    equal((found.status, content(place, "a//b")), (0, b"a//b"), str(found))
    os.remove(place.path(file))
    found = place.start("restore", place.directory, file, "--json")
    equal((found.status, content(place, "a//b")), (0, b"a//b"), f"without the option: {found}")
    place.in_step(place.run("sync", *ESCAPE, "--trash", "remote"))
    os.remove(place.path(file))
    place.in_step(place.push(*ESCAPE, "--delete", "--trash", "remote"))
    found = place.start("restore", place.directory, file, "--json")
    equal((found.status, content(place, "a//b")), (0, b"a//b"), str(found))
    equal([line["place"] for line in found.all("restored")], ["bucket-trash"], str(found))


@case("F223", "a run without --names escape takes no escaped file for a deleted one")
def _(place):
    escaped(place)
    os.remove(place.path(FOLDER + NAMES["a//b"]))
    place.delete("/top")
    for command in ("pull", "push", "sync"):
        for options in ((), ("--checksum",), ("--delete=excluded",), ("--force",)):
            result = place.run(command, *ALL, *options)
            equal((result.status, result.count("deleted"), result.count("transferred")),
                  (0, 0, 0), f"{command} {options}: {result}")
            expect("4 objects" in str(result.all("warning")), f"no word of them: {result}")
    equal(place.get("a//b"), b"a//b", "the object of the file that was removed")
    equal(content(place, "/top"), b"/top", "the file whose object was removed")
    result = place.in_step(place.run("sync", *ESCAPE, *ALL))
    equal((result.count("deleted"), place.get("/top")), (0, b"/top"), str(result))
    expect(os.path.exists(place.path(FOLDER + NAMES["a//b"])), "what went while it was left out")


@case("F224", "a lost manifest, foreign names and links lose no escaped file")
def _(place):
    escaped(place)
    for name in os.listdir(place.path(".osssync")):
        if name.startswith("manifest.db"):
            os.remove(place.path(".osssync/" + name))
    place.write(FOLDER + "Upper", FRESH)
    place.write(FOLDER + "dir/file", FRESH)
    os.symlink("/etc", place.path(FOLDER + "s%2F%2Fl"))
    result = place.run("sync", *ESCAPE, *ALL)
    equal((result.status, result.count("deleted"), result.count("transferred")), (0, 0, 0),
          f"without its manifest: {result}")
    equal(result.count("not_mirrored"), 3, str(result))
    expect(place.get("s//l") is None, "a link was sent")
    # An object for a name that is taken by a link is neither fetched over it nor through it.
    place.put("s//l", NEW)
    result = place.run("pull", *ESCAPE)
    equal(result.status, 1, str(result))
    equal(os.readlink(place.path(FOLDER + "s%2F%2Fl")), "/etc", "the link")
