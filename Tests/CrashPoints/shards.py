"""Where the manifests of a mirror are, cut or not."""

import json
import os

from Support.files import read


def cutting(state):
    """The name of the directory of its shards; None if the mirror is not cut."""
    path = os.path.join(state, "cuts")
    if not os.path.exists(path):
        return None
    return json.loads(read(path).decode().splitlines()[1])["cutting"]


def manifests(state, name):
    folder = os.path.join(state, "shards", name)
    return [os.path.join(folder, number, "manifest.db") for number in sorted(os.listdir(folder))
            if number.isdigit()]


def manifests_of(state):
    name = cutting(state)
    return manifests(state, name) if name else [os.path.join(state, "manifest.db")]
