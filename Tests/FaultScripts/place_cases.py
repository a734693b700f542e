"""Rows F172, F173, F182 and F193: where the directory, its disks and its state are."""

import os
import shutil

from case_table import case, equal, expect
from machine import Running
from stage import ramp

FATES = {
    "is removed": lambda path: shutil.rmtree(path),
    "is moved away": lambda path: os.rename(path, path + ".away"),
    "is replaced by a copy of itself": lambda path: replace(path),
}


def replace(path):
    os.rename(path, path + ".away")
    shutil.copytree(path + ".away", path)


@case("F172", "a directory that goes away while the run looks at the objects deletes none of them")
def _(place):
    for fate, happens in FATES.items():
        for index in range(40):
            place.write(f"f{index:02}", ramp(100, index))
        place.in_step(place.push())
        for index in range(15):
            os.remove(place.path(f"f{index:02}"))
        # The second listing is the look right before the deletions.
        place.server.forget_requests()
        place.faults(place.fault("ListObjectsV2", {"delay": 2}, **{"from": 2}))
        running = Running(place, "push", "--delete")
        listed = lambda: len(place.requests("ListObjectsV2")) == 1
        while not listed():
            expect(running.process.poll() is None, "the run ended before its second listing")
        happens(place.directory)
        result = running.finish()
        place.faults()
        equal(result.status, 3, f"a directory that {fate}: {result}")
        expect("moved, replaced or removed during the run" in result.error["message"], f"{result}")
        equal(result.count("deleted"), 0, f"deletions of {result}")
        for index in range(40):
            equal(place.get(f"f{index:02}"), ramp(100, index), f"the object f{index:02}")
        for path in (place.directory, place.directory + ".away"):
            shutil.rmtree(path, ignore_errors=True)
