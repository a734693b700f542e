"""Runs the cases of the peers' tests on a real bucket, under a random prefix that is cleaned up.

usage: live_test.py FOLDER-OF-PROGRAMS

OSSSYNC_LIVE_REMOTE is oss://BUCKET[/PREFIX] or s3://BUCKET[/PREFIX]; key, secret, region and endpoint
come from the variables that osssync itself reads. Without OSSSYNC_LIVE_REMOTE nothing is run.
"""

import os
import secrets
import sys
import tempfile
import urllib.parse

sys.path.append(os.path.dirname(sys.path[0]))

import remote_cases  # noqa: E402
from remote_place import CONTROL_KEYS, KEYS, Workplace  # noqa: E402
from remote_wire import Bucket  # noqa: E402
from Support.checks import Tally  # noqa: E402


def place_of(remote, environment, program, folder):
    """The bucket and a prefix of it that nobody has; ends with what is missing."""
    url = urllib.parse.urlparse(remote)
    if url.scheme not in ("oss", "s3") or not url.netloc:
        sys.exit("live: OSSSYNC_LIVE_REMOTE must be oss://BUCKET/PREFIX or s3://BUCKET/PREFIX")
    if url.scheme == "oss":
        names = ["OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN", "OSS_REGION",
                 "OSS_ENDPOINT"]
    else:
        names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
                 "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE"]
    found = {name: environment[name] for name in names if environment.get(name)}
    for name in [names[0], names[1], names[3]]:
        if name not in found:
            sys.exit(f"live: {name} is not set")
    region = found[names[3]]
    usual = (f"https://oss-{region}.aliyuncs.com" if url.scheme == "oss"
             else f"https://s3.{region}.amazonaws.com")
    endpoint = found.get(names[4], usual)
    if "://" not in endpoint:
        endpoint = "https://" + endpoint
    bucket = Bucket(url.scheme, url.netloc, endpoint, region, found[names[0]], found[names[1]],
                    found.get(names[2]))
    above = url.path.strip("/")
    base = (above + "/" if above else "") + f"osssync-test-{secrets.token_hex(8)}/"
    return Workplace(program, folder, bucket, base, found)


def main():
    remote = os.environ.get("OSSSYNC_LIVE_REMOTE", "")
    if not remote:
        print("live: skipped, because OSSSYNC_LIVE_REMOTE is not set")
        print("0 passed, 0 failed")
        return 0
    program = os.path.join(os.path.abspath(sys.argv[1]), "osssync")
    size = int(os.environ.get("OSSSYNC_LIVE_BYTES", 64 << 20))
    # The line may be slow.
    tally = Tally(tells_all=True, limit=3_600)

    def run(name, case, *arguments):
        tally.run(f"live: {name}", case, *arguments)

    with tempfile.TemporaryDirectory(prefix="osssync-live-") as folder:
        place = place_of(remote, os.environ, program, folder)
        print(f"live: {place.bucket.scheme}://{place.bucket.name}/{place.base}", flush=True)
        # OSS knows no condition for what is replaced.
        kinds = [False, True] if place.bucket.scheme == "s3" else [False]
        writers = [(existing, length) for existing in kinds for length in (4 << 20, 12 << 20)]
        remote_cases.everything(run, place, KEYS + CONTROL_KEYS, size, writers)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
