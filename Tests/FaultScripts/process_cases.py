"""Rows F057 to F069: signals, limits, and output that nobody takes."""

import os
import pty
import signal
import sqlite3
import subprocess
import time

import program
from case_table import case, equal, expect
from machine import Running, arguments, runnable, skipped, stranger, under, until
from scenes import OTHER, ends_in_step, pulled, recovers
from stage import ramp
from Support.processes import PATIENCE
from wire import CLOSE, HANG, KEEP


def hanging(place, command="pull", operation="GetObject", key="victim"):
    """A run that waits for an answer that does not come."""
    between = place.wire()
    between.on(operation, lambda request, forward: [HANG], key)
    running = Running(place, command, "--delete")
    until(lambda: between.seen(operation, key), f"{operation} of {key}")
    between.clear()
    return running


@case("F057 F058 F062", "the first signal ends a run soon, and the next run goes on")
def _(place):
    durations = []
    for number, status in (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143):
        place.prefix += "x"
        place.directory += "x"
        tree = pulled(place)
        running = hanging(place)
        sent = running.send(number)
        result = running.finish()
        durations.append(time.monotonic() - sent)
        equal(result.status, status, f"the exit status of {result}")
        expect("again" in result.error["message"] or "resume" in result.error["message"],
               f"no word on how to go on: {result}")
        equal(result.summary.get("in_step"), False, f"in_step of {result}")
        found = place.tree()
        expect(found["gone"] == OTHER, f"something was deleted: {result}")
        recovers(place, tree)
    # A machine that is busy may delay one of them.
    expect(min(durations) < 2 and max(durations) < 10, f"it took {durations} s to end")


@case("F058", "a second signal right after the first does no harm")
def _(place):
    tree = pulled(place)
    running = hanging(place)
    for _ in range(3):
        running.send(signal.SIGTERM)
    equal(running.result().status, 143, "the exit status")
    recovers(place, tree)


@case("F062", "a terminal that is closed ends the run as a signal does")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", lambda request, forward: [HANG], "victim")
    process, terminal = pty.fork()
    if process == 0:
        line = [word for word in arguments(place, "pull") if word != "--json"]
        os.execve(line[0], line, place.full_environment())
    try:
        until(lambda: between.seen("GetObject", "victim"), "the request")
    finally:
        between.clear()
        os.close(terminal)
    def ended():
        found, status = os.waitpid(process, os.WNOHANG)
        return found and (os.waitstatus_to_exitcode(status),)
    equal(until(ended, "the end"), (143,), "the exit status")
    recovers(place, tree)


@case("F063", "a run that was stopped for longer than its time-out goes on")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", lambda request, forward: [0.5, forward().bytes(), KEEP], "victim")
    running = Running(place, "pull", "--delete", "--timeout", "1")
    until(lambda: between.seen("GetObject", "victim"), "the request")
    running.send(signal.SIGSTOP)
    time.sleep(2.5)
    running.send(signal.SIGCONT)
    ends_in_step(place, running.finish(), tree)


def killed_at(place, command, number, moment, *options):
    """Kills a run at its n-th request; False if it has fewer."""
    between = place.wire()
    runs = []

    def kill(request, forward):
        if moment == "after":
            forward()
        until(lambda: runs, "the start")
        runs[0].kill()
        return [CLOSE]
    between.on(None, kill, only=number)
    running = Running(place, command, "--delete", "--part-size", "1M", "--jobs", "1", *options)
    runs.append(running)
    running.wait(PATIENCE)
    between.close()
    place.closers.remove(between.close)
    place.endpoint = place.server.url
    equal(running.status in (0, -signal.SIGKILL), True, "how it ended")
    return running.status != 0


@case("F059 F061", "a pull that is killed at any request is made up for by the next")
def _(place):
    for moment in ("before", "after"):
        for number in range(1, 30):
            place.put("large", ramp(1_500_000, number))
            place.put("small", ramp(100, number))
            place.put(f"gone{number}", OTHER)
            place.delete(f"gone{number - 1}")
            was_killed = killed_at(place, "pull", number, moment)
            result = place.in_step(place.pull("--delete"))
            equal(place.tree(), {"large": ramp(1_500_000, number), "small": ramp(100, number),
                                 f"gone{number}": OTHER}, f"{moment} request {number}: {result}")
            if not was_killed:
                break
        place.delete(f"gone{number}")
        expect(number > 3, f"only {number} requests")


@case("F060 F061", "a push that is killed at any request is made up for by the next")
def _(place):
    for moment in ("before", "after"):
        for number in range(1, 30):
            place.write("large", ramp(1_500_000, number))
            place.write("small", ramp(100, number))
            place.write(f"gone{number}", OTHER)
            if number > 1:
                os.remove(place.path(f"gone{number - 1}"))
            was_killed = killed_at(place, "push", number, moment)
            result = place.in_step(place.push("--delete", "--part-size", "1M"))
            equal([place.get(name) for name in ("large", "small", f"gone{number}")],
                  [ramp(1_500_000, number), ramp(100, number), OTHER], f"{moment} {number}")
            equal(place.get(f"gone{number - 1}"), None, f"what was deleted: {result}")
            equal(place.uploads(), 0, f"uploads left after {moment} request {number}: {result}")
            if not was_killed:
                break
        os.remove(place.path(f"gone{number}"))
        place.in_step(place.push("--delete"))
        expect(number > 5, f"only {number} requests")


def peak(place, command):
    """The most memory that a run takes, in KiB."""
    measure = ["python3", "-c", "import os, resource, subprocess, sys\n"
               "status = subprocess.call(sys.argv[1:])\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
               "sys.exit(status)"]
    return int(place.in_step(under(place, measure, command)).errors.split()[-1])


@case("F065", "a large object takes little memory")
def _(place):
    place.put("small", OTHER)
    place.write("mine", OTHER)
    usual = {"pull": peak(place, "pull"), "push": peak(place, "push")}
    content = ramp(200_000_000)
    place.put("large", content)
    more = peak(place, "pull") - usual["pull"]
    expect(more < 16 << 10, f"{more} KiB more than for a small object")
    expect(place.tree() == {"small": OTHER, "mine": OTHER, "large": content}, "the tree")
    os.rename(place.path("large"), place.path("again"))
    with open(place.path("again"), "r+b") as file:
        file.write(b"of another content, so that it is sent")
    more = peak(place, "push") - usual["push"]
    expect(more < 16 << 10, f"{more} KiB more than for a small file")
    equal(place.head("again")["Content-Length"], "200000000", "what was sent")


@case("F066", "thirty-two descriptors are enough")
def _(place):
    if not runnable("prlimit", "--nofile=32", "true"):
        return skipped("no prlimit")
    names = [f"d{number}/f" for number in range(40)]
    for name in names:
        place.put(name, OTHER)
    place.in_step(under(place, ["prlimit", "--nofile=32"], "pull", "--jobs", "16"))
    equal(place.tree(), dict.fromkeys(names, OTHER), "the tree")


@case("F066", "fewer descriptors than a run needs are a reason not to begin")
def _(place):
    if not runnable("prlimit", "--nofile=12", "true"):
        return skipped("no prlimit")
    tree = pulled(place)
    for count in (10, 16, 23):
        result = under(place, ["prlimit", f"--nofile={count}"], "pull")
        equal(result.status, 5, f"the exit status with {count} descriptors: {result}")
        expect("ulimit -n" in result.errors, f"what was said: {result}")
        equal(place.tree()["kept"], OTHER, f"what was there: {result}")
    recovers(place, tree)


@case("F068", "a run that traps in its midst leaves a state that the next run goes on from")
def _(place):
    for number in (signal.SIGILL, signal.SIGTRAP, signal.SIGABRT):
        place.prefix += "x"
        place.directory += "x"
        tree = pulled(place)
        running = hanging(place)
        running.send(number)
        result = running.result()
        expect(result.status not in (0, 1), f"the exit status of {result}")
        for text in (result.output, result.errors):
            expect(program.SECRET not in text, f"a secret is shown: {result}")
        with sqlite3.connect(place.path(".osssync/manifest.db")) as database:
            equal(database.execute("PRAGMA quick_check").fetchall(), [("ok",)], "the manifest")
        expect(place.tree()["gone"] == OTHER, f"something was deleted: {result}")
        recovers(place, tree)


@case("F069", "a run without any output does its work")
def _(place):
    tree = pulled(place)
    line = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *arguments(place, "pull", "--delete")]
    status = subprocess.run(line, env=place.full_environment(), timeout=30).returncode
    expect(status in (0, 1), f"it ended with {status}")
    equal(place.tree(), tree, "the tree")
    with open("/dev/full", "wb") as full:
        place.put("victim", ramp(77))
        line = arguments(place, "pull", "--delete")
        status = subprocess.run(line, env=place.full_environment(), stdout=full, stderr=full,
                                timeout=30).returncode
    equal(status, 1, "the exit status where the report could not be written")
    equal(place.tree(), {**tree, "victim": ramp(77)}, "the tree")


@case("F067", "with fewer threads than a run needs it does not begin, and with enough it works")
def _(place):
    wrapper = stranger(place)
    if wrapper is None or not runnable("prlimit", "--nproc=4", "true"):
        return skipped("no prlimit")
    tree = pulled(place)
    stranger(place)
    place.server.forget_requests()
    # Whoever else runs as this user takes threads away, too, and so more of them may be refused.
    for count in (1, 3, 5, 7):
        result = under(place, ["prlimit", f"--nproc={count}", *wrapper], "pull")
        equal(result.status, 5, f"the exit status with {count} threads: {result}")
        expect("threads can be started" in result.errors and "ulimit -u" in result.errors,
               f"what was said with {count} threads: {result}")
    equal(place.requests("ListObjectsV2"), [], "requests of runs that did not begin")
    enough = 8 + os.cpu_count()
    result = under(place, ["prlimit", f"--nproc={enough}", *wrapper], "pull")
    expect(result.status in (0, 5), f"with {enough} threads: {result}")
    place.in_step(under(place, wrapper, "pull", "--delete"))
    equal(place.tree(), tree, "the tree")


@case("F188", "signals that were ignored at the start do not end a run")
def _(place):
    tree = pulled(place)
    between = place.wire()
    between.on("GetObject", lambda request, forward: [1.0, forward().bytes(), KEEP], "victim")
    ignoring = ["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"]
    running = Running(place, "pull", "--delete", wrapper=ignoring)
    until(lambda: between.seen("GetObject", "victim"), "the request")
    running.send(signal.SIGHUP)
    running.send(signal.SIGINT)
    place.in_step(running.result())
    equal(place.tree(), tree, "the tree")
