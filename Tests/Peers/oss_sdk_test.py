"""The official Python SDKs as clients of the embedded server: both SDKs, signatures V4 and V1."""

import os
import sys

sys.path.append(os.path.dirname(sys.path[0]))

import oss2_cases  # noqa: E402
import oss_v2_cases  # noqa: E402
from peer import with_server  # noqa: E402

BUCKETS = ["peer-v4", "peer-v1", "peer-classic-v4", "peer-classic-v1"]


def cases(tally, url):
    oss_v2_cases.run(tally, url, "v4", "peer-v4")
    oss_v2_cases.run(tally, url, "v1", "peer-v1")
    oss2_cases.run(tally, url, "v4", "peer-classic-v4")
    oss2_cases.run(tally, url, "v1", "peer-classic-v1")


if __name__ == "__main__":
    sys.exit(with_server(sys.argv[1], BUCKETS + [name + "-versions" for name in BUCKETS], cases))
