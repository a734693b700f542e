"""The official Python SDKs as clients of the embedded server: both SDKs, signatures V4 and V1."""

import sys

import oss2_cases
import oss_v2_cases
from peer import Server, Tally


def main():
    buckets = ["peer-v4", "peer-v1", "peer-classic-v4", "peer-classic-v1"]
    server = Server(sys.argv[1], buckets + [name + "-versions" for name in buckets])
    tally = Tally()
    try:
        oss_v2_cases.run(tally, server.url, "v4", "peer-v4")
        oss_v2_cases.run(tally, server.url, "v1", "peer-v1")
        oss2_cases.run(tally, server.url, "v4", "peer-classic-v4")
        oss2_cases.run(tally, server.url, "v1", "peer-classic-v1")
    finally:
        status = server.stop()
    if status != 0:
        tally.failed += 1
        print(f"FAILED the server ended with status {status}")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
