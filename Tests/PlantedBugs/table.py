"""The table of bugs: what each is, which commands may find it, and which one did."""

import os
import statistics
import textwrap

from patched_tree import HERE, ROOT

DOCUMENT = os.path.join(ROOT, "docs/planted-bugs.md")


class Bug:
    def __init__(self, line):
        number, limit, simulated, sentence, commands = line.rstrip("\n").split("\t")
        self.number = int(number)
        # Whether what it breaks is a part of the simulator's world, of that of several nodes, or of
        # the wider world of this name.
        self.is_simulated = simulated != "no"
        self.simulator_options = {
            "no": [], "yes": [], "nodes": ["--nodes"],
            "encrypted": ["--encrypted", "--worlds", "old"],
        }.get(simulated, ["--worlds", simulated])
        # Seconds after which the bug shows by a command that does not end; only where the end
        # itself is what the bug breaks.
        self.limit = int(limit) if limit != "-" else None
        self.sentence = sentence
        self.commands = commands.split("; ")


def bugs():
    with open(os.path.join(HERE, "bugs.tsv"), encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    return [Bug(line) for line in lines]


HEAD = """# Planted bugs

{count} mistakes that programs of this kind have made, put into a copy of the sources one at a time by
`make planted-bugs`, and the test that found each. Written by `Tests/PlantedBugs/run --table`;
[testing.md](testing.md#planted-bugs) tells how it is done.

{sums}

| bug | what is wrong | found by | simulator |
|---|---|---|---|
"""


def cell(text):
    return text.replace("|", "\\|")


def sums(bugs, rows):
    found = sum(rows[bug.number]["finder"] is not None for bug in bugs)
    played = [rows[bug.number] for bug in bugs if bug.is_simulated and not bug.simulator_options]
    shown = sorted(row["seed"] for row in played if row["seed"])
    text = f"Found: {found} of {len(bugs)}. "
    if shown:
        text += (f"The simulator plays whole histories and knows nothing of these tests: of the "
                 f"{len(played)} bugs within its world it shows {len(shown)}, half of them within "
                 f"{statistics.median_high(shown)} seeds. What it does not show has another net "
                 "behind it, or needs an accident that is rare.")
    return textwrap.fill(text, 110)


def seeds(bug, row):
    if not bug.is_simulated:
        return "beyond it"
    kind = " of several nodes" if bug.simulator_options else ""
    if row["seed"]:
        return f"seed {row['seed']}{kind}: {row['promise']}"
    return f"not in {row['seeds']} seeds{kind}"


def write(bugs, rows):
    """Writes the document; a bug that nothing found says so."""
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(HEAD.format(count=len(bugs), sums=sums(bugs, rows)))
        for bug in bugs:
            row = rows[bug.number]
            file.write(f"| {bug.number:02} | {cell(bug.sentence)} "
                       f"| {cell(row['finder'] or 'nothing')} | {cell(seeds(bug, row))} |\n")
