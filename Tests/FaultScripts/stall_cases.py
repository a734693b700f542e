"""Rows F009 to F011, F034 and F045: answers that come late, slowly or never."""

import wire
from case_table import case, equal, expect
from scenes import NEW, OLD, ends_in_step, pulled, recovers, skips
from stage import ramp

MIB = 1 << 20


@case("F009", "an answer that stops after its head is given up and asked for again")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"stall": {"at": 0, "seconds": 30}}, "victim", first=1))
    result = place.pull("--delete", "--timeout", "0.5")
    ends_in_step(place, result, tree)
    expect(result.seconds < 10, f"it took {result.seconds} s")


@case("F009", "a request that is never answered is given up after its tries")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", lambda request, forward: [wire.HANG], key="victim")
    result = place.pull("--delete", "--timeout", "0.4", "--retries", "2")
    skips(place, result, tree, "the connection stalled")
    equal(len(between.seen("GetObject", "victim")), 3, "requests of the victim")
    between.clear()
    recovers(place, tree)


@case("F009", "what came before a stall is not asked for again")
def _(place):
    place.put("big", ramp(5 * MIB))
    place.faults(place.fault("GetObject", {"stall": {"at": 3 * MIB, "seconds": 30}}, "big",
                             first=1))
    place.in_step(place.pull("--timeout", "0.5"))
    equal(place.tree(), {"big": ramp(5 * MIB)}, "the tree")
    sent = sum(request["bytes_sent"] for request in place.requests("GetObject", "big"))
    # The stalled answer is logged with all that left the server, the socket's buffers included.
    expect(sent <= 9 * MIB, f"{sent} bytes were sent")


@case("F010", "a drip of bytes is given up, also one that never ends")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"slow": 200}, "victim", first=2))
    result = place.pull("--delete", "--timeout", "0.5")
    ends_in_step(place, result, tree)
    place.put("victim", ramp(len(NEW), 77))
    place.faults(place.fault("GetObject", {"slow": 200}, "victim"))
    result = place.pull("--timeout", "0.4", "--retries", "2")
    equal(result.status, 1, f"exit of {result}")
    expect("stalled" in result.said("victim"), result.said("victim"))
    expect(result.seconds < 8, f"it took {result.seconds} s")
    equal(place.tree()["victim"], NEW, "the old file")


@case("F010", "a drip of headers is given up")
def _(place):
    tree = pulled(place)
    between = place.wire()

    def drip(request, forward):
        head = forward().head()
        return [step for byte in head[:40] for step in (bytes([byte]), 0.1)] + [wire.RESET]
    between.on("GetObject", drip, key="victim", first=1)
    ends_in_step(place, place.pull("--delete", "--timeout", "0.5"), tree)


@case("F011", "a server that stops reading a part is given up, and the part sent again")
def _(place):
    place.write("big", ramp(24 * MIB))
    place.faults(place.fault("UploadPart", {"stallUpload": {"at": MIB, "seconds": 30}}, "big",
                             part=2, first=1))
    result = place.in_step(place.push("--part-size", "12M", "--timeout", "0.7"))
    expect(result.seconds < 20, f"it took {result.seconds} s")
    equal(place.get("big"), ramp(24 * MIB), "the object")
    equal(place.uploads(), 0, "uploads left open")


@case("F034", "an answer that comes late is not taken for that of the next request")
def _(place):
    tree = pulled(place)
    between = place.wire()

    def late(request, forward):
        return [1.2, forward().bytes(), wire.KEEP]
    between.on("GetObject", late, key="victim", first=1)
    ends_in_step(place, place.pull("--delete", "--timeout", "0.5", "--jobs", "1"), tree)
    first, second = between.seen("GetObject", "victim")
    expect(first.connection != second.connection, "the connection was used again")
    equal([request.index for request in between.seen() if request.connection == first.connection
           and request.index > first.index], [], "requests after the one without an answer")


def slow_complete(place, steps):
    """White space before the answer to CompleteMultipartUpload, as services send it."""
    def effect(request, forward):
        answer = forward().set("Content-Length", None).set("Connection", "close")
        head = answer.head()
        return [head] + [part for _ in range(steps) for part in (b" ", 0.2)] + [answer.body,
                                                                               wire.CLOSE]
    return effect


@case("F045", "white space before the answer to Complete is waited for")
def _(place):
    between = place.wire()
    place.write("big", ramp(3 * MIB))
    between.on("CompleteMultipartUpload", slow_complete(place, 8))
    result = place.in_step(place.push("--part-size", "1M", "--timeout", "0.5"))
    equal(len(between.seen("CompleteMultipartUpload")), 1, "Completes")
    expect(result.seconds >= 1.6, "it did not wait")
    equal(place.get("big"), ramp(3 * MIB), "the object")


@case("F045", "white space without end is given up, and the object found all the same")
def _(place):
    between = place.wire()
    place.write("big", ramp(3 * MIB))
    between.on("CompleteMultipartUpload", slow_complete(place, 200))
    result = place.in_step(place.push("--part-size", "1M", "--timeout", "0.1"))
    expect(result.seconds < 15, f"it took {result.seconds} s")
    equal(place.get("big"), ramp(3 * MIB), "the object")
    equal(len(between.seen("UploadPart")), 3, "parts that were sent")
