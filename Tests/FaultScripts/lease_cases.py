"""Rows F225 to F227: mirrors that other machines can reach, and file systems without locks."""

import os
import signal
import threading
import time

from case_table import case, equal, expect
from machine import Running, pretending, until
from scenes import OTHER
from stage import ramp
from Support.checksums import crc64

# The lease's clock runs so many times as fast: half a minute becomes three seconds.
HURRY = 10


def record(epoch, beat, state="held", host="far"):
    """What a process of another machine writes into the file `lease`."""
    lines = ["osssync lease 1", f"epoch {epoch}", f"state {state}", f"beat {beat}",
             "holder foreign", f"host {host}", "boot another", "namespace 1", "process 1",
             "started 1", ""]
    text = "\n".join(lines).encode().ljust(494) + b"\n"
    return text + b"%016x\n" % crc64(text)


def lease(place):
    with open(place.path(".osssync/lease"), "rb") as file:
        return file.read()


def write_lease(place, content):
    with open(place.path(".osssync/lease"), "r+b" if os.path.exists(
            place.path(".osssync/lease")) else "wb") as file:
        file.write(content)


@case("F225", "without any locks of the file system runs still exclude each other")
def _(place):
    if not pretending(place, nolocks="1"):
        return
    place.write("a", ramp(3_000))
    place.in_step(place.push())
    expect(b"state free" in lease(place), "the lease is not given back")
    place.write("b", OTHER)
    place.faults(place.fault("PutObject", {"hold": True}))
    running = Running(place, "push")
    running.until_planned()
    result = place.push()
    equal(result.status, 75, f"a second run: {result}")
    # One that looks only does not wait.
    equal(place.start("status", place.directory, "--json").status, 0, "status beside a run")
    running.end()
    place.faults()
    # The process is gone, and this machine knows it.
    result = place.in_step(place.push())
    equal(place.get("b"), OTHER, f"the object after {result}")
    expect(result.summary["seconds"] < 20, "it waited for a dead process of its own machine")
    result = place.start("verify", place.directory, "--json")
    equal(result.status, 0, f"the files: {result}")


@case("F226", "a silent lease of another machine is taken after a while, one that lives never")
def _(place):
    if not pretending(place, network="1", hurry=str(HURRY)):
        return
    place.write("a", ramp(3_000))
    place.in_step(place.push())
    write_lease(place, record(9, 1))
    place.write("b", OTHER)
    result = place.in_step(place.push())
    said = [line["message"] for line in result.all("warning")]
    expect(any("another run was here" in text for text in said), f"said: {said}")
    equal(place.get("b"), OTHER, "the object")
    expect(b"epoch 10\n" in lease(place), "the number of the lease")

    ended = threading.Event()
    write_lease(place, record(20, 1))

    def live():
        beat = 1
        while not ended.wait(0.05):
            beat += 1
            write_lease(place, record(20, beat))
    other = threading.Thread(target=live)
    other.start()
    try:
        place.write("c", OTHER)
        result = place.push()
        equal(result.status, 75, f"beside one that lives: {result}")
        expect("process 1 on far" in result.error["message"], f"who it is: {result}")
        expect(place.get("c") is None, "it was sent all the same")
    finally:
        ended.set()
        other.join()


@case("F227", "a run that slept while another machine took its mirror changes nothing more")
def _(place):
    if not pretending(place, network="1", hurry=str(HURRY)):
        return
    for index in range(3):
        place.write(f"f{index}", ramp(3_000, index))
    place.in_step(place.push())
    for index in range(3):
        os.remove(place.path(f"f{index}"))
    place.write("kept", OTHER)
    # The second listing is the look right before the deletions.
    place.faults(place.fault("ListObjectsV2", {"hold": True}, **{"from": 2}))
    running = Running(place, "push", "--delete", "--allow-empty", "--max-delete", "100%")
    running.until_planned()
    until(lambda: place.get("kept") == OTHER, "the upload")
    running.send(signal.SIGSTOP)
    # Longer than a lease is trusted, by the clock that goes on meanwhile.
    time.sleep(40 / HURRY)
    write_lease(place, record(40, 1))
    running.send(signal.SIGCONT)
    place.faults()
    result = running.result()
    equal(result.status, 75, f"the end: {result}")
    expect("has taken this directory (process 1 on far)" in result.errors + result.output,
           f"what it says: {result}")
    for index in range(3):
        equal(place.get(f"f{index}"), ramp(3_000, index), "an object after the mirror was taken")
    equal(lease(place), record(40, 1), "the other's lease")
