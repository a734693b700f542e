"""Certificates of a throw-away authority, made by the program `openssl` at the start."""

import os
import ssl
import subprocess
import tempfile

CONFIGURATION = """
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[no_authority]
basicConstraints = critical, CA:FALSE
[server]
basicConstraints = critical, CA:FALSE
subjectAltName = IP:127.0.0.1, DNS:localhost, DNS:oss.example.test, DNS:*.oss.example.test
extendedKeyUsage = serverAuth
[client]
basicConstraints = critical, CA:FALSE
subjectAltName = IP:127.0.0.1, DNS:localhost
extendedKeyUsage = clientAuth
[elsewhere]
basicConstraints = critical, CA:FALSE
subjectAltName = IP:127.0.0.2, DNS:*.localhost, DNS:127.0.0.1
extendedKeyUsage = serverAuth
"""


class Authority:
    """Signs certificates in a folder of its own; made once for all cases."""

    def __init__(self):
        self.holder = tempfile.TemporaryDirectory(prefix="osssync-security-ca-")
        self.folder = self.holder.name
        with open(self.path("openssl.cnf"), "w") as file:
            file.write(CONFIGURATION)
        self.root("ca")
        self.root("stranger")
        self.issue("good", "server", "ca")
        self.issue("unknown", "server", "stranger")
        self.issue("elsewhere", "elsewhere", "ca")
        self.issue("client", "client", "ca")
        self.issue("expired", "server", "ca", dates=("20200101000000Z", "20200201000000Z"))
        self.issue("future", "server", "ca", dates=("20900101000000Z", "20900201000000Z"))
        self.issue("weak", "server", "ca", bits=512)
        self.issue("old-digest", "server", "ca", digest="sha1")
        self.issue("leaf", "no_authority", "ca")
        self.issue("by-leaf", "server", "leaf", chain="leaf")
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "5", "-subj",
                     "/CN=127.0.0.1", "-extensions", "server", "-keyout", self.path("self.key"),
                     "-out", self.path("self.pem"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, *arguments, configured=True):
        more = ["-config", self.path("openssl.cnf")] if configured else []
        subprocess.run(["openssl", *arguments, *more], cwd=self.folder, check=True,
                       capture_output=True)

    def root(self, name):
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "5", "-subj",
                     f"/CN={name}", "-extensions", "authority", "-keyout",
                     self.path(name + ".key"), "-out", self.path(name + ".pem"))

    def issue(self, name, kind, issuer, dates=None, bits=2048, digest="sha256", chain=None):
        """Makes NAME.key and NAME.pem, with the chain behind it."""
        self.openssl("req", "-new", "-newkey", f"rsa:{bits}", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", self.path(name + ".key"), "-out", self.path(name + ".csr"))
        work = self.path(name + ".d")
        os.mkdir(work)
        with open(os.path.join(work, "index"), "w"):
            pass
        with open(os.path.join(work, "ca.cnf"), "w") as file:
            file.write(CONFIGURATION + f"""
[ca]
default_ca = this
[this]
database = {work}/index
new_certs_dir = {work}
rand_serial = yes
default_days = 5
policy = any
[any]
commonName = supplied
""")
        start, end = dates or (None, None)
        validity = ["-startdate", start, "-enddate", end] if dates else []
        self.openssl("ca", "-batch", "-config", os.path.join(work, "ca.cnf"), "-cert",
                     self.path(issuer + ".pem"), "-keyfile", self.path(issuer + ".key"), "-in",
                     self.path(name + ".csr"), "-out", self.path(name + ".pem"), "-md", digest,
                     "-extensions", kind, "-notext", *validity, configured=False)
        if chain:
            with open(self.path(chain + ".pem")) as file, open(self.path(name + ".pem"), "a") as to:
                to.write(file.read())

    def context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.path(name + ".pem"), self.path(name + ".key"))
        return context
