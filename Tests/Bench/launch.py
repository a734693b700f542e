"""Runs one program and prints what it cost: usage: launch.py WORDS…

A program's largest memory counts that of the process which started it: this one is small.
"""

import os
import sys
import time


def main():
    begin = time.monotonic()
    pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                          file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - begin
    print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10,
          os.waitstatus_to_exitcode(status))


main()
