"""Rows F244 to F246: holders of a lease that are stopped, or run in another PID namespace."""

import os
import re
import signal
import time

from case_table import case, equal, expect
from lease_cases import HURRY, lease
from machine import Running, pretending, runnable, skipped, until
from scenes import OTHER
from shards import held, holding, says
from stage import ramp

LARGE = 24 << 20

# A PID namespace with a program as its process 1, which ends with `unshare`. Only root can do
# without a user namespace.
NAMESPACE = ["unshare", *([] if os.getuid() == 0 else ["-Ur"]), "--pid", "--fork", "--mount-proc",
             "--kill-child"]


def pushed(place):
    """A mirror in step, and a new file `b`."""
    place.write("a", ramp(3_000))
    place.in_step(place.push())
    place.write("b", OTHER)


def held_push(place, wrapper=()):
    """A push that waits for the response to its upload of a new file `b`."""
    pushed(place)
    return holding(place, [place.fault("PutObject", {"hold": True})], "push", wrapper=wrapper)


def stop(running):
    running.send(signal.SIGSTOP)
    return time.monotonic()


def resume(place, running, stopped, seconds=100):
    """Continues a run once it was stopped for so many seconds of the lease's clock."""
    time.sleep(max(0, stopped + seconds / HURRY - time.monotonic()))
    place.faults()
    running.send(signal.SIGCONT)


def recorded(place, name):
    return re.search(rb"\n%s (.*)\n" % name.encode(), lease(place)).group(1).decode()


@case("F244", "a run stopped for 100 s completes its work if no other run came")
def _(place):
    if not pretending(place, network="1", hurry=str(HURRY)):
        return
    running = held_push(place)
    stopped = stop(running)
    before = recorded(place, "epoch")
    resume(place, running, stopped)
    place.in_step(running.finish())
    equal((recorded(place, "epoch"), recorded(place, "state")), (before, "free"), "the lease")
    equal(place.get("b"), OTHER, "the object")


@case("F244", "a run stopped for 100 s completes its work if another run waits for the lock")
def _(place):
    if not pretending(place, network="1", hurry=str(HURRY)):
        return
    running = held_push(place)
    stopped = stop(running)
    waiting = Running(place, "push", "--if-locked", "wait")
    resume(place, running, stopped)
    both_in_step(place, running, waiting)


@case("F244", "a run stopped for 100 s completes its work if another run observes its lease")
def _(place):
    if not pretending(place, network="1", nolocks="1", hurry=str(HURRY)):
        return
    running = held_push(place)
    stopped = stop(running)
    # The other run must not observe it for 60 s, after which it would take the lease.
    time.sleep(90 / HURRY)
    waiting = Running(place, "push", "--if-locked", "wait")
    line = waiting.line()
    expect(b"checking" in line, f"the first message of the run that waits: {line}")
    resume(place, running, stopped, seconds=0)
    both_in_step(place, running, waiting)


def both_in_step(place, running, waiting):
    """The run that was stopped does the work, and after it the other one finds nothing to do."""
    result = place.in_step(running.finish())
    equal(result.count("transferred"), 1, f"what the stopped run did: {result}")
    result = place.in_step(waiting.result().check())
    equal((result.count("transferred"), result.count("unchanged")), (0, 2),
          f"what the other run did: {result}")
    equal(place.get("b"), OTHER, "the object")


def in_namespaces(place):
    """Prepares runs in other PID namespaces, of which only the lease excludes each other."""
    if not runnable(*NAMESPACE, "true"):
        skipped("a PID namespace of one's own is not allowed")
        return False
    return pretending(place, network="1", nolocks="1", hurry=str(HURRY))


@case("F245", "a run in another PID namespace is not taken for dead")
def _(place):
    if not in_namespaces(place):
        return
    running = held_push(place, NAMESPACE)
    equal(recorded(place, "process"), "1", "the process in the lease")
    # Here process 1 is another program; in a third namespace it is the second run itself.
    for wrapper in ((), NAMESPACE):
        second = Running(place, "push", wrapper=wrapper).finish()
        says(second, 75, "process 1 on")
    equal(place.get("b"), None, "the object while the first run waits")
    place.faults()
    place.in_step(running.finish())
    equal(place.get("b"), OTHER, "the object")


@case("F245", "the lease of a run killed in another PID namespace is observed first")
def _(place):
    if not in_namespaces(place):
        return
    running = held_push(place, NAMESPACE)
    running.end()
    place.faults()
    begun = time.monotonic()
    result = place.in_step(Running(place, "push", wrapper=NAMESPACE).finish())
    expect(time.monotonic() - begun > 60 / HURRY, f"it did not observe the lease: {result}")
    equal(place.get("b"), OTHER, "the object")


@case("F246", "a run that was stopped writes nothing into a file that another run has completed")
def _(place):
    if not pretending(place, network="1", nolocks="1", hurry=str(HURRY)):
        return
    place.put("a", OTHER)
    place.in_step(place.pull())
    place.put("large", ramp(LARGE))
    # From the third range on, each has received 3 of its 4 MiB; a busy machine has few of them.
    running = holding(place, [place.fault("GetObject", {"holdAt": 3 << 20}, "large", **{"from": 3})],
                      "pull", "--timeout", "60")
    until(lambda: held(place) >= 1, "a range under way")
    running.send(signal.SIGSTOP)
    place.faults()
    place.in_step(place.pull())
    # Another program changes the file in its place.
    with open(place.path("large"), "r+b") as file:
        file.write(bytes(LARGE))
    before = os.stat(place.path("large")).st_mtime_ns
    running.send(signal.SIGCONT)
    says(running.result(), 75)
    expect(place.tree()["large"] == bytes(LARGE), "the run that was stopped changed the file")
    equal(os.stat(place.path("large")).st_mtime_ns, before, "the time of the file")
