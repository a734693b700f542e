"""Runs the cases of the security suite.

usage: main.py OSSSYNC [words of the cases to run]
"""

import concurrent.futures
import sys

import cases_display
import cases_keys
import cases_links
import cases_local
import cases_nested
import cases_responses
import cases_secrets
import cases_transport
import cases_xml
from harness import CASES, Tally

MODULES = [cases_keys, cases_transport, cases_xml, cases_responses, cases_display, cases_secrets,
           cases_local, cases_nested, cases_links]


def main(program, words):
    wanted = [entry for entry in CASES if all(word in entry[0] for word in words)]
    tally = Tally(program)
    # Most of the time passes in pauses between attempts.
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(tally.run, wanted))
    slowest = ", ".join(f"{name} {seconds:.1f} s" for seconds, name in
                        sorted(tally.slowest, reverse=True)[:3])
    print(f"security: {len(wanted)} cases; slowest: {slowest}")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 0 if tally.failed == 0 and tally.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
