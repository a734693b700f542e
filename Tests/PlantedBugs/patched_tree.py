"""A copy of the tree with every bug in it, each behind a switch, and its build."""

import filecmp
import os
import shutil
import subprocess

import hunks

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
HERE = os.path.join(ROOT, "Tests/PlantedBugs")
PATCHES = os.path.join(HERE, "patches")
PLACE = os.path.join(ROOT, ".build/planted")
STAGE = os.path.join(PLACE, "stage")
TREE = os.path.join(PLACE, "tree")
# Read by the switch at the start of every program that was built in the tree.
SWITCH = os.path.join(TREE, "planted-bug")


class BadPatch(Exception):
    """A patch that does not fit the tree any more."""


def patches():
    names = [name for name in os.listdir(PATCHES) if name.endswith(".patch")]
    return sorted(names, key=lambda name: int(name.split("-")[0]))


def files():
    """What the tree is made of: what git has, and what it may get."""
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE)
    names = [os.fsdecode(name) for name in answer.stdout.split(b"\0") if name]
    return [name for name in names if os.path.isfile(os.path.join(ROOT, name))]


def copy_to_stage():
    shutil.rmtree(STAGE, ignore_errors=True)
    for name in files():
        target = os.path.join(STAGE, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), target)


def stage():
    """Makes the stage: a fresh copy, and all patches in order."""
    copy_to_stage()
    for name in patches():
        for hunk in hunks.read(os.path.join(PATCHES, name)):
            places = hunk.apply(STAGE)
            if places != 1:
                raise BadPatch(f"{name}: {hunk.path}: the lines of the hunk stand at {places} "
                               f"places:\n{hunk.text}"
                               "Write the patch anew for the sources of now.")


def update():
    """Brings the tree to what the stage is; what is the same is left alone, for the build."""
    wanted = set()
    for folder, _, names in os.walk(STAGE):
        for name in names:
            source = os.path.join(folder, name)
            path = os.path.relpath(source, STAGE)
            wanted.add(path)
            target = os.path.join(TREE, path)
            if os.path.isfile(target) and filecmp.cmp(source, target, shallow=False):
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)
    for folder, folders, names in os.walk(TREE):
        if folder == TREE:
            folders[:] = [name for name in folders if name != ".build"]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), TREE)
            if path not in wanted:
                os.remove(os.path.join(TREE, path))


def build():
    """Builds tests and programs once, with all bugs in and none switched on."""
    stage()
    update()
    subprocess.run(["swift", "build", "--quiet", "--package-path", TREE, "--build-tests"],
                   check=True)


def switch_on(number):
    """Chooses the bug of all programs that start from now on; 0 for none."""
    if number == 0:
        if os.path.exists(SWITCH):
            os.remove(SWITCH)
        return
    with open(SWITCH, "w", encoding="ascii") as file:
        file.write(str(number))
