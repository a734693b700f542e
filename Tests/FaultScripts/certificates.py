"""Throw-away authorities and certificates, made by the openssl tool."""

import os
import ssl
import subprocess

EXTENSIONS = """[good]
subjectAltName = IP:127.0.0.1, DNS:localhost
[other]
subjectAltName = DNS:other.example
"""


class Certificates:
    """An authority that a run is told to trust, another one, and certificates of both."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "tls")
        if os.path.isdir(self.folder):
            return
        os.mkdir(self.folder)
        with open(self.path("extensions"), "w") as file:
            file.write(EXTENSIONS)
        for name in ("authority", "stranger"):
            self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                         "-nodes", "-days", "30", "-subj", f"/CN={name}", "-keyout",
                         self.path(name + ".key"), "-out", self.path(name + ".pem"))
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1", "-addext",
                     "subjectAltName = IP:127.0.0.1", "-keyout", self.path("self-signed.key"),
                     "-out", self.path("self-signed.pem"))
        self.sign("good", "authority", "good")
        self.sign("other-host", "authority", "other")
        self.sign("unknown-authority", "stranger", "good")
        self.sign("expired", "authority", "good", days="-1")

    @property
    def authority(self):
        return self.path("authority.pem")

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"openssl {arguments[0]}: {done.stderr}")

    def sign(self, name, authority, extensions, days="30"):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-subj", f"/CN={name}", "-keyout", self.path(name + ".key"), "-out",
                     self.path(name + ".csr"))
        self.openssl("x509", "-req", "-in", self.path(name + ".csr"), "-CA",
                     self.path(authority + ".pem"), "-CAkey", self.path(authority + ".key"),
                     "-CAcreateserial", "-days", days, "-extfile", self.path("extensions"),
                     "-extensions", extensions, "-out", self.path(name + ".pem"))

    def server(self, name):
        """The context of a server with this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        file = "good" if name == "old-protocol" else name
        context.load_cert_chain(self.path(file + ".pem"), self.path(file + ".key"))
        if name == "old-protocol":
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
            context.set_ciphers("ALL:@SECLEVEL=0")
        return context
