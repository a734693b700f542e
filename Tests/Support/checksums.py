"""Checksums as osssync makes them, made without any of its code."""

import struct

MASK = (1 << 64) - 1


def crc64_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0xC96C5795D7870F42 if value & 1 else 0)
        table.append(value)
    return table


CRC64 = crc64_table()


def crc64(data):
    """CRC-64/XZ, as `x-oss-hash-crc64ecma` has it."""
    value = MASK
    for byte in data:
        value = CRC64[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ MASK


def row_check(table, values):
    """The checksum of a row as docs/manifest.md describes it, as SQLite keeps it."""
    data = bytearray(struct.pack("<Q", len(table)) + table.encode())
    for value in values:
        if value is None:
            data += b"\0"
        elif isinstance(value, int):
            data += b"\1" + struct.pack("<q", value)
        elif isinstance(value, float):
            data += b"\2" + struct.pack("<d", value)
        elif isinstance(value, str):
            data += b"\3" + struct.pack("<Q", len(value.encode())) + value.encode()
        else:
            data += b"\4" + struct.pack("<Q", len(value)) + value
    return struct.unpack("<q", struct.pack("<Q", crc64(data)))[0]
