"""Rows F169 and F190: names of osssync's own files, in the bucket and in the directory."""

import os

from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER
from stage import BUCKET

TEMPORARY = ".osssync-0123456789abcdef0123456789abcdef"


def state(place, folder):
    """The state of the mirror in `folder`, byte for byte."""
    found = {}
    for base, _, names in os.walk(os.path.join(folder, ".osssync")):
        for name in names:
            with open(os.path.join(base, name), "rb") as file:
                found[os.path.join(base, name)] = file.read()
    return found


@case("F169", "a mirror within the mirror is named once and neither fetched, sent nor deleted")
def _(place):
    place.write("kept", OLD)
    place.write("photos/a.jpg", NEW)
    inner = place.path("photos")
    outer, place.directory, prefix = place.directory, inner, place.prefix
    place.prefix += "-inner"
    place.in_step(place.push())
    place.directory, place.prefix = outer, prefix
    before = state(place, inner)
    result = place.in_step(place.push())
    equal(result.count("transferred"), 2, f"{result}")
    # What an older version sent there, and what somebody else puts there.
    for name in ("config", "manifest.db", "marker"):
        place.put(f"photos/.osssync/{name}", OTHER)
    place.put("photos/.OSSSYNC/config", OTHER)
    place.delete("kept")
    for command, *options in (("pull", "--delete"), ("push", "--delete", "--delete=extra"),
                              ("pull", "--delete=extra", "--force"), ("sync", "--delete"),
                              ("pull", "--delete=excluded", "--exclude", "*.jpg")):
        result = place.run(command, *options)
        equal((result.status, result.count("failed"), result.count("skipped")), (0, 0, 0),
              f"{command} {options}: {result}")
        named = [event for event in result.all("item")
                 if "is a separate mirror" in event.get("reason", "")]
        equal(len(named), 1, f"lines about the inner mirror: {result}")
        warned = [event["message"] for event in result.all("warning")
                  if "for osssync's own files" in event["message"]]
        equal(len(warned), 1, f"warnings about the objects: {result}")
        expect("4 objects" in warned[0] and "'photos/.OSSSYNC/config'" in warned[0], warned[0])
        equal(state(place, inner), before, f"the inner state after {command} {options}")
    expect("kept" not in place.tree(), "a deletion was held back")
    equal(place.requests("GetObject"), [], "objects that were asked for")
    for key in ("photos/.osssync/config", "photos/.osssync/marker", "photos/.OSSSYNC/config"):
        equal(place.get(key), OTHER, f"the object {key}")
    # The inner mirror is a mirror as before.
    place.directory, place.prefix = inner, prefix + "-inner"
    equal(place.in_step(place.pull()).count("transferred"), 1, "what the inner run fetched")


@case("F190", "a file or key with the name of a temporary file is left out and holds nothing back")
def _(place):
    for name in ("f", "d/g"):
        place.write(name, OLD)
    place.in_step(place.push())
    place.write(f"d/{TEMPORARY}", OTHER)
    place.put(TEMPORARY.upper(), NEW)
    place.put(f"d/{TEMPORARY}/x", NEW)
    for command in ("pull", "push", "sync", "pull"):
        result = place.in_step(place.run(command, "--delete"))
        equal((result.count("transferred"), result.count("bytes")), (0, 0), f"{result}")
        said = [event.get("reason", "") for event in result.all("item")]
        expect(any(f"d/{TEMPORARY}" in text and "skipped" in text for text in said), f"{said}")
    place.delete("d/g")
    result = place.in_step(place.pull("--delete"))
    equal((result.count("deleted"), result.count("skipped")), (1, 0), f"{result}")
    equal(place.tree(), {"f": OLD, f"d/{TEMPORARY}": OTHER}, "the tree")
    os.remove(place.path("f"))
    # Such a name is not what shows that the rest was deleted.
    equal(place.push("--delete", "--max-delete", "100%").status, 3, "an empty directory")
    result = place.in_step(place.push("--delete", "--max-delete", "100%", "--allow-empty"))
    equal((result.count("deleted"), place.get("f")), (1, None), f"{result}")
    equal(place.get(TEMPORARY.upper()), NEW, "somebody's object")
    # A single transfer makes no such file from a key's name either.
    result = place.start("get", f"oss://{BUCKET}/{place.prefix}/{TEMPORARY.upper()}",
                         place.directory + "/")
    equal(result.status, 2, f"{result}")
    equal(place.tree(), {f"d/{TEMPORARY}": OTHER}, "the tree")
