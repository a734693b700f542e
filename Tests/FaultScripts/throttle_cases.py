"""Row F243: a store that limits the requests of all tasks of a round together."""

import os

from case_table import case, equal, expect
from machine import Running
from shards import done, ended, without
from stage import BUCKET
from Support.files import contents, write_below

# The store answers so many requests a second, and so many at once at the start; others get 503.
RATE = 100
TASKS = 8
# At least OBJECTS / RATE seconds for each direction; `make soak` has more of them.
OBJECTS = int(os.environ.get("OSSSYNC_THROTTLED_OBJECTS", "600"))
MOST_REQUESTS = 10 * OBJECTS
LIMIT = 120 + OBJECTS // 5
# The waiting times that users have.
PATIENT = ["--retry-wait", "30", "--timeout", "30"]


def throttle(place, rate=RATE):
    """Sets one limit for the requests of all tasks."""
    place.faults({"match": {"above": rate},
                  "effect": {"fail": {"status": 503, "code": "SlowDown"}}})


def small_files(folder):
    """Writes files with different contents into twenty directories."""
    for number in range(OBJECTS):
        write_below(folder, f"{number % 20:02}/f{number:05}", b"%d\n" % number * (number % 30 + 1))
    return contents(folder)


def plainly(place, command, folder):
    """Runs a command on another directory, without shards and without a limit."""
    place.faults()
    place.most_requests = MOST_REQUESTS
    place.in_step(place.start(command, folder, f"oss://{BUCKET}/{place.prefix}", "--json"))
    return contents(folder)


def cut_by_count(place):
    result = place.run("shard", "--count", str(2 * TASKS))
    equal((result.status, len(result.all("cut"))), (0, 2 * TASKS), f"the cutting: {result}")


def all_tasks(place, command):
    """Runs all tasks of a round at the same time; each must complete its shards."""
    throttle(place)
    place.server.forget_requests()
    tasks = [Running(place, command, "--delete", "--shard", f"{number}/{TASKS}", "--round", "one",
                     *PATIENT) for number in range(TASKS)]
    results = [place.in_step(each.result(LIMIT).check(MOST_REQUESTS)) for each in tasks]
    equal(sum(result.count("transferred") for result in results), OBJECTS, "transferred")
    were_refused(place, command, results)


def were_refused(place, what, results):
    """Checks that requests were refused, and that each of these was sent again."""
    requests = place.server.requests()
    refused = sum(each["status"] == 503 for each in requests)
    expect(refused, "no request was refused")
    equal(sum(len(result.all("retry")) for result in results), refused, "requests sent again")
    seconds = max(result.seconds for result in results)
    print(f"F243 {what}: {len(requests)} requests, {refused} refused, {seconds:.1f} s", flush=True)


@case("F243", "eight pulling tasks that the store throttles leave what one pull leaves")
def _(place):
    source, plain = (os.path.join(place.folder, name) for name in ("source", "plain"))
    tree = small_files(source)
    plainly(place, "push", source)
    cut_by_count(place)
    all_tasks(place, "pull")
    ended(place, "one", 0, *PATIENT)
    equal(place.tree(), tree, "the tree")
    equal(plainly(place, "pull", plain), tree, "the tree of one pull")


@case("F243", "eight pushing tasks and a finish that the store throttles complete their work")
def _(place):
    plain = os.path.join(place.folder, "plain")
    tree = small_files(place.directory)
    cut_by_count(place)
    all_tasks(place, "push")
    ended(place, "one", 0, *PATIENT)
    equal(plainly(place, "pull", plain), tree, "the objects")
    # Before it deletes a file, `finish` requests the object.
    gone = sorted(tree)[::6]
    for name in gone:
        os.remove(os.path.join(plain, name))
    place.in_step(place.start("push", plain, "--delete", "--json"))
    done(place, "0/1", "two")
    # So few that it asks for more, however busy the machine is.
    throttle(place, RATE // 5)
    place.server.forget_requests()
    were_refused(place, "finish", [ended(place, "two", len(gone), *PATIENT)])
    equal(place.tree(), without(tree, *gone), "the tree after the deletions")
