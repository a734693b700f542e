"""Row F581: an encrypted directory (fscrypt) whose key is not there."""

import fcntl
import os
import shutil
import struct
import subprocess

from case_table import case, equal, expect
from machine import skipped
from scenes import OTHER


def number(direction, ordinal, size):
    return direction << 30 | size << 16 | ord("f") << 8 | ordinal


ADD_KEY, REMOVE_KEY, SET_POLICY = number(3, 23, 80), number(3, 24, 64), number(2, 19, 12)


class Disk:
    """An ext4 file system in a file, in which directories can be encrypted."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "disk")
        image = self.path + ".img"
        with open(image, "wb") as file:
            file.truncate(40 << 20)
        os.mkdir(self.path)
        subprocess.run(["mkfs.ext4", "-q", "-O", "encrypt", image], check=True, timeout=60)
        subprocess.run(["mount", "-o", "loop", image, self.path], check=True, timeout=60)

    def control(self, request, words, path=None):
        descriptor = os.open(path or self.path, os.O_RDONLY)
        try:
            words = bytearray(words)
            fcntl.ioctl(descriptor, request, words, True)
            return bytes(words)
        finally:
            os.close(descriptor)

    def unlock(self):
        key = struct.pack("<II32sII32s", 2, 0, b"", 64, 0, b"") + b"k" * 64
        return self.control(ADD_KEY, key)[8:24]

    def encrypt(self, path, name):
        self.control(SET_POLICY, struct.pack("<BBBB4s16s", 2, 1, 4, 3, b"", name), path)

    def lock(self, name):
        self.control(REMOVE_KEY, struct.pack("<II32sI5I", 2, 0, name, 0, 0, 0, 0, 0, 0))
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
            file.write("2")

    def close(self):
        subprocess.run(["umount", self.path], check=False, timeout=60)


NAMES = [f"private/{index}.mkv" for index in range(4)] + [f"private/link{index}.rclonelink" for index in range(4)]


@case("F581", "a locked directory is one that cannot be read, whatever its names are")
def _(place):
    if os.getuid() != 0 or shutil.which("mkfs.ext4") is None:
        return skipped("only root mounts a disk image")
    disk = None
    try:
        try:
            disk = Disk(place.folder)
            name = disk.unlock()
            private = os.path.join(disk.path, "tree", "private")
            os.makedirs(private)
            disk.encrypt(private, name)
        except (OSError, subprocess.CalledProcessError):
            return skipped("this kernel mounts no image, or encrypts no directories")
        place.directory = os.path.join(disk.path, "tree")
        for index in range(4):
            place.write(f"private/{index}.mkv", OTHER)
            place.write(f"open{index}.mkv", OTHER)
            os.symlink("nowhere", place.path(f"private/link{index}"))
        options = ("--delete", "--links", "store")
        chosen = (*options, "--exclude", "*", "--include", "*/", "--include", "*.mkv",
                  "--include", "*.rclonelink")
        place.in_step(place.push(*chosen))
        disk.lock(name)
        for words in (options, chosen):
            result = place.push(*words)
            equal((result.status, result.count("deleted"), result.count("transferred")), (1, 0, 0), str(result))
            expect("cannot be read" in result.said("private"), str(result))
            expect(all(place.get(name) is not None for name in NAMES), str(result))
        disk.unlock()
        place.in_step(place.push(*chosen))
        expect(all(place.get(name) is not None for name in NAMES), "unlocked again")
    finally:
        if disk is not None:
            disk.close()
