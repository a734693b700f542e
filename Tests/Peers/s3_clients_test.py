"""Clients of S3 that other people wrote, with the embedded server.

usage: s3_clients_test.py FOLDER-OF-PROGRAMS FOLDER-OF-CLIENTS
"""

import os
import sys

import boto3_cases
import boto3_checks
import s3_raw_cases
import s3_tool_cases
from peer import Server, Tally

BUCKETS = ["boto-bucket", "boto-versions", "boto-checks", "raw-bucket", "aws-bucket",
           "rclone-bucket", "swift-bucket", "five-bucket", "both-bucket"]


def main():
    programs, clients = (os.path.abspath(folder) for folder in sys.argv[1:3])
    server = Server(os.path.join(programs, "osssync-server"), BUCKETS)
    tally = Tally()
    try:
        boto3_cases.run(tally, server.url)
        boto3_checks.run(tally, server.url)
        s3_raw_cases.run(tally, server.url)
        s3_tool_cases.run(tally, server.url, programs, clients)
    finally:
        status = server.stop()
    if status != 0:
        tally.failed += 1
        print(f"FAILED the server ended with status {status}")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
