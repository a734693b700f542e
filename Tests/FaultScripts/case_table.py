"""The table of cases: what rows of the register each shows, and its sentence."""

from Support.checks import equal, expect  # noqa: F401

CASES = []


class Case:
    def __init__(self, rows, sentence, body):
        self.rows = rows.split()
        self.sentence = sentence
        self.body = body

    @property
    def name(self):
        return " ".join(self.rows) + " " + self.sentence

    def matches(self, words):
        return not words or any(word in self.rows or word in self.sentence for word in words)


def case(rows, sentence):
    """Registers a function that takes a Place."""
    def register(body):
        CASES.append(Case(rows, sentence, body))
        return body
    return register
