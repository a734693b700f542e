"""Rows F196 and F199: a network that is away for a while, and a prefix that holds nothing."""

import os
import pty
import signal
import threading
import time

from case_table import case, equal, expect
from endpoint_cases import free_port
from machine import Running, arguments, until
from scenes import OTHER
from stage import BUCKET, ramp
from wire import RESET


def leaving(between, seconds):
    """An effect: the server goes away with this request, and comes back."""
    def effect(request, forward):
        if not between.is_away:
            between.leave()
            threading.Timer(seconds, between.come_back).start()
        return [RESET]
    return effect


@case("F196", "a server that goes and comes back in the middle of a pull costs nothing but time")
def _(place):
    tree = {f"d/{number:03}": ramp(2_000, number) for number in range(60)}
    for key, content in tree.items():
        place.put(key, content)
    between = place.wire()
    between.on("GetObject", leaving(between, 1.2), only=20)
    result = place.in_step(place.pull("--retry-wait", "0.4"))
    equal(place.tree(), tree, "the tree")
    outages = [line for line in result.all("retry") if line["outage"]]
    # Each request that is under way when it leaves finds that out by itself; then one tries for all.
    again = [line["attempt"] for line in outages if line["attempt"] > 1]
    expect(len(again) <= 6, f"several go on trying: {outages}")
    expect(1 <= len(outages) <= 16, f"tries for all: {outages}")
    expect(result.count("retries") < 40, f"each request tried for itself: {result}")


@case("F196", "a server that goes and comes back in the middle of an upload in parts")
def _(place):
    place.write("big", ramp(8 << 20))
    place.write("small", OTHER)
    between = place.wire()
    between.on("UploadPart", leaving(between, 1.2), only=4)
    place.in_step(place.push("--part-size", "1M", "--retry-wait", "0.4"))
    equal((place.get("big"), place.get("small")), (ramp(8 << 20), OTHER), "the objects")
    equal(place.uploads(), 0, "open uploads")


@case("F196", "a server that is away at the first listing is waited for, but not at a terminal")
def _(place):
    place.put("a", OTHER)
    between = place.wire()
    between.leave()
    threading.Timer(1.5, between.come_back).start()
    result = place.in_step(place.pull("--retry-wait", "0.5"))
    expect(all(line["outage"] for line in result.all("retry")), f"tries: {result}")
    expect(result.all("retry"), f"nothing is said of it: {result}")
    equal(place.tree(), {"a": OTHER}, "the tree")
    place.endpoint = f"http://127.0.0.1:{free_port()}"
    process, terminal = pty.fork()
    if process == 0:
        line = [word for word in arguments(place, "pull", "--rebind") if word != "--json"]
        os.execve(line[0], line, place.full_environment())
    text = b""
    try:
        while True:
            text += os.read(terminal, 4096)
    except OSError:
        pass
    os.close(terminal)
    equal(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 6, f"exit of {text!r}")


@case("F196", "every command says at once that it waits for a network, also before its first answer")
def _(place):
    place.put("a", OTHER)
    place.write("mine", OTHER)
    remote = f"oss://{BUCKET}/{place.prefix}"
    linked = place.directory + "-linked"
    equal(place.start("init", linked, remote).status, 0, "init")
    unread = os.path.join(place.folder, "unread")
    address = f"{place.endpoint}/{BUCKET}/a?Expires=9&OSSAccessKeyId=x&Signature=y"
    lines = [("init", unread, remote), ("ls", remote), ("uploads", remote), ("doctor", linked),
             ("get", remote + "/a", unread), ("put", place.path("mine"), remote + "/b"),
             ("status", linked), ("pull", linked), ("push", linked), ("sync", linked),
             ("pull", linked, "--dry-run"), ("pull", unread, remote),
             ("push", place.directory, remote), ("sync", place.directory, remote)]
    away = f"http://127.0.0.1:{free_port()}"
    lines.append(("get", address.replace(place.endpoint, away), unread))
    place.endpoint = away
    for line in lines:
        quick = ["--retries", "2", "--retry-wait", "0.05"]
        result = place.start(*line, *quick, "--json")
        tries = [event["attempt"] for event in result.all("retry") if event["outage"]]
        # A doctor is asked for what is wrong now.
        wanted = [1] if line[0] == "doctor" else [1, 2]
        equal(tries, wanted, f"what {line} says it tries again: {result}")
        if line[0] != "doctor":
            equal(result.status, 6, f"the exit status of {result}")
        text = place.start(*line, *quick).errors
        for number in wanted:
            equal(text.count(f"try {number} of {len(wanted)} in"), 1, f"what {line} says: {text}")


@case("F196", "a listing whose connection is lost says that it is asked for again")
def _(place):
    place.put("a", OTHER)
    between = place.wire()
    between.on("ListObjectsV2", lambda request, forward: [RESET], first=2)
    result = place.start("ls", f"oss://{BUCKET}/{place.prefix}", "--retry-wait", "0.05")
    equal(result.status, 0, f"the exit status of {result}")
    equal(result.errors.count("of 7 in"), 2, f"what is said: {result}")


@case("F196", "a thousand files wait together for a server that does not come back")
def _(place):
    for number in range(200):
        place.write(f"f{number:03}", ramp(100, number))
    between = place.wire()

    def leave(request, forward):
        between.leave()
        return [RESET]
    between.on("PutObject", leave, only=50)
    result = place.push("--retry-wait", "0.2")
    equal(result.status, 6, f"the exit status of {result}")
    expect(result.count("transferred") >= 30, f"what was sent is kept: {result}")
    expect(result.count("failed") <= 16, f"files failed one by one: {result}")
    counts = ["transferred", "failed", "interrupted", "not_tried"]
    if result.count("plan_complete"):
        equal(sum(result.count(name) for name in counts), 200, f"items of {result}")
    expect(result.count("not_tried") > 0, f"what was not tried: {result}")
    said = [result.count("stopped"), result.error["message"],
            *(line["error"] for line in result.all("item") if line["state"] == "failed")]
    expect(all("there is no connection" in text and "/f" not in text for text in said),
           f"why it ended: {said}")
    outages = [line["attempt"] for line in result.all("retry") if line["outage"]]
    # What was under way when it left may still be answered, and begins the count anew.
    expect(outages.count(7) == 1 and len(outages) <= 16, f"tries for all: {outages}")
    between.clear()
    between.come_back()
    place.in_step(place.push())
    equal(len(place.tree()), 200, "files")


@case("F196", "Ctrl-C in the pause ends the run at once")
def _(place):
    place.put("a", OTHER)
    place.in_step(place.pull())
    place.endpoint = f"http://127.0.0.1:{free_port()}"
    running = Running(place, "pull", "--retry-wait", "60", "--rebind")
    time.sleep(1)
    sent = running.send(signal.SIGINT)
    result = running.result()
    equal(result.status, 130, f"the exit status of {result}")
    expect(time.monotonic() - sent < 5, f"it took {time.monotonic() - sent} s")


@case("F199", "a first pull from a prefix that holds nothing links nothing")
def _(place):
    for command in ("pull", "sync"):
        if command == "sync":
            os.mkdir(place.directory)
        result = place.run(command)
        equal(result.status, 1, f"the exit status of {result}")
        expect("there is nothing below" in result.error["message"]
               and "nothing was linked" in result.error["message"], str(result.error))
        expect(not os.path.exists(place.path(".osssync/config")), "it was linked")
    place.put("x/film.mkv", OTHER)
    folder = place.prefix
    place.prefix += "/x/film.mkv"
    result = place.pull()
    equal(result.status, 1, f"the exit status of {result}")
    expect("osssync get" in result.error["message"], str(result.error))
    place.prefix = folder + "/x"
    place.in_step(place.pull())
    equal(place.tree(), {"film.mkv": OTHER}, "the tree")
    # What is empty on purpose: a push and a sync of files begin there, and init links.
    place.directory += "-new"
    place.prefix = folder + "/new"
    place.write("mine", OTHER)
    place.in_step(place.run("sync"))
    place.directory += "-init"
    result = place.start("init", place.directory, f"oss://{BUCKET}/{folder}/empty")
    equal(result.status, 0, f"the exit status of {result}")
