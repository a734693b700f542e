"""Clients of S3 that other people wrote, with the embedded server.

usage: s3_clients_test.py FOLDER-OF-PROGRAMS FOLDER-OF-CLIENTS
"""

import os
import sys

sys.path.append(os.path.dirname(sys.path[0]))

import boto3_cases  # noqa: E402
import boto3_checks  # noqa: E402
import s3_raw_cases  # noqa: E402
import s3_tool_cases  # noqa: E402
from peer import with_server  # noqa: E402

BUCKETS = ["boto-bucket", "boto-versions", "boto-checks", "raw-bucket", "aws-bucket",
           "rclone-bucket", "swift-bucket", "five-bucket", "both-bucket"]


def main():
    programs, clients = (os.path.abspath(folder) for folder in sys.argv[1:3])

    def cases(tally, url):
        boto3_cases.run(tally, url)
        boto3_checks.run(tally, url)
        s3_raw_cases.run(tally, url)
        s3_tool_cases.run(tally, url, programs, clients)
    return with_server(os.path.join(programs, "osssync-server"), BUCKETS, cases)


if __name__ == "__main__":
    sys.exit(main())
