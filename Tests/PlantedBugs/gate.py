"""Plants bugs, one after the other, and demands that the tests find each.

A copy of the tree is built once with all of them, each behind a switch. Without a bug every command
of the table must pass; with one, its commands run until one fails: that is what found it.
"""

import argparse
import sys
import time

import patched_tree
import results
import seeds
import suites
import table


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="the numbers of the bugs to plant: 05,12")
    parser.add_argument("--table", action="store_true", help="writes docs/planted-bugs.md")
    parser.add_argument("--seeds", type=int, default=0, metavar="N",
                        help="also plays up to N seeds of the simulator with each bug it can see")
    parser.add_argument("--skip-build", action="store_true", help="takes the last build")
    parser.add_argument("--check-patches", action="store_true",
                        help="only whether all patches fit the tree")
    return parser.parse_args()


def say(text):
    print(text, flush=True)


def demand_soundness(chosen):
    """Without a bug all commands pass, and none passes because it runs nothing."""
    patched_tree.switch_on(0)
    commands = list(dict.fromkeys(command for bug in chosen for command in bug.commands))
    bad = 0
    for command in commands:
        outcome, seconds = suites.execute(command)
        if outcome.failed or outcome.count == 0:
            bad += 1
            say(f"FAILED without a bug: {command}: {outcome.finder}\n{outcome.output[-3000:]}")
        else:
            say(f"sound: {command}: {outcome.count} checks, {seconds:.1f} s")
    return bad == 0


def find(bug):
    """The outcome of the first command that fails; None if the bug is found by none."""
    patched_tree.switch_on(bug.number)
    try:
        for command in bug.commands:
            outcome, seconds = suites.execute(command, bug.limit)
            if outcome.failed:
                say(f"found {bug.number:02} {bug.sentence}\n"
                    f"         {outcome.finder} ({seconds:.1f} s)")
                return outcome
    finally:
        patched_tree.switch_on(0)
    say(f"FAILED {bug.number:02} {bug.sentence}\n         found by none of: "
        + "; ".join(bug.commands))
    return None


def play(bug, limit):
    """What the simulator found within so many seeds, for the table."""
    begin = time.monotonic()
    found = seeds.find(bug, limit)
    what = f"seed {found.seed}: {found.promise}" if found else f"nothing in {limit} seeds"
    say(f"         simulator: {what} ({time.monotonic() - begin:.1f} s)")
    return {"seeds": limit, "seed": found.seed if found else None,
            "promise": found.promise if found else None}


def write_table(known):
    missing = known.missing(table.bugs())
    if missing:
        say("no table: not all was run with this build, of "
            + " ".join(f"{bug.number:02}" for bug in missing))
    else:
        table.write(table.bugs(), known.rows)


def main():
    chosen = options()
    try:
        if chosen.check_patches:
            patched_tree.stage()
            say(f"{len(patched_tree.patches())} patches fit")
            return 0
        if not chosen.skip_build:
            begin = time.monotonic()
            results.Results.forget()
            patched_tree.build()
            if chosen.seeds:
                seeds.build()
            say(f"built in {time.monotonic() - begin:.0f} s")
    except patched_tree.BadPatch as problem:
        say(str(problem))
        return 1
    numbers = {int(number) for number in chosen.only.split(",")} if chosen.only else None
    bugs = [bug for bug in table.bugs() if numbers is None or bug.number in numbers]
    begin = time.monotonic()
    if not demand_soundness(bugs):
        say(f"0 passed, {len(bugs)} failed")
        return 1
    known, found = results.Results(), 0
    for bug in bugs:
        outcome = find(bug)
        found += outcome is not None
        known.note(bug, finder=outcome.finder if outcome else None)
        if chosen.seeds and bug.is_simulated:
            known.note(bug, **play(bug, chosen.seeds))
    if chosen.table:
        write_table(known)
    say(f"{time.monotonic() - begin:.0f} s\n{found} passed, {len(bugs) - found} failed")
    return 0 if found == len(bugs) and bugs else 1


if __name__ == "__main__":
    sys.exit(main())
