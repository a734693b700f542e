"""Runs the cases of the security suite.

usage: main.py OSSSYNC [words of the cases to run]
"""

import concurrent.futures
import os
import signal
import sys

sys.path.append(os.path.dirname(sys.path[0]))

import cases_display  # noqa: E402
import cases_keys  # noqa: E402
import cases_links  # noqa: E402
import cases_local  # noqa: E402
import cases_nested  # noqa: E402
import cases_responses  # noqa: E402
import cases_secrets  # noqa: E402
import cases_transport  # noqa: E402
import cases_xml  # noqa: E402
from harness import CASES, Place  # noqa: E402
from Support.checks import Tally  # noqa: E402

MODULES = [cases_keys, cases_transport, cases_xml, cases_responses, cases_display, cases_secrets,
           cases_local, cases_nested, cases_links]


def perform(program, body):
    place = Place(program)
    try:
        body(place)
    finally:
        place.close()


def main(program, words):
    # A shell starts what is in its background with SIGINT ignored, which osssync then leaves so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = [entry for entry in CASES if all(word in entry[0] for word in words)]
    tally = Tally()
    # Most of the time passes in pauses between attempts.
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(lambda entry: tally.run(entry[0], perform, program, entry[1]), wanted))
    print(f"security: {len(wanted)} cases; slowest:", *tally.slowest(3), sep="\n")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
