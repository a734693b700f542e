"""Rows F215 and F216: changes that the system does not report, or not all of them."""

import json
import os
import signal

from case_table import case, equal, expect
from machine import pretending
from scenes import FRESH, NEW, OLD
from stage import BUCKET
from Support.processes import PATIENCE, Started


class Watch(Started):
    """A watch under way, whose events are waited for."""

    def __init__(self, place, *options):
        link = place.start("init", place.directory, f"oss://{BUCKET}/{place.prefix}")
        equal(link.status, 0, f"linking: {link}")
        super().__init__(
            [place.server.osssync, "watch", "--json", "--settle", "1s", *options, place.directory],
            place.full_environment())
        place.closers.append(self.end)

    def until(self, event, **members):
        while line := self.line():
            found = json.loads(line)
            if found["event"] == event and all(found.get(name) == value
                                               for name, value in members.items()):
                return found
        raise AssertionError(f"no {event} with {members}: {self.last_words()}")

    def stop(self):
        self.send(signal.SIGTERM)
        self.wait(PATIENCE)
        equal(self.status, 143, "the exit status of the watch")


@case("F215", "more changes than the system keeps reports of lose none of them")
def _(place):
    place.write("a", OLD)
    watch = Watch(place)
    watch.until("summary", in_step=True)
    # While it does not read, reports are lost.
    watch.send(signal.SIGSTOP)
    os.waitpid(watch.pid, os.WUNTRACED)
    with open("/proc/sys/fs/inotify/max_queued_events") as limit:
        most = int(limit.read())
    for _ in range(most // 2):
        os.rename(place.path("a"), place.path("moved"))
        os.rename(place.path("moved"), place.path("a"))
    place.write("new/b", NEW)
    place.write("c", FRESH)
    watch.send(signal.SIGCONT)
    watch.until("round", everything=True, reason="reports of changes were lost")
    watch.until("summary")
    equal((place.get("new/b"), place.get("c")), (NEW, FRESH), "what was made meanwhile")
    # Also beneath a directory of which the report was lost.
    place.write("new/d", NEW)
    watch.until("round", paths=["new/d"])
    watch.until("summary")
    equal(place.get("new/d"), NEW, "what was made after it")
    watch.stop()


@case("F216", "a directory whose changes are not reported is pushed again and again")
def _(place):
    for pretended in ("network", "fuse", "watches"):
        if not pretending(place, **{pretended: "2"}):
            return
        place.prefix += "x"
        place.directory += "x"
        place.write("d/e/a", OLD)
        watch = Watch(place, "--every", "1s")
        cause = watch.until("polling", interval=1)["reason"]
        words = "sysctl fs.inotify.max_user_watches" if pretended == "watches" else "network or FUSE"
        expect(words in cause, f"why it polls: {cause}")
        watch.until("summary")
        place.write("d/e/b", NEW)
        watch.until("round", reason="it is time again")
        watch.until("item", key="d/e/b", state="done")
        equal(place.get("d/e/b"), NEW, f"what was made, {pretended}")
        watch.stop()
