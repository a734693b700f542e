"""Changes that say where they belong by their lines alone, so that sources may move around them.

A patch is a list of hunks. `@@ PATH` begins one; of the lines after it, those with `-` go, those
with `+` come and those with a space stay. The lines that go or stay must be at one place of the
file; if there are none, the hunk makes the file.
"""

import os


class Hunk:
    def __init__(self, path):
        self.path = path
        self.lines = []

    @property
    def text(self):
        return "".join([f"@@ {self.path}\n", *self.lines])

    def side(self, mark):
        return [line[1:] for line in self.lines if line[0] in (" ", mark)]

    def apply(self, folder):
        """Changes the file; the number of places that fit, of which there must be one."""
        target = os.path.join(folder, self.path)
        old, new = self.side("-"), self.side("+")
        lines = []
        if os.path.exists(target):
            with open(target, encoding="utf-8") as file:
                lines = file.readlines()
        if old:
            places = [index for index in range(len(lines))
                      if lines[index:index + len(old)] == old]
        else:
            places = [] if lines else [0]
        if len(places) != 1:
            return len(places)
        lines[places[0]:places[0] + len(old)] = new
        with open(target, "w", encoding="utf-8") as file:
            file.writelines(lines)
        return 1


def read(path):
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("@@ "):
                found.append(Hunk(line[3:].strip()))
            elif found and line[0] in " +-":
                found[-1].lines.append(line)
            else:
                raise ValueError(f"{path}: '{line.strip()}' belongs to no hunk")
    return found
