"""Runs osssync against servers of S3 that other people wrote, on loopback.

usage: s3_servers.py PROGRAMS FOLDER-OF-THE-VIRTUAL-ENVIRONMENT [SERVER…]
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.append(os.path.dirname(sys.path[0]))

import remote_cases  # noqa: E402
from remote_cases import (another_writer, adoption, changed_part, changes,  # noqa: E402
                          empty_directory, kill_and_resume, round_trip)
from remote_place import (CONTROL_KEYS, KEYS, Process, Workplace, expect, free_port,  # noqa: E402
                          same, write)
from remote_wire import Bucket  # noqa: E402
from Support.checks import Tally  # noqa: E402
from Support.processes import CASE_LIMIT  # noqa: E402
from Support.program import account  # noqa: E402
from Support.server import Server  # noqa: E402

KEY, SECRET, BUCKET = "peer-id", "peer-secret-canary", "mirror-bucket"
REGION = "cn-hangzhou"
LARGE = int(os.environ.get("OSSSYNC_PEER_BYTES", 1 << 30))


def make_place(program, folder, port, name):
    """A workplace of its own beneath the server's folder."""
    endpoint = f"http://127.0.0.1:{port}"
    bucket = Bucket("s3", BUCKET, endpoint, "us-east-1", KEY, SECRET)
    home = os.path.join(folder, name)
    os.makedirs(home)
    return Workplace(os.path.join(program, "osssync"), home, bucket, f"{name}/", {
        "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": endpoint})


def profiles(place):
    """The files of the aws tools instead of variables."""
    one, remote = place.directory(), place.prefix()
    write(one, "file", b"x")
    folder = os.path.join(place.home, ".aws")
    os.makedirs(folder)
    write(folder, "credentials", f"[keys]\naws_access_key_id = {KEY}\n"
          f"aws_secret_access_key = {SECRET}\n".encode())
    os.chmod(os.path.join(folder, "credentials"), 0o600)
    answer = json.dumps({"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET})
    write(folder, "answer.json", answer.encode())
    write(folder, "config", (
        f"[profile keys]\nregion = us-east-1\nendpoint_url = http://127.0.0.1:{place.bucket.port}\n"
        "s3 =\n    addressing_style = path\n"
        f"[profile process]\ncredential_process = /bin/cat {folder}/answer.json\n"
        "services = here\n[services here]\ndynamodb =\n  endpoint_url = http://127.0.0.1:1\n"
        f"s3 =\n  endpoint_url = http://127.0.0.1:{place.bucket.port}\n").encode())
    os.chmod(os.path.join(folder, "config"), 0o600)
    bare = {"PATH": os.environ["PATH"], "HOME": place.home}
    place.run("push", one, remote, environment={**bare, "AWS_PROFILE": "keys"})
    place.run("push", one, "--profile", "process", environment=bare)
    wrong = {**place.environment, "AWS_SECRET_ACCESS_KEY": "wrong"}
    refused = place.run("push", one, status=4, environment=wrong)
    expect("Check the access key" in refused["text"], refused["text"])
    missing = place.run("push", one, status=4, environment={
        **bare, "AWS_ENDPOINT_URL": place.environment["AWS_ENDPOINT_URL"]})
    expect("AWS_ACCESS_KEY_ID" in missing["text"], missing["text"])
    shutil.rmtree(folder)


def beside_rclone(place, environment):
    """A tree that rclone copied is adopted; rclone finds what osssync pushed identical."""
    one, remote = place.directory(), place.prefix()
    write(one, "parts.bin", os.urandom(23 << 20))
    write(one, "plain.bin", os.urandom(9 << 20))
    write(one, "small", b"small")
    configuration = os.path.join(place.folder, "rclone.conf")
    write(place.folder, "rclone.conf", (
        "[peer]\ntype = s3\nprovider = SeaweedFS\n"
        f"access_key_id = {KEY}\nsecret_access_key = {SECRET}\n"
        f"endpoint = http://127.0.0.1:{place.bucket.port}\n").encode())
    rclone = [os.path.join(environment, "bin", "rclone"), "--config", configuration]
    there = remote.replace("s3://", "peer:")
    subprocess.run([*rclone, "copy", one, there, "--s3-upload-cutoff", "5M"], check=True, timeout=300)
    done = place.run("push", one, remote)
    expect(done["transferred"] == 0 and done["adopted"] == 3, f"not adopted: {done}")
    write(one, "parts.bin", os.urandom(31 << 20))
    place.run("push", one)
    subprocess.run([*rclone, "check", one, there, "--exclude", "/.osssync/**"], check=True, timeout=300,
                   capture_output=True)
    two = place.directory()
    subprocess.run([*rclone, "copy", there, two], check=True, timeout=300)
    same(one, two)


def backslash(place):
    """SeaweedFS makes a slash of it: the key is missed by the next run, and nothing is lost."""
    one, remote = place.directory(), place.prefix()
    write(one, "back\\slash", b"x")
    place.run("push", one, remote)
    done = place.run("push", one, status=1)
    expect("back" in done["text"] and done["conflicts"] == 1, done["text"])


def backslash_refused(place):
    """Said before anything is sent, once the provider is known; it is known from then on."""
    one, remote = place.directory(), place.prefix()
    write(one, "back\\slash", b"x")
    write(one, "other", b"x")
    for command in [["push", one, remote, "--provider", "seaweedfs"], ["push", one]]:
        done = place.run(*command, status=1)
        expect("rename the file" in done["text"] and done["failed"] == 1, done["text"])
    expect(place.bucket.objects(place.key(remote, "")) == [place.key(remote, "other")],
           "something else was sent")


def unproven(place):
    """Parts of sizes that nobody can guess: the row says that nothing vouches for the content."""
    one, remote = place.directory(), place.prefix()
    key, pieces = place.key(remote, "parts"), [os.urandom((5 << 20) + 1), os.urandom(7 << 20)]
    bucket = place.bucket
    upload = bucket.checked_body("POST", key, [("uploads", "")]).partition("<UploadId>")[2]
    upload = upload.partition("<")[0]
    parts = ""
    for number, piece in enumerate(pieces, 1):
        status, headers, _ = bucket.call(
            "PUT", key, [("partNumber", str(number)), ("uploadId", upload)], body=piece)
        expect(status == 200, f"part {number}: {status}")
        parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{headers['etag']}</ETag></Part>"
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    expect(bucket.call("POST", key, [("uploadId", upload)], body=body)[0] == 200, "not completed")
    bucket.call("PUT", place.key(remote, "plain"), body=b"plain")
    place.run("pull", one, remote)
    with open(os.path.join(one, "parts"), "rb") as file:
        expect(file.read() == b"".join(pieces), "another content came")
    rows = sqlite3.connect(os.path.join(one, ".osssync", "manifest.db")).execute(
        "SELECT CAST(key AS TEXT), crc64 IS NULL FROM entry ORDER BY key").fetchall()
    expect(rows == [("parts", 1), ("plain", 0)], f"recorded as {rows}")
    again = place.run("pull", one)
    expect(again["transferred"] == 0 and again["in_step"], f"not a no-op: {again}")


def virtual_hosts(place):
    one, remote = place.directory(), place.prefix()
    write(one, "a b/c", b"x")
    place.run("push", one, remote, "--addressing", "virtual",
              "--endpoint", f"http://localhost:{place.bucket.port}")


def start_seaweedfs(environment, folder):
    port = free_port()
    write(folder, "s3.json", json.dumps({"identities": [{
        "name": "peer", "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}).encode())
    command = [os.path.join(environment, "bin", "weed"), "server", "-dir", folder, "-ip=127.0.0.1",
               "-ip.bind=127.0.0.1", "-filer", "-s3", f"-s3.port={port}",
               f"-s3.config={folder}/s3.json", "-s3.domainName=localhost", "-volume.max=100",
               "-master.volumeSizeLimitMB=1024"]
    for name in ["master", "volume", "filer", "master.port.grpc", "volume.port.grpc",
                 "filer.port.grpc", "s3.port.grpc", "s3.port.iceberg", "s3.port.lance"]:
        command.append(f"-{name if '.port' in name else name + '.port'}={free_port()}")
    return Process(command, folder, os.path.join(folder, "log")), port


def seaweedfs(run, programs, environment, folder):
    server, port = start_seaweedfs(environment, folder)
    try:
        await_bucket(port)
        large = threading.Thread(target=run, args=(
            f"kill and resume, {LARGE} bytes", kill_and_resume,
            make_place(programs, folder, port, "large-one"), LARGE))
        large.start()
        place = make_place(programs, folder, port, "everything")
        writers = [(existing, size) for existing in (False, True) for size in (100, 12 << 20)]
        # The tag of a part that it copied is another one than that of the same part when it is sent.
        remote_cases.everything(run, place, KEYS + CONTROL_KEYS, 64 << 20, writers, copies=False)
        place = make_place(programs, folder, port, "particular")
        run("profiles", profiles, place)
        run("beside rclone", beside_rclone, place, environment)
        run("unproven", unproven, place)
        run("virtual hosts", virtual_hosts, place)
        run("backslash", backslash, place)
        run("backslash refused", backslash_refused, place)
        large.join()
    finally:
        server.stop()


def rclone_serve(run, programs, environment, folder):
    port = free_port()
    os.makedirs(os.path.join(folder, "root", BUCKET))
    server = Process([os.path.join(environment, "bin", "rclone"), "serve", "s3", "--addr",
                      f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}", "--vfs-cache-mode",
                      "off", os.path.join(folder, "root")], folder, os.path.join(folder, "log"))
    try:
        await_bucket(port)
        place = make_place(programs, folder, port, "everything")
        # Of PUTs at the same time that make a folder it refuses or forgets one now and then
        # (1.75.2; its log: "Dir.Rename error: file does not exist").
        place.options = ("--jobs", "1")
        # A HEAD of one normalization finds the object of another one, and the file is skipped.
        keys = [key for key in KEYS + CONTROL_KEYS if key != "e\u0301"]
        run("round trip", round_trip, place, keys, 20 << 20)
        run("changes", changes, place, keys)
        run("adoption", adoption, place, keys, 4 << 20)
        # It drops the slash of the marker.
        run("empty directory", empty_directory, place)
    finally:
        server.stop()


def moto(run, programs, environment, folder):
    port = free_port()
    server = Process([os.path.join(environment, "bin", "moto_server"), "-H", "127.0.0.1", "-p",
                      str(port)], folder, os.path.join(folder, "log"))
    try:
        await_bucket(port)
        place = make_place(programs, folder, port, "everything")
        # Its routes match no key with a line feed.
        keys = [key for key in KEYS + CONTROL_KEYS if "\n" not in key]
        run("round trip", round_trip, place, keys, 20 << 20)
        run("changes", changes, place, keys)
        run("adoption", adoption, place, keys, 20 << 20)
        run("changed part", changed_part, place)
        for existing in [False, True]:
            name = f"another writer, {'changed' if existing else 'new'}"
            run(name, another_writer, place, existing, 100)
    finally:
        server.stop()


def live(run, programs, environment, folder):
    """The live suite as a user starts it, with the embedded server as its remote."""
    server = Server(os.path.join(programs, "osssync-server"), folder, [BUCKET], [KEY], SECRET,
                    REGION)
    try:
        server.start()
        for scheme in ("oss", "s3"):
            run(f"{scheme}://", run_live, programs, scheme, server.url)
        run("nothing set", run_nothing, programs)
    finally:
        server.stop()


def run_live(programs, scheme, url):
    bucket = Bucket(scheme, BUCKET, url, REGION, KEY, SECRET)
    expect(bucket.call("PUT", "kept/other", body=b"somebody else's")[0] == 200, "no PUT")
    text = start_live(programs, {
        "OSSSYNC_LIVE_REMOTE": f"{scheme}://{BUCKET}/kept",
        **account(scheme, KEY, SECRET, REGION, url)})
    expect(text.splitlines()[-1].endswith(" passed, 0 failed"), text)
    for case in ("round trip", "kill and resume", "another writer", "leaves nothing"):
        expect(f"{case}" in text, f"not run: {case}\n{text}")
    expect(SECRET not in text, "a secret was printed")
    expect(bucket.objects("") == ["kept/other"], f"left: {bucket.objects('')}")


def run_nothing(programs):
    text = start_live(programs, {})
    expect(text.splitlines() == ["live: skipped, because OSSSYNC_LIVE_REMOTE is not set",
                                 "0 passed, 0 failed"], text)


def start_live(programs, variables):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "live_test.py")
    done = subprocess.run([sys.executable, script, programs], timeout=600, text=True,
                          env={"PATH": os.environ["PATH"], **variables}, capture_output=True)
    expect(done.returncode == 0, done.stdout + done.stderr)
    return done.stdout


def await_bucket(port, name=BUCKET):
    """Makes the bucket as soon as the server is up."""
    bucket = Bucket("s3", name, f"http://127.0.0.1:{port}", "us-east-1", KEY, SECRET)
    end = time.monotonic() + 60
    while True:
        try:
            if bucket.call("PUT")[0] in (200, 409):
                return
        except OSError:
            pass
        expect(time.monotonic() < end, "the server does not start")
        time.sleep(0.2)


def main():
    programs, environment, *wanted = (sys.argv[1], sys.argv[2], *sys.argv[3:])
    # Of 1 GiB and more, some are moved at the pace of a slow line.
    tally = Tally(tells_all=True, limit=CASE_LIMIT + (LARGE >> 20))

    def start(server):
        def run(name, case, *arguments):
            tally.run(f"{server.__name__}: {name}", case, *arguments)

        with tempfile.TemporaryDirectory(prefix="osssync-peer-") as folder:
            try:
                server(run, os.path.abspath(programs), os.path.abspath(environment), folder)
            except Exception:
                tally.count(f"{server.__name__}: the server", traceback.format_exc())

    threads = [threading.Thread(target=start, args=(server,))
               for server in [seaweedfs, rclone_serve, moto, live]
               if not wanted or server.__name__ in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
