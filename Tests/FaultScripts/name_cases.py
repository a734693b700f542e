"""Rows F195 and F198: names that cannot be here, beside deletions."""

import os
import re
import shlex

from case_table import case, equal, expect
from scenes import NEW, OTHER
from stage import ramp


def hint(result, key):
    """The options that a message says to add."""
    found = re.search(r"to exclude it: (--exclude .*)$", result.said(key))
    expect(found is not None, f"no hint in what was said of {key}: {result.said(key)}")
    return shlex.split(found.group(1))


@case("F198", "a name that cannot be here holds back what is beneath it and nothing else")
def _(place):
    for key in ("z/film", "dir/x", "dir/y", "kept"):
        place.put(key, OTHER)
    place.in_step(place.pull())
    odd = ["a//b", "x/../y", "l" * 300, "dir", "it's [*] ?", "kept/beneath"]
    for key in odd:
        place.put(key, NEW)
    place.in_step(place.pull("--exclude", "/a", "--exclude", "/x", "--exclude", "/l*",
                             "--exclude", "/dir", "--exclude", "/kept"))
    # What vanishes while it is excluded is unknown: all is seen once more before.
    place.pull()
    place.delete("z/film")
    place.delete("dir/y")
    result = place.pull("--delete")
    equal((result.status, result.count("deleted"), result.count("skipped")), (1, 1, 5),
          f"the end of {result}")
    expect("'dir'" in result.summary["deletions_held_back"] or
           "other names" in result.summary["deletions_held_back"], f"what was said: {result}")
    equal(set(place.tree()), {"dir/x", "dir/y", "kept", "it's [*] ?"}, "the files")
    options = [word for key in odd if key != "it's [*] ?" for word in hint(result, key)]
    result = place.in_step(place.pull("--delete", *options))
    equal((result.count("deleted"), result.count("skipped")), (1, 0), f"with the hints: {result}")
    equal(set(place.tree()), {"dir/x", "kept", "it's [*] ?"}, "the files then")


@case("F195", "an object in the place of an excluded directory is not fetched in each run")
def _(place):
    place.write(".osssyncignore", b"logs/\n")
    place.write("logs/mine", OTHER)
    place.write("old", OTHER)
    place.in_step(place.push())
    place.put("logs", ramp(100_000, 3))
    place.delete("old")
    place.server.forget_requests()
    for deleted in (1, 0):
        result = place.pull("--delete")
        equal((result.status, result.count("skipped"), result.count("deleted"),
               result.count("bytes")), (1, 1, deleted, 0), f"the end of {result}")
    equal(place.requests("GetObject"), [], "content that was asked for")
    options = hint(result, "logs")
    place.in_step(place.pull("--delete", *options))
    equal(place.tree().get("logs/mine"), OTHER, "the file of the excluded directory")
    expect(os.path.isdir(place.path("logs")), "the directory")
