"""Mirrors with encrypted contents: how they are linked, and what their objects hold."""

import ctypes
import ctypes.util
import functools
import hashlib
import os

from Support.files import write
from workplace import REMOTE, Violation

BLOCK = 65_536
TAG = 16
HEADER = 32
PASSWORDS = ("crash points", "and their salt")


def link(stage, *folders):
    """Links the folders with a bucket of encrypted contents."""
    key = os.path.join(stage.place.path("home"), "key")
    write(key, "\n".join(PASSWORDS).encode())
    os.chmod(key, 0o600)
    for folder in folders:
        os.makedirs(folder, exist_ok=True)
        stage.ok(["init", "--encrypt", "--encryption-password-file", key, folder, REMOTE])


@functools.cache
def content_key():
    password, salt = (text.encode() for text in PASSWORDS)
    return hashlib.scrypt(password, salt=salt, n=16_384, r=8, p=1, dklen=80, maxmem=64 << 20)[:32]


def opened(data):
    """The file of an object, as any program can compute it that knows rclone's format."""
    sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
    if data[:8] != b"RCLONE\0\0":
        raise Violation("an object is not encrypted")
    nonce, rest, file = int.from_bytes(data[8:HEADER], "little"), data[HEADER:], b""
    while rest:
        block, rest = rest[:BLOCK + TAG], rest[BLOCK + TAG:]
        plain = ctypes.create_string_buffer(len(block))
        if sodium.crypto_secretbox_open_easy(
                plain, block, ctypes.c_ulonglong(len(block)), nonce.to_bytes(24, "little"),
                content_key()):
            raise Violation("an object cannot be decrypted")
        file, nonce = file + plain.raw[:len(block) - TAG], nonce + 1
    return file
