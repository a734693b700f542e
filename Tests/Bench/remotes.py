"""The stores that are measured against, on loopback."""

import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))

import s3_servers  # noqa: E402
from Support.program import account  # noqa: E402
from Support.server import Server  # noqa: E402

KEY, SECRET, BUCKET, REGION = s3_servers.KEY, s3_servers.SECRET, "bench", "cn-hangzhou"


class Embedded:
    """osssync-server; `scheme` says which of its two dialects is spoken."""

    def __init__(self, server, scheme):
        self.server, self.scheme, self.name = server, scheme, f"{scheme}://"
        self.url, self.region = server.url, REGION

    def variables(self):
        return account(self.scheme, KEY, SECRET, self.region, self.url)

    def forget(self):
        self.server.forget_requests()

    def requests(self):
        return self.server.requests()

    def slow(self, delay=0, rate=None, every=None):
        """Each answer comes later by `delay` seconds; beyond `rate` requests a second, and of
        every so many-th GET, it is 503."""
        rules = [{"match": {}, "effect": {"delay": delay}}] if delay else []
        if rate:
            rules.append({"match": {"above": rate},
                          "effect": {"fail": {"status": 503, "code": "SlowDown"}}})
        if every:
            rules.append({"match": {"operation": "GetObject", "every": every},
                          "effect": {"fail": {"status": 503, "code": "SlowDown"}}})
        status, _, body = self.server.plain("POST", "/-/faults", json.dumps(rules).encode())
        if status >= 300:
            raise RuntimeError(f"the server took no faults: {body!r}")


class Other:
    """A server of S3 that is not ours: its requests are not counted, and it knows no delay."""

    def __init__(self, name, port):
        self.scheme, self.name, self.region = "s3", name, "us-east-1"
        self.url = f"http://127.0.0.1:{port}"

    def variables(self):
        return account("s3", KEY, SECRET, self.region, self.url)

    def forget(self):
        """Nothing is counted."""

    def requests(self):
        return None


class Remotes:
    """Starts them in a folder, and ends them."""

    def __init__(self, programs, environment, folder, wanted):
        self.all, self.processes = [], []
        if {"oss", "s3"} & wanted:
            place = os.path.join(folder, "embedded")
            os.makedirs(place)
            server = Server(os.path.join(programs, "osssync-server"), place, [BUCKET], [KEY],
                            SECRET, REGION)
            server.start()
            self.processes.append(server)
            self.all += [Embedded(server, scheme) for scheme in ("oss", "s3") if scheme in wanted]
        if "seaweedfs" in wanted:
            place = os.path.join(folder, "seaweedfs")
            os.makedirs(place)
            server, port = s3_servers.start_seaweedfs(environment, place)
            self.processes.append(server)
            s3_servers.await_bucket(port, BUCKET)
            self.all.append(Other("SeaweedFS", port))

    def close(self):
        for process in self.processes:
            process.stop()
