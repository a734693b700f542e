"""The embedded server, and requests to it that are made without any of osssync's code."""

import base64
import email.utils
import hashlib
import hmac
import http.client
import os
import signal
import urllib.parse

from .files import write
from .processes import Started
from .program import lines

SUBRESOURCES = {"uploads", "uploadId", "partNumber", "symlink", "append", "position", "restore",
                "versioning", "versionId", "delete", "objectMeta", "versions"}
# Goes with keys whose names end in "-session".
TOKEN = "token of a session"
# It closes its connections and ends; only one that hangs takes as long.
PATIENCE = 60


class Server:
    """One osssync-server at a port that stays the same when it is started again.

    Requests of the test itself go to the first bucket, with the first key.
    """

    def __init__(self, program, folder, buckets, keys, secret, region, *options):
        self.bucket, self.key, self.secret = buckets[0], keys[0], secret
        self.root = os.path.join(folder, "root")
        credentials = os.path.join(folder, "credentials")
        write(credentials, "".join(
            f"[{key}]\naccessKeyID = {key}\naccessKeySecret = {secret}\n"
            + (f"stsToken = {TOKEN}\n" if key.endswith("-session") else "")
            for key in keys).encode())
        os.chmod(credentials, 0o600)
        self.command = [program, "--root", self.root, "--credentials", credentials, "--region",
                        region, *options]
        for bucket in buckets:
            self.command += ["--bucket", bucket]
        self.port = 0
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.process = Started([*self.command, "--listen", f"127.0.0.1:{self.port}"], stderr=None)
        line = self.process.line(PATIENCE)
        if not line:
            raise RuntimeError("the server did not start")
        self.port = urllib.parse.urlsplit(lines(line)[0]["url"]).port

    def stop(self):
        """Its exit status; that of a signal if it had to be killed, 0 if it was not running."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.send(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except AssertionError:
            process.end()
        return process.status

    def plain(self, method, path, body=b"", headers=None):
        """The status, the headers and the body of the answer to a request as it is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return exchange(connection, method, path, body, headers)
        finally:
            connection.close()

    def call(self, method, key, query=None, body=b"", headers=None):
        """The same of a request for a key that is signed with V1."""
        query = query or {}
        sent = {"Date": email.utils.formatdate(usegmt=True), "Content-Type": "", **(headers or {})}
        named = sorted((name.lower(), value) for name, value in sent.items()
                       if name.lower().startswith("x-oss-"))
        resource = f"/{self.bucket}/{key}"
        signed = sorted(name for name in query if name in SUBRESOURCES)
        if signed:
            resource += "?" + "&".join(name + (f"={query[name]}" if query[name] else "")
                                       for name in signed)
        text = "\n".join([method, sent.get("Content-MD5", ""), sent["Content-Type"], sent["Date"],
                          "".join(f"{name}:{value}\n" for name, value in named) + resource])
        code = hmac.new(self.secret.encode(), text.encode("utf-8", "surrogateescape"),
                        hashlib.sha1).digest()
        sent["Authorization"] = f"OSS {self.key}:{base64.b64encode(code).decode()}"
        path = f"/{self.bucket}/" + urllib.parse.quote(key.encode("utf-8", "surrogateescape"),
                                                       safe="/")
        if query:
            quoted = {name: urllib.parse.quote(value, safe="") for name, value in query.items()}
            path += "?" + "&".join(name + (f"={value}" if value else "")
                                   for name, value in quoted.items())
        return self.plain(method, path, body, sent)

    def requests(self):
        """The requests so far, oldest first."""
        return lines(self.plain("GET", "/-/requests")[2])

    def forget_requests(self):
        self.plain("DELETE", "/-/requests")


def exchange(connection, method, path, body=b"", headers=None):
    connection.request(method, path, body=body, headers=headers or {})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()
