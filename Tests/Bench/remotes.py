"""The stores that are measured against, on loopback."""

import json
import os
import shutil
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Peers"))

import s3_servers  # noqa: E402
from Support.certificates import ELLIPTIC, Authority  # noqa: E402
from Support.program import account  # noqa: E402
from Support.server import Server  # noqa: E402

KEY, SECRET, BUCKET, REGION = s3_servers.KEY, s3_servers.SECRET, "bench", "cn-hangzhou"


class Embedded:
    """osssync-server; `scheme` says which of its two dialects is spoken."""

    authority = None

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


class Encrypted(Embedded):
    """The same server behind a program that speaks TLS 1.3 for it."""

    def __init__(self, server, scheme, port, authority):
        super().__init__(server, scheme)
        self.name += " TLS"
        self.url, self.authority = f"https://127.0.0.1:{port}", authority

    def variables(self):
        # For the programs in Go, for that in Python, and for curl.
        return {**super().variables(), "SSL_CERT_FILE": self.authority,
                "AWS_CA_BUNDLE": self.authority, "CURL_CA_BUNDLE": self.authority}


class Terminator:
    """stunnel before a server: it passes bytes on, and keeps neither connections nor answers."""

    def __init__(self, folder, server):
        program = shutil.which("stunnel") or shutil.which("stunnel4")
        if program is None:
            raise SystemExit("bench: over TLS it needs stunnel: apt-get install stunnel4")
        authority = Authority(folder, ELLIPTIC)
        self.authority, self.port = authority.path("ca.pem"), s3_servers.free_port()
        path = os.path.join(folder, "stunnel.conf")
        with open(path, "w") as file:
            file.write("foreground = yes\npid =\nsyslog = no\ndebug = notice\n[store]\n"
                       f"accept = 127.0.0.1:{self.port}\nconnect = 127.0.0.1:{server.port}\n"
                       f"cert = {authority.path('good.pem')}\nkey = {authority.path('good.key')}\n"
                       "sslVersionMin = TLSv1.3\nsocket = l:TCP_NODELAY=1\n"
                       "socket = r:TCP_NODELAY=1\n")
        self.process = s3_servers.Process([program, path], folder, os.path.join(folder, "log"))
        await_answer(self.port)

    def stop(self):
        self.process.stop()


def await_answer(port):
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError("stunnel does not start") from None
        time.sleep(0.05)


class Other:
    """A server of S3 that is not ours: its requests are not counted, and it knows no delay."""

    authority = None

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
        schemes = {name.partition("+")[0] for name in wanted} & {"oss", "s3"}
        if schemes:
            place = os.path.join(folder, "embedded")
            os.makedirs(place)
            server = Server(os.path.join(programs, "osssync-server"), place, [BUCKET], [KEY],
                            SECRET, REGION)
            server.start()
            self.processes.append(server)
            self.all += [Embedded(server, scheme) for scheme in ("oss", "s3") if scheme in wanted]
            if {"oss+tls", "s3+tls"} & wanted:
                front = Terminator(os.path.join(folder, "authority"), server)
                self.processes.append(front)
                self.all += [Encrypted(server, scheme, front.port, front.authority)
                             for scheme in ("oss", "s3") if scheme + "+tls" in wanted]
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
