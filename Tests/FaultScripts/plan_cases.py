"""Row F206: plans that are saved, and carried out later."""

import json
import os

from case_table import case, equal, expect
from scenes import FRESH, NEW, OLD, OTHER
from trash_cases import trash


def file(place):
    return os.path.join(place.home, "mirror.plan")


def save(place, command, *options):
    result = place.run(command, "--save-plan", file(place), *options)
    equal((result.status, len(result.all("plan_saved"))), (0, 1), f"saving: {result}")
    return result


def apply(place, *options):
    return place.start("apply", "--json", "--retry-wait", "0.05", *options, file(place))


def crc64(content):
    """CRC-64/XZ, bit by bit."""
    value = 0xFFFFFFFFFFFFFFFF
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xC96C5795D7870F42 if value & 1 else 0)
    return value ^ 0xFFFFFFFFFFFFFFFF


def forged(content, **members):
    """The plan with another header, and the checksum that belongs to it."""
    lines = content.splitlines(keepends=True)
    header = json.loads(lines[0]) | members
    lines[0] = json.dumps(header, separators=(",", ":")).encode() + b"\n"
    body = b"".join(lines).rsplit(b',"crc64"', 1)[0]
    return body + b',"crc64":"%x"}\n' % crc64(body)


def changed(place):
    """A mirror in step, and then something to send, to replace and to delete."""
    for name, content in {"a": OLD, "b": OTHER, "c": FRESH, "d/e": OLD}.items():
        place.write(name, content)
    place.in_step(place.push())
    place.write("a", NEW)
    place.write("new", FRESH)
    os.remove(place.path("b"))
    os.remove(place.path("d/e"))


@case("F206", "a plan changes nothing when it is saved, is done once, and then is done already")
def _(place):
    changed(place)
    saved = save(place, "push", "--delete")
    equal((place.get("a"), place.get("b"), place.get("new")), (OLD, OTHER, None), "after saving")
    place.write("later", OTHER)
    os.remove(place.path("c"))
    result = apply(place)
    equal((result.status, result.count("transferred"), result.count("deleted")), (0, 3, 2),
          f"applied: {result}")
    equal((saved.count("transferred"), saved.count("deleted")), (3, 2), "what was planned")
    equal((place.get("a"), place.get("b"), place.get("d/e"), place.get("new")),
          (NEW, None, None, FRESH), "what the plan has")
    equal((place.get("later"), place.get("c"), result.count("not_in_plan")), (None, FRESH, 2),
          "what it has not")
    result = apply(place)
    equal((result.status, result.count("transferred"), result.count("deleted"),
           result.count("failed")), (0, 0, 0, 0), f"the second time: {result}")
    place.in_step(place.push("--delete"))


@case("F206", "what changed since a plan was saved is named, and neither replaced nor deleted")
def _(place):
    changed(place)
    save(place, "sync", "--delete")
    place.put("a", FRESH)
    place.write("b", b"here again")
    place.put("d/e", NEW)
    result = apply(place)
    equal((result.status, result.count("failed"), result.count("transferred")), (1, 3, 2),
          f"applied: {result}")
    for key in ("a", "b", "d/e"):
        expect("since the plan was saved" in result.said(key), f"of {key}: {result}")
    equal((place.get("a"), place.get("b"), place.get("d/e")), (FRESH, OTHER, NEW), "the objects")
    equal(place.tree().get("b"), b"here again", "the file")


@case("F206", "an apply that fails in the middle is completed by the next one")
def _(place):
    changed(place)
    save(place, "push", "--delete")
    failing = {"fail": {"status": 500, "code": "InternalError"}}
    place.faults(place.fault("DeleteMultipleObjects", failing))
    result = apply(place, "--retries", "1")
    equal((result.status, result.count("transferred"), result.count("deleted")), (1, 3, 0),
          f"with the fault: {result}")
    place.faults()
    result = apply(place)
    equal((result.status, result.count("transferred"), result.count("deleted")), (0, 0, 2),
          f"without it: {result}")
    equal((place.get("b"), place.get("d/e")), (None, None), "deleted")


@case("F206", "a plan that is cut, changed or for another mirror does nothing")
def _(place):
    changed(place)
    save(place, "push", "--delete")
    with open(file(place), "rb") as opened:
        content = opened.read()
    for number, damaged in enumerate([content[:-1], content[:len(content) // 2], b"",
                                      content.replace(b'"action":"upload"',
                                                      b'"action":"adopt"'),
                                      content.replace(b"delete-remote", b"delete-rexote")]):
        with open(file(place), "wb") as opened:
            opened.write(damaged)
        result = apply(place)
        equal((result.status, result.summary), (2, {}), f"damage {number}: {result}")
        expect("mirror.plan" in result.errors, f"what is named: {result}")
    there = place.directory
    for members, word in (({"command": ["push", "--insecure-http", "--", there]}, "command line"),
                          ({"command": ["push", "--log-file", "/tmp/x", there]}, "command line"),
                          ({"command": ["trash", "--empty", there]}, "command line"),
                          ({"osssync_plan": 2}, "version 2"),
                          ({"remote": "oss://elsewhere/photos/"}, "elsewhere"),
                          ({"endpoint": "example.com"}, "example.com")):
        with open(file(place), "wb") as opened:
            opened.write(forged(content, **members))
        result = apply(place)
        equal((result.status, result.summary), (2, {}), f"forged {members}: {result}")
        expect(word in result.errors, f"what is said of {members}: {result}")
    with open(file(place), "wb") as opened:
        opened.write(forged(content))
    inside = place.run("push", "--save-plan", place.path("x.plan"))
    equal((inside.status, os.path.exists(place.path("x.plan"))), (2, False), f"inside: {inside}")
    equal((place.get("a"), place.get("b"), place.get("new")), (OLD, OTHER, None), "the objects")
    equal(apply(place).status, 0, "the plan as it was")


@case("F206", "a plan keeps the trash of its run, and no default that was set later")
def _(place):
    changed(place)
    save(place, "push", "--delete", "--trash", "remote")
    with open(place.path(".osssync/config"), "a") as config:
        config.write("\n[push]\nstorage-class = IA\nexclude = new\n")
    equal(apply(place).status, 0, "applying")
    equal(place.get("new"), FRESH, "the new object")
    expect("IA" not in place.head("new").get("x-oss-storage-class", ""), f"{place.head('new')}")
    equal(trash(place), {"a": [OLD], "b": [OTHER], "d/e": [OLD]}, "the copies")
    missing = place.start("apply", "--json", os.path.join(place.home, "no.plan"))
    equal(missing.status, 2, str(missing))
