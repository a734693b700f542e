"""Throw-away authorities and certificates, made by the program `openssl`."""

import os
import ssl
import subprocess

from .files import read, write

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
"""
RSA = ("rsa:2048",)
ELLIPTIC = ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")


class Authority:
    """An authority that a run is told to trust, a stranger, and certificates of both.

    "good" is all that a server needs; each of the others is wrong in one way.
    """

    def __init__(self, folder, key=RSA):
        self.folder = folder
        self.key = key
        os.makedirs(folder, exist_ok=True)
        self.root("ca", "authority")
        self.root("stranger", "authority")
        self.root("self", "server", "127.0.0.1")
        self.issue("good", "server", "ca")
        self.issue("unknown", "server", "stranger")
        self.issue("elsewhere", "elsewhere", "ca")
        self.issue("client", "client", "ca")
        self.issue("expired", "server", "ca", dates=("20200101000000Z", "20200201000000Z"))
        self.issue("future", "server", "ca", dates=("20900101000000Z", "20900201000000Z"))
        self.issue("weak", "server", "ca", key=("rsa:512",))
        self.issue("old-digest", "server", "ca", digest="sha1")
        self.issue("leaf", "no_authority", "ca")
        self.issue("by-leaf", "server", "leaf", chain="leaf")

    def path(self, name):
        return os.path.join(self.folder, name)

    def openssl(self, name, command, *arguments):
        """Runs a command of openssl with a folder and a configuration for this certificate."""
        work = self.path(name + ".d")
        os.makedirs(work, exist_ok=True)
        write(os.path.join(work, "index"), b"")
        configuration = os.path.join(work, "openssl.cnf")
        write(configuration, CONFIGURATION.format(work=work).encode())
        done = subprocess.run(["openssl", command, "-config", configuration, *arguments],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"openssl {command}: {done.stderr}")

    def root(self, name, kind, subject=None):
        """Makes NAME.key and NAME.pem, which nobody else has signed."""
        self.openssl(name, "req", "-x509", "-newkey", *self.key, "-nodes", "-days", "5", "-subj",
                     f"/CN={subject or name}", "-extensions", kind, "-keyout",
                     self.path(name + ".key"), "-out", self.path(name + ".pem"))

    def issue(self, name, kind, issuer, dates=None, key=None, digest="sha256", chain=None):
        """Makes NAME.key and NAME.pem, with the chain behind it."""
        self.openssl(name, "req", "-new", "-newkey", *(key or self.key), "-nodes", "-subj",
                     f"/CN={name}", "-keyout", self.path(name + ".key"), "-out",
                     self.path(name + ".csr"))
        validity = ["-startdate", dates[0], "-enddate", dates[1]] if dates else []
        self.openssl(name, "ca", "-batch", "-cert", self.path(issuer + ".pem"), "-keyfile",
                     self.path(issuer + ".key"), "-in", self.path(name + ".csr"), "-out",
                     self.path(name + ".pem"), "-md", digest, "-extensions", kind, "-notext",
                     *validity)
        if chain:
            write(self.path(name + ".pem"),
                  read(self.path(name + ".pem")) + read(self.path(chain + ".pem")))

    def context(self, name, change=None):
        """What a server with this certificate speaks TLS by."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.path(name + ".pem"), self.path(name + ".key"))
        if change:
            change(context)
        return context


def old_protocol(context):
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
