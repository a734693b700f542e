"""Cases with the command lines aws, rclone, s5cmd and osssync itself."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import tempfile
import urllib.request

from peer import ACCESS_KEY, REGION, SECRET, equal, expect, ramp
from Support.files import contents, write_below
from Support.program import lines

MIB = 1 << 20
NAMES = ["a b", "a+b", "a%20b", "a&b<c>\"d'", "ü/é", "日本語/キー.txt", "😀", "q?x=1#y", "~tilde-._",
         "star*(paren)!", "=eq;semi,comma:colon@at$", "{curly}[square]|^`", "zero", "deep/er/file"]


def make_tree(folder, count=60, with_large=True):
    for index, name in enumerate(NAMES + [f"many/{number:03}" for number in range(count)]):
        write_below(folder, name, b"" if name == "zero" else ramp(1_000 + index * 37),
                    1_600_000_000_123_456_789 + index)
    if with_large:
        write_below(folder, "large.bin", ramp(23 * MIB + 4_711), 1_600_000_000_987_654_321)
    return folder


def tree(folder):
    """The digest of every file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents(folder).items()}


class Tools:
    def __init__(self, url, programs, clients, folder):
        self.url, self.programs, self.clients, self.folder = url, programs, clients, folder
        self.environment = {
            "PATH": f"{clients}:{os.environ['PATH']}", "HOME": folder, "TMPDIR": folder,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": url,
            "OSS_ACCESS_KEY_ID": ACCESS_KEY, "OSS_ACCESS_KEY_SECRET": SECRET,
            "RCLONE_CONFIG_PEER_TYPE": "s3", "RCLONE_CONFIG_PEER_PROVIDER": "Other",
            "RCLONE_CONFIG_PEER_ENDPOINT": url, "RCLONE_CONFIG_PEER_REGION": REGION,
            "RCLONE_CONFIG_PEER_ENV_AUTH": "true", "LANG": "C.UTF-8", "S3_ENDPOINT_URL": url}

    def run(self, *command, status=0):
        done = subprocess.run(command, env=self.environment, cwd=self.folder, timeout=300,
                              capture_output=True, text=True)
        expect(done.returncode == status,
               f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def osssync(self, *arguments):
        return self.run(os.path.join(self.programs, "osssync"), *arguments, "--endpoint", self.url,
                        "--region", REGION, "--progress", "none")

    def requests(self):
        """What was asked since the last call."""
        with urllib.request.urlopen(self.url + "/-/requests", timeout=20) as answer:
            asked = lines(answer.read())
        urllib.request.urlopen(urllib.request.Request(
            self.url + "/-/requests", method="DELETE"), timeout=20).close()
        return asked

    def path(self, name):
        return os.path.join(self.folder, name)

    def transfers(self):
        """What moved or changed content since the last look."""
        return [(item["operation"], item.get("key")) for item in self.requests()
                if item["method"] in ("PUT", "POST", "DELETE")
                or item["operation"] == "GetObject"]

    def test_aws_sync(self):
        up, down = make_tree(self.path("aws-up")), self.path("aws-down")
        self.run("aws", "s3", "sync", up, "s3://aws-bucket/tree", "--no-progress")
        self.requests()
        self.run("aws", "s3", "sync", up, "s3://aws-bucket/tree", "--no-progress")
        equal(self.transfers(), [])
        self.run("aws", "s3", "sync", "s3://aws-bucket/tree", down, "--no-progress")
        equal(tree(down), tree(up))
        os.remove(os.path.join(up, "a b"))
        self.run("aws", "s3", "sync", "--delete", up, "s3://aws-bucket/tree", "--no-progress")
        listed = self.run("aws", "s3", "ls", "--recursive", "s3://aws-bucket/tree/")
        equal(len(listed.splitlines()), len(tree(up)))
        self.run("aws", "s3", "mv", "s3://aws-bucket/tree/zero", "s3://aws-bucket/moved")
        self.run("aws", "s3", "rm", "--recursive", "s3://aws-bucket/")
        equal(self.run("aws", "s3", "ls", "--recursive", "s3://aws-bucket/"), "")

    def test_rclone_sync(self):
        up, down = make_tree(self.path("rclone-up")), self.path("rclone-down")
        split = ["--s3-upload-cutoff", "8M", "--s3-chunk-size", "5M"]
        self.run("rclone", "sync", up, "peer:rclone-bucket/tree", *split)
        self.run("rclone", "check", up, "peer:rclone-bucket/tree")
        self.requests()
        self.run("rclone", "sync", up, "peer:rclone-bucket/tree", *split)
        equal(self.transfers(), [])
        # The modification times that rclone wrote are the ones that osssync looks for.
        self.osssync("push", up, "s3://rclone-bucket/tree")
        # The beginning of one tells that the prefix is not encrypted.
        equal([operation for operation, _ in self.transfers()], ["GetObject"])
        self.run("rclone", "sync", "peer:rclone-bucket/tree", down)
        equal(tree(down), tree(up))
        self.run("rclone", "touch", "-t", "2020-01-02T03:04:05", "peer:rclone-bucket/tree/a+b")
        self.run("rclone", "moveto", "peer:rclone-bucket/tree/a b", "peer:rclone-bucket/moved")
        self.run("rclone", "purge", "peer:rclone-bucket/tree")
        equal(self.run("rclone", "lsf", "-R", "peer:rclone-bucket").split(), ["moved"])

    def test_crypt_of_rclone(self):
        """Each of the two reads what the other has encrypted, of every size around a block's border."""
        borders = ({0, 1, 2, 15, 16, 17, 32, 48, 5 * MIB, 11 * MIB + 3}
                   | {block * 65_536 + rest for block in (1, 2, 3)
                      for rest in (-17, -16, -1, 0, 1, 15, 16, 17)})
        some = random.Random(34)
        for dialect in ("oss", "s3"):
            for passwords in (1, 2):
                sizes = sorted(borders | {some.randrange(200_000) for _ in range(100)})
                remote = f"{dialect}://rclone-bucket/crypt-{dialect}-{passwords}"
                self.check_crypt(remote, passwords, sizes)

    def check_crypt(self, remote, passwords, sizes):
        """The same of one remote, with a key of so many passwords."""
        name = os.path.basename(remote)
        up, down, back = (self.path(f"{name}-{place}") for place in ("up", "down", "back"))
        for size in sizes:
            time = 1_600_000_000_000_000_000 + size
            write_below(up, f"osssync/d {size % 7}/é {size}", ramp(size), time)
            write_below(back, f"rclone/{size}", ramp(size + 1)[1:], time)
        key = self.path(name + ".key")
        program = os.path.join(self.programs, "osssync")
        self.run(program, "keygen", key)
        with open(key, encoding="utf-8") as file:
            secrets = file.read().split()[:passwords]
        with open(key, "w", encoding="utf-8") as file:
            file.write("\n".join(secrets) + "\n")
        shown = [self.run("rclone", "obscure", secret).strip() for secret in secrets]
        second = f",password2={shown[1]}" if passwords == 2 else ""
        crypt = [f":crypt,remote='peer:rclone-bucket/{name}',filename_encryption=off,suffix=none,"
                 f"directory_name_encryption=false,password={shown[0]}{second}:"]
        for folder in (up, down):
            os.makedirs(folder, exist_ok=True)
            self.run(program, "init", "--encrypt", "--encryption-password-file", key,
                     "--endpoint", self.url, "--region", REGION, folder, remote)
        self.osssync("push", up)
        read = self.path(name + "-read")
        self.run("rclone", "copy", *crypt, read)
        equal(tree(read), {name: digest for name, digest in tree(up).items()
                           if not name.startswith(".osssync/")})
        parts = ("--s3-upload-cutoff", "6M", "--s3-chunk-size", "5M")
        self.run("rclone", "copy", back, *crypt, *parts)
        self.osssync("pull", down)
        found = {name: digest for name, digest in tree(down).items()
                 if not name.startswith(".osssync/")}
        equal(found, {**tree(read), **tree(back)})
        self.requests()
        self.osssync("push", down)
        equal(self.transfers(), [])
        self.run("rclone", "purge", f"peer:rclone-bucket/{name}")

    def test_links_of_rclone(self):
        """Each of the two makes links of what the other stored, with their times."""
        up, down, back = (self.path("links-" + name) for name in ("up", "down", "back"))
        write_below(up, "d/f", b"file")
        texts = {"to-file": "d/f", "d/up": "..", "nothing": "no/such", "out": "/etc/hostname"}
        for name, text in texts.items():
            os.symlink(text, os.path.join(up, name))
            os.utime(os.path.join(up, name), ns=(0, 1_600_000_000_123_456_789),
                     follow_symlinks=False)

        def links(folder):
            found = {}
            for name in texts:
                path = os.path.join(folder, name)
                found[name] = os.readlink(path), os.lstat(path).st_mtime_ns
            return found

        self.run("rclone", "copy", "--links", up, "peer:rclone-bucket/links")
        self.osssync("pull", down, "s3://rclone-bucket/links", "--links", "store")
        equal(links(down), links(up), "the links that osssync made")
        self.osssync("push", up, "s3://rclone-bucket/links-back", "--links", "store")
        self.run("rclone", "copy", "--links", "peer:rclone-bucket/links-back", back)
        equal(links(back), links(up), "the links that rclone made")
        self.run("rclone", "check", "--links", "--exclude", ".osssync/**", up,
                 "peer:rclone-bucket/links-back")
        self.run("rclone", "purge", "peer:rclone-bucket/links")
        self.run("rclone", "purge", "peer:rclone-bucket/links-back")

    def test_osssync_then_rclone(self):
        up, down = make_tree(self.path("swift-up")), self.path("swift-down")
        self.osssync("push", up, "s3://swift-bucket/tree")
        self.run("rclone", "check", "--exclude", ".osssync/**", up, "peer:swift-bucket/tree")
        self.run("rclone", "check", "--download", "--exclude", ".osssync/**", up,
                 "peer:swift-bucket/tree")
        self.requests()
        self.run("rclone", "sync", "--exclude", ".osssync/**", up, "peer:swift-bucket/tree")
        equal(self.transfers(), [])
        self.osssync("push", up, "s3://swift-bucket/tree")
        equal(self.transfers(), [])
        self.osssync("pull", down, "s3://swift-bucket/tree")
        equal(tree(down), tree(up))

    def test_osssync_in_both_dialects(self):
        up = make_tree(self.path("both-up"))
        self.osssync("push", up, "s3://both-bucket/tree")
        for number, remote in enumerate(["oss://both-bucket/tree", "s3://both-bucket/tree"]):
            down = self.path(f"both-down-{number}")
            self.osssync("pull", down, remote)
            equal(tree(down), tree(up))
            path = os.path.join("many", "007")
            equal(os.stat(os.path.join(down, path)).st_mtime_ns,
                  os.stat(os.path.join(up, path)).st_mtime_ns)

    def test_replaced_content_with_kept_metadata(self):
        """What the old content's writer noted must not make the new one pass for it."""
        mirror, other = self.path("kept-a"), self.path("kept-b")
        os.makedirs(mirror)
        with open(os.path.join(mirror, "note"), "wb") as file:
            file.write(b"original")
        self.osssync("push", mirror, "s3://both-bucket/kept")
        self.osssync("pull", other, "s3://both-bucket/kept")
        place = ["--bucket", "both-bucket", "--key", "kept/note"]
        head = json.loads(self.run("aws", "s3api", "head-object", *place, "--output", "json"))
        replaced = self.path("kept-new")
        with open(replaced, "wb") as file:
            file.write(b"replaced")
        self.run("aws", "s3api", "put-object", *place, "--body", replaced,
                 "--metadata", json.dumps(head["Metadata"]))
        self.osssync("pull", mirror)
        with open(os.path.join(mirror, "note"), "rb") as file:
            equal(file.read(), b"replaced")
        # The other mirror sees what another writer did, and does not take it for its own.
        self.run(os.path.join(self.programs, "osssync"), "push", other, "--endpoint", self.url,
                 "--region", REGION, "--progress", "none", status=1)
        with open(os.path.join(other, "note"), "rb") as file:
            equal(file.read(), b"original")

    def test_s5cmd(self):
        up, down = make_tree(self.path("five-up"), count=300), self.path("five-down")
        self.run("s5cmd", "cp", "--part-size", "5", up + "/", "s3://five-bucket/tree/")
        listed = self.run("s5cmd", "ls", "s3://five-bucket/tree/*")
        equal(len(listed.splitlines()), len(tree(up)))
        self.run("s5cmd", "cp", "s3://five-bucket/tree/*", down + "/")
        equal(tree(down), tree(up))
        self.requests()
        self.run("s5cmd", "sync", "--size-only", up + "/", "s3://five-bucket/tree/")
        equal(self.transfers(), [])
        with open(os.path.join(up, "deep/er/file"), "rb") as file:
            wanted = file.read()
        done = subprocess.run(["s5cmd", "cat", "s3://five-bucket/tree/deep/er/file"],
                              env=self.environment, capture_output=True, timeout=60)
        expect(done.stdout == wanted, "another content came back")
        self.run("s5cmd", "rm", "s3://five-bucket/*")
        expect(any(operation == "DeleteMultipleObjects" for operation, _ in self.transfers()),
               "s5cmd deleted one by one")
        self.run("s5cmd", "ls", "s3://five-bucket/*", status=1)


def run(tally, url, programs, clients):
    folder = tempfile.mkdtemp(prefix="osssync-peer-tools-")
    try:
        tools = Tools(url, programs, clients, folder)
        for name in sorted(dir(tools)):
            if name.startswith("test_"):
                tally.run(name, getattr(tools, name))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
