"""Rows F001 to F006, F033 and F164: connections that end too early."""

import wire
from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER, ends_in_step, pulled, recovers
from stage import ramp

BIG = 12 << 20
MIB = 1 << 20


@case("F001", "a reset before the first byte of an answer is repeated on another connection")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", lambda request, forward: [wire.RESET], key="victim", first=2)
    ends_in_step(place, place.pull("--delete"), tree)
    gets = between.seen("GetObject", "victim")
    equal(len(gets), 3, "requests of the victim")
    equal(len({request.connection for request in gets}), 3, "connections of those")


@case("F002", "a reset at any byte of an answer's head is repeated")
def _(place):
    tree = pulled(place)
    between = place.wire()
    places = [1, 8, 12, 17, 60]

    def cut(request, forward):
        head = forward().head()
        return [head[:places.pop()], wire.RESET]
    between.on("GetObject", cut, key="victim", first=len(places))
    ends_in_step(place, place.pull("--delete"), tree)
    equal(places, [], "places that were not cut at")


@case("F003", "a reset at any byte of a body goes on from there")
def _(place):
    pulled(place)
    for at in (0, 1, 4095, 4096, 2500, len(NEW) - 1):
        place.put("victim", ramp(len(NEW), at))
        place.faults(place.fault("GetObject", {"cut": {"at": at, "how": "rst"}}, "victim", first=1))
        place.server.forget_requests()
        place.in_step(place.pull())
        equal(place.tree()["victim"], ramp(len(NEW), at), "the victim")


@case("F003 F004", "a cut part is asked for from its last byte, and the others only once")
def _(place):
    place.put("big", ramp(BIG))
    place.faults(place.fault("GetObject", {"cut": {"at": MIB + 5, "how": "fin"}}, "big",
                             rangeStart=4 * MIB, first=1))
    place.in_step(place.pull("--part-size", "4M"))
    equal(place.tree(), {"big": ramp(BIG)}, "the tree")
    gets = place.requests("GetObject", "big")
    equal(sum(request["bytes_sent"] for request in gets), BIG, "bytes that were sent")
    equal(sorted(request["range"] for request in gets),
          [f"bytes=0-{4 * MIB - 1}", f"bytes={4 * MIB}-{8 * MIB - 1}",
           f"bytes={5 * MIB + 5}-{8 * MIB - 1}", f"bytes={8 * MIB}-{BIG - 1}"], "ranges")


@case("F003 F020", "what came before a part failed for good is not asked for by the next run")
def _(place):
    place.put("big", ramp(BIG))
    place.write("own", b"of this directory")
    place.faults(place.fault("GetObject", {"cut": {"at": 3 * MIB, "how": "fin"}}, "big",
                             rangeStart=8 * MIB, first=1),
                 place.fault("GetObject", {"fail": {"status": 500, "code": "InternalError"}}, "big",
                             rangeStart=11 * MIB))
    result = place.pull("--part-size", "4M", "--retries", "2", "--delete")
    equal(result.status, 1, f"exit of {result}")
    equal(result.count("failed"), 1, "failed")
    expect("500 InternalError" in result.said("big"), result.said("big"))
    equal(place.tree(), {"own": b"of this directory"}, "the tree after the failure")
    place.faults()
    again = place.in_step(place.pull("--part-size", "4M"))
    expect(again.count("bytes_resumed") >= 7 * MIB, f"resumed too little: {again}")
    equal(place.tree()["big"], ramp(BIG), "the file")
    sent = sum(request["bytes_sent"] for request in place.requests("GetObject", "big")
               if request["status"] in (200, 206))
    expect(BIG <= sent <= BIG + 4 * MIB, f"{sent} bytes were sent for {BIG}")


@case("F004", "a body that ends before its announced length is not taken for whole")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"cut": {"at": 2000, "how": "fin"}}, "victim", first=2))
    ends_in_step(place, place.pull("--delete"), tree)
    gets = place.requests("GetObject", "victim")
    equal(sum(request["bytes_sent"] for request in gets), len(NEW), "bytes that were sent")


@case("F004", "a body that always ends early is given up, and the old file stays")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"cut": {"at": 0, "how": "fin"}}, "victim"))
    result = place.pull("--delete", "--retries", "3")
    equal(result.status, 1, f"exit of {result}")
    equal(len(place.requests("GetObject", "victim")), 4, "requests of the victim")
    equal(place.tree(), {**tree, "victim": OLD, "gone": OTHER}, "the tree")
    recovers(place, tree)


def cut_body(answer, **fields):
    """Half of the body under a head with other fields."""
    answer.set("Content-Length", None).set("Connection", "close")
    for name, value in fields.items():
        answer.set(name.replace("_", "-"), value)
    return answer.body[:len(answer.body) // 2]


@case("F005", "a body without any length that is cut off is not taken for whole")
def _(place):
    tree = pulled(place)
    between = place.wire()

    def cut(answer):
        body = cut_body(answer)
        return [answer.head() + body, wire.CLOSE]
    between.on("GetObject", wire.raw(cut), key="victim", first=1)
    ends_in_step(place, place.pull("--delete"), tree)
    equal([request.range_start for request in between.seen("GetObject", "victim")], [0, 2500],
          "where the requests began")


@case("F005", "a whole body without any length is taken")
def _(place):
    tree = pulled(place)
    between = place.wire()

    def whole(answer):
        answer.set("Content-Length", None).set("Connection", "close")
        return [answer.bytes(), wire.CLOSE]
    between.on("GetObject", wire.raw(whole))
    ends_in_step(place, place.pull("--delete"), tree)
    equal(len(between.seen("GetObject", "victim")), 1, "requests of the victim")


@case("F006", "a chunked body without its last chunk is not taken for whole")
def _(place):
    tree = pulled(place)
    between = place.wire()

    def cut(answer):
        body = cut_body(answer, Transfer_Encoding="chunked")
        return [answer.head() + b"%x\r\n" % len(body) + body + b"\r\n", wire.CLOSE]
    between.on("GetObject", wire.raw(cut), key="victim", first=1)
    ends_in_step(place, place.pull("--delete"), tree)
    equal(len(between.seen("GetObject", "victim")), 2, "requests of the victim")


@case("F033", "a kept connection that is dead when it is used again costs a repetition")
def _(place):
    between = place.wire()

    def dead(request, forward):
        return [wire.RESET] if request.index > 1 else None
    for name in ("HeadObject", "GetObject", "ListObjectsV2", "PutObject", "UploadPart"):
        between.on(name, dead)
    for index in range(6):
        place.put(f"f{index}", ramp(100, index))
    place.in_step(place.pull("--jobs", "2"))
    equal(len(place.tree()), 6, "files")
    place.write("new", OTHER)
    place.write("large", ramp(3 * MIB))
    place.in_step(place.push("--jobs", "2", "--part-size", "1M"))
    equal(place.get("new"), OTHER, "the object that was put")
    equal(place.get("large"), ramp(3 * MIB), "the object that was made of parts")
    equal(place.uploads(), 0, "uploads left open")


@case("F164", "a server that closes after each answer is served all the same")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on(None, wire.changed(lambda answer: answer.set("Connection", "close"), wire.CLOSE))
    ends_in_step(place, place.pull("--delete"), tree)
    place.write("more", ramp(3 * MIB))
    place.in_step(place.push("--part-size", "1M"))
    expect(all(request.index == 1 for request in between.seen()), "a closed connection was used")
    equal(place.get("more"), ramp(3 * MIB), "the object")
