"""The programs that are compared, and how each is told to copy a tree."""

import glob
import os

from remotes import BUCKET, KEY, SECRET


class Tool:
    """A program with a home directory of its own for each remote."""

    name = ""
    # What it is told beside the directory and the prefix, for the report.
    remark = ""

    def __init__(self, bench, remote):
        self.bench, self.remote = bench, remote
        self.home = os.path.join(bench.folder, "homes", f"{self.name}-{remote.name.rstrip('/')}")
        os.makedirs(self.home, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.home,
                            "LANG": "C.UTF-8", **remote.variables()}
        self.prepare()

    def prepare(self):
        """What it wants to find before its first command."""

    @classmethod
    def speaks(cls, remote):
        return remote.scheme == "s3"

    def url(self, prefix):
        return f"{self.remote.scheme}://{BUCKET}/{prefix}"

    def settle(self, folder, prefix):
        """Makes it know that both sides are equal, where it keeps such knowledge."""


class OSSSync(Tool):
    name = "osssync"

    @classmethod
    def speaks(cls, remote):
        return True

    def command(self, *words):
        trust = ["--ca-file", self.remote.authority] if self.remote.authority else []
        return [os.path.join(self.bench.programs, "osssync"), *words, "--quiet", *trust]

    def push(self, folder, prefix):
        return self.command("push", folder, self.url(prefix))

    def pull(self, prefix, folder):
        return self.command("pull", folder, self.url(prefix))

    def settle(self, folder, prefix):
        self.bench.run(self.push(folder, prefix), self.environment)


class RClone(Tool):
    name = "rclone"
    flags = []

    def prepare(self):
        with open(os.path.join(self.home, "rclone.conf"), "w") as file:
            file.write(f"[there]\ntype = s3\nprovider = Other\nregion = {self.remote.region}\n"
                       f"access_key_id = {KEY}\nsecret_access_key = {SECRET}\n"
                       f"endpoint = {self.remote.url}\nforce_path_style = true\n")

    def command(self, source, target):
        return [os.path.join(self.bench.environment, "bin/rclone"), "--config",
                os.path.join(self.home, "rclone.conf"), "sync", source, target, *self.flags]

    def push(self, folder, prefix):
        return self.command(folder, f"there:{BUCKET}/{prefix}")

    def pull(self, prefix, folder):
        return self.command(f"there:{BUCKET}/{prefix}", folder)

    def purge(self, prefix):
        return [*self.command("", "")[:3], "purge", f"there:{BUCKET}/{prefix}"]


class TunedRClone(RClone):
    name = "rclone tuned"
    remark = "--transfers 32 --checkers 32 --fast-list --s3-no-head --s3-no-check-bucket " \
        "--use-server-modtime --update"
    flags = remark.split()


class S5cmd(Tool):
    name = "s5cmd"

    def command(self, *words):
        program = glob.glob(os.path.join(
            self.bench.environment, "lib/python3*/site-packages/s5cmd/bin/s5cmd"))
        return [program[0], "--endpoint-url", self.remote.url, "--log", "error", *words]

    def push(self, folder, prefix):
        return self.command("sync", folder + "/", self.url(prefix) + "/")

    def pull(self, prefix, folder):
        return self.command("sync", self.url(prefix) + "/*", folder + "/")


class AWS(Tool):
    name = "aws s3 sync"

    def command(self, *words):
        return [os.path.join(self.bench.environment, "bin/aws"), "s3", "sync", *words, "--quiet",
                "--endpoint-url", self.remote.url]

    def push(self, folder, prefix):
        return self.command(folder, self.url(prefix))

    def pull(self, prefix, folder):
        return self.command(self.url(prefix), folder)


class JuiceFS(Tool):
    name = "juicefs sync"
    remark = "--threads 32 --check-new"

    def command(self, *words):
        return [os.path.join(self.bench.environment, "bin/juicefs"), "sync", *words, "--quiet",
                "--metrics", "127.0.0.1:0", *self.remark.split(),
                *([] if self.remote.authority else ["--no-https"])]

    def url(self, prefix):
        return f"s3://{KEY}:{SECRET}@{self.remote.url.partition('//')[2]}/{BUCKET}/{prefix}/"

    def push(self, folder, prefix):
        return self.command(folder + "/", self.url(prefix))

    def pull(self, prefix, folder):
        return self.command(self.url(prefix), folder + "/")


TOOLS = [OSSSync, RClone, TunedRClone, S5cmd, AWS, JuiceFS]
