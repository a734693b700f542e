"""What the runs since the last build found, kept so that a table can be made of several."""

import json
import os

import patched_tree

FILE = os.path.join(patched_tree.PLACE, "results.json")


class Results:
    def __init__(self):
        self.rows = {}
        if os.path.exists(FILE):
            with open(FILE, encoding="utf-8") as file:
                self.rows = {int(number): row for number, row in json.load(file).items()}

    def note(self, bug, **values):
        self.rows.setdefault(bug.number, {}).update(values)
        with open(FILE, "w", encoding="utf-8") as file:
            json.dump(self.rows, file, indent=1)

    def missing(self, bugs):
        """The bugs of which something is not known that the table tells."""
        def lacks(bug):
            row = self.rows.get(bug.number, {})
            return "finder" not in row or bug.is_simulated and "seeds" not in row
        return [bug for bug in bugs if lacks(bug)]

    @staticmethod
    def forget():
        if os.path.exists(FILE):
            os.remove(FILE)
