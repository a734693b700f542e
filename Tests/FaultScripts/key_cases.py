"""Rows F098 to F117: keys and names that are odd, unsafe or alike."""

import os
import re
import urllib.parse

from case_table import case, equal, expect
from listings import listing, with_field
from machine import pretending
from scenes import OTHER
from stage import ramp

# What text must not be shown as it is.
HIDDEN = "".join(chr(code) for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
ODD = {
    "F103": ["new\nline", "a\r\nb", "\x1b[2J", "tab\t", "\x7f", "\x85", "\x01"],
    "F106": ["caf\u00e9", "cafe\u0301", "\u1100\u1161", "\uac00", "\u2126", "\u03a9"],
    "F111": ["A", "a", "Dir/f", "dir/f", "trailing ", "trailing", "dot.", "dot", "CON", "aux.txt",
             "a:b", "NUL"],
    "F112": ["%2e%2e%2f", "%00", "+", " ", "a b", "a+b", "%", "100%25", "&amp;", "#", "?", "a=b&c",
             ";", "'", '"', "<x>", "]]>", "\u00ff", "~"],
    "F114": ["-rf", "--delete", "*", "[a-z]", "?x", "$(id)", "`id`", "a;b", "!", "|", "{a,b}"],
    "F117": ["\u202egpj.exe", "\u2066x\u2069", "p\u0430ypal", "\u200b", "\ufeff", "\ufffd"],
}


def comes_and_goes(place, names):
    """Pushed, pulled elsewhere, and deleted: nothing is mixed up, nothing moves twice."""
    for name in names:
        place.write(name, name.encode() + b" is what this is")
    place.write("kept", OTHER)
    wanted = place.tree()
    equal(len(wanted), len(names) + 1, "how many files this disk has")
    place.in_step(place.push())
    for name in names:
        equal(place.get(name), name.encode() + b" is what this is", f"the object of {name!r}")
    source = place.directory
    place.directory += "-2"
    place.in_step(place.pull("-v"))
    equal(place.tree(), wanted, "the tree that was pulled")
    equal(place.in_step(place.pull()).count("transferred"), 0, "what was fetched again")
    place.directory = source
    for name in names:
        os.remove(place.path(name))
    result = place.in_step(place.push("--delete", "--max-delete", "100%"))
    equal(result.count("deleted"), len(names), "what was deleted")
    place.directory += "-2"
    place.in_step(place.pull("--delete", "--max-delete", "100%"))
    equal(place.tree(), {"kept": OTHER}, "the tree after the deletions")


@case("F103", "names with controls come and go as they are")
def _(place):
    comes_and_goes(place, ODD["F103"])


@case("F106", "names that only look alike are two files")
def _(place):
    comes_and_goes(place, ODD["F106"])


@case("F111", "names that another system would take for one, or not at all, come and go")
def _(place):
    comes_and_goes(place, ODD["F111"])


@case("F112", "names that an address or a document would change come and go")
def _(place):
    comes_and_goes(place, ODD["F112"])


@case("F114", "names that a shell would obey come and go")
def _(place):
    comes_and_goes(place, ODD["F114"])


@case("F117", "names that deceive come and go, and are shown escaped")
def _(place):
    comes_and_goes(place, ODD["F117"])
    for name in ODD["F117"]:
        place.put(name, OTHER)
    result = place.in_step(place.pull("--dry-run", "-v"))
    expect(not any(character in result.output for character in HIDDEN), f"shown: {result.output}")


UNSAFE = ["../x", "a/../../x", "..", "a/..", "./x", "plugins/./a", "../\u0301x", "a//b", "/etc/x"]
# Keys of osssync's own files: left out without being a failure.
OWN = [".osssync/x", ".OSSSYNC/lock", "photos/.osssync/config",
       "d/.osssync-0123456789abcdef0123456789abcdef"]


def unsafe_objects(place):
    """Puts what no directory can hold beside what it can; every key is there and listed."""
    for key in UNSAFE + OWN:
        place.put(key, OTHER)
    place.put("plugins/a", OTHER)
    place.put("C:\\x", OTHER)
    place.put("marker/")


@case("F098 F099 F100 F101 F109", "of keys that no directory can hold none is stored or deleted")
def _(place):
    around = sorted(os.listdir(place.folder))
    unsafe_objects(place)
    for options in (), ("--delete",), ("--delete=extra", "--force", "--max-delete", "100%"):
        result = place.pull(*options)
        equal((result.status, result.count("skipped"), result.count("deleted")),
              (1, len(UNSAFE), 0), f"the end of {result}")
        equal(place.tree(), {"plugins/a": OTHER, "C:\\x": OTHER}, f"the tree after {result}")
        expect(os.path.isdir(place.path("marker")), "the marker's directory")
    place.push("--delete")
    for key in UNSAFE + OWN:
        equal(place.get(key), OTHER, f"the object {key}")
    equal(sorted(set(os.listdir(place.folder)) - {"tree"}), around, "what is around the tree")


@case("F098 F104", "of keys that no directory can hold nothing is even looked at")
def _(place):
    trace = os.path.join(place.folder, "trace")
    unsafe_objects(place)
    # What the server would not take: bytes that are no UTF-8, in all their forms.
    strange = ["..%C0%AFx", "%C0%AE%C0%AE%2Fx", "a%FF", "%ED%A0%80", "a%00%2F..%2F..%2Fx"]

    def more(page):
        template = page["entries"][-1]
        entries = [with_field(template, "Key", f"{place.prefix}%2F{key}") for key in strange]
        both = [*page["entries"], *entries]
        keys = {entry: urllib.parse.unquote_to_bytes(re.search("<Key>(.*?)</Key>", entry)[1])
                for entry in both}
        return {**page, "entries": sorted(both, key=keys.get)}
    listing(place, size=1_000, change=more)
    os.mkdir(place.directory)
    if not pretending(place, trace=trace):
        return
    for options in (), ("--delete=extra", "--force", "--max-delete", "100%"):
        result = place.pull(*options)
        equal((result.status, result.count("skipped")), (1, len(UNSAFE) + len(strange)),
              f"the end of {result}")
    with open(trace, "rb") as file:
        words = file.read().split(b"\0")[:-1]
    looks = list(zip(words[::2], words[1::2]))
    root, home = os.fsencode(place.directory), os.fsencode(place.home)
    seen = set()
    for directory, name in looks:
        path = os.path.normpath(os.path.join(directory, name))
        seen.add(path)
        expect(b".." not in name.split(b"/"), f"{name} was looked for in {directory}")
        expect(path != b"/etc/x", f"{path} was looked at")
        if path.startswith(os.fsencode(place.folder) + b"/"):
            # Whether it lies in another mirror is asked of those above, and what is damaged in that.
            mirror = path.removesuffix(b"/config").removesuffix(b"/.osssync")
            expect(path == root or path.startswith((root + b"/", home))
                   or root.startswith(mirror + b"/"), f"{path} was looked at")
    # That it would have been seen.
    for name in (b"plugins/a", b".osssync/manifest.db"):
        expect(os.path.join(root, name) in seen, f"no look at {name} was kept: {len(looks)} looks")
    for name in (b"plugins/./a", b"a/../../x", b"a//b"):
        expect(name not in [look for _, look in looks], f"{name} was looked for")


@case("F102", "a directory's marker with content is left alone on both sides")
def _(place):
    place.put("d/", b"content")
    place.put("d/f", OTHER)
    for run in (place.pull, place.push, place.pull):
        result = run("--delete")
        equal((result.count("failed"), result.count("deleted")), (0, 0), f"the end of {result}")
        equal(place.tree(), {"d/f": OTHER}, "the tree")
        equal(place.get("d/"), b"content", "the marker")
    equal(place.pull().status, 1, "the exit status of a pull")


@case("F104 F105", "a file whose name is not UTF-8 is named and deletes nothing")
def _(place):
    for name in ("f", "z"):
        place.write(name, OTHER)
    place.in_step(place.push())
    with open(os.path.join(os.fsencode(place.directory), b"a\xff"), "wb") as file:
        file.write(b"not to be sent")
    os.remove(place.path("z"))
    result = place.push("--delete")
    expect("not UTF-8" in result.output, f"no word on it: {result.output}")
    equal(place.get("f"), OTHER, "the object of f")
    # Its own name can be no object's, so that the deletion of another is in no doubt.
    equal(place.get("z"), None, "the object of z")
    pulled = place.pull("--delete")
    equal(pulled.count("deleted"), 0, f"deletions of {pulled}")
    equal(len(place.tree()), 2, "the files")


@case("F107 F108", "a key beside keys beneath it decides alike in every run")
def _(place):
    place.put("a", b"the object")
    place.put("a/b", OTHER)
    for _ in range(3):
        result = place.pull("--delete")
        equal((result.status, result.count("skipped")), (1, 1), f"the end of {result}")
        equal(place.tree(), {"a/b": OTHER}, "the tree")
    place.push("--delete")
    equal((place.get("a"), place.get("a/b")), (b"the object", OTHER), "the objects")
    place.delete("a/b")
    place.put("kept", OTHER)
    place.in_step(place.pull("--delete"))
    place.in_step(place.pull("--delete"))
    equal(place.tree(), {"a": b"the object", "kept": OTHER}, "the tree without keys beneath")


@case("F110", "the longest keys are kept whole, and longer segments are skipped")
def _(place):
    room = 1_023 - len(place.prefix) - 1
    segments = "/".join(["s" * 200] * 5)
    longest = segments[:room].rstrip("/")
    many = "/".join(["d"] * (room // 2))[:room].rstrip("/")
    place.put(longest, ramp(10, 1))
    place.put(many, ramp(10, 2))
    place.put("n" * 255, ramp(10, 3))
    place.put("m" * 256, ramp(10, 4))
    result = place.pull()
    equal((result.status, result.count("skipped")), (1, 1), f"the end of {result}")
    equal(place.tree(), {longest: ramp(10, 1), many: ramp(10, 2), "n" * 255: ramp(10, 3)},
          "the tree")
    expect("256" in result.said("m" * 256), f"what was said: {result.said('m' * 256)}")


@case("F115 F116", "a prefix is a directory, and its own marker is nobody's file")
def _(place):
    place.put("f", OTHER)
    place.put("")
    for name in ("bar", "-2/x"):
        equal(place.server.call("PUT", place.prefix + name, {}, b"beside")[0], 200, "putting")
    place.in_step(place.pull("--delete"))
    equal(place.tree(), {"f": OTHER}, "the tree")
    place.write("g", OTHER)
    os.remove(place.path("f"))
    place.in_step(place.push("--delete"))
    for name in ("bar", "-2/x"):
        equal(place.server.call("GET", place.prefix + name)[2], b"beside", "what is beside")
    equal((place.get(""), place.get("f"), place.get("g")), (b"", None, OTHER), "the objects")


@case("F113", "keys that a server does not encode are not decoded")
def _(place):
    for name in ("100%25", "a%2Fb", "%2e%2e"):
        place.put(name, name.encode())
    between = place.wire()

    def plainly(request, forward):
        if "encoding-type=url&" in request.target + "&":
            answer = forward()
            text = answer.body.replace(b"<EncodingType>url</EncodingType>", b"")
            answer.body = text.replace(b"%2F", b"/").replace(b"%25", b"%")
            return [answer.set("Content-Length", str(len(answer.body))).bytes(), "keep"]
        return None
    between.on("ListObjectsV2", plainly)
    place.in_step(place.pull())
    equal(place.tree(), {name: name.encode() for name in ("100%25", "a%2Fb", "%2e%2e")}, "the tree")
