"""Contents, files, and the trees that runs leave."""

import os


def ramp(size, seed=0):
    """Content in which every misplaced byte shows."""
    period = bytes((i * 31 + seed) % 251 for i in range(251 * 13))
    return (period * (size // len(period) + 1))[:size]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def write_below(folder, name, content, modified=None):
    """Writes a file with the directories above it, and with a time if one is given."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write(path, content)
    if modified is not None:
        os.utime(path, ns=(modified, modified))


def files(mirror):
    """The name below `mirror` and the path of each file, but of those in its own `.osssync`."""
    for folder, folders, names in os.walk(mirror):
        if folder == mirror:
            folders[:] = [name for name in folders if name != ".osssync"]
        for name in names:
            path = os.path.join(folder, name)
            yield os.path.relpath(path, mirror), path


def contents(mirror):
    """The content of each file by its name."""
    return {name: read(path) for name, path in files(mirror)}
