"""The table of cases: what rows of the register each shows, and its sentence."""

import zlib

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


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def short(value):
    """A text for a message: long contents only by their length."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {short(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(short(item) for item in value) + "]"
    if isinstance(value, bytes) and len(value) > 40:
        return f"<{len(value)} bytes, CRC {zlib.crc32(value):08x}>"
    return repr(value)[:2000]


def equal(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: found {short(found)}, wanted {short(wanted)}")
