"""Rows F001 to F006: connections that end too early."""

from case_table import case, equal, expect
from scenes import NEW, OLD, OTHER, ends_in_step, pulled, recovers, skips
from stage import ramp


@case("F001", "a reset before the first byte of an answer is repeated")
def _(place):
    tree = pulled(place)
    place.faults(place.fault("GetObject", {"close": {"when": "before", "how": "rst"}}, first=2))
    result = place.pull("--delete")
    ends_in_step(place, result, tree)


@case("F003", "a reset at any byte of a body goes on from there")
def _(place):
    tree = pulled(place)
    for at in (0, 1, 4095, 4096, 2500, len(NEW) - 1):
        place.put("victim", ramp(len(NEW), at))
        place.faults(place.fault("GetObject", {"cut": {"at": at, "how": "rst"}}, "victim", first=1))
        place.server.forget_requests()
        place.in_step(place.pull())
        equal(place.tree()["victim"], ramp(len(NEW), at), "the victim")
