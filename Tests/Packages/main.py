"""Tries the archive of `make tarball`, the package of `make deb` and the manual pages.

usage: main.py [words of the cases to run]
What needs a tool that is not installed is skipped, with a line.
"""

import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(sys.path[0]))

from Support.certificates import ELLIPTIC, Authority  # noqa: E402
from Support.checks import Tally, equal, expect  # noqa: E402
from Support.files import read, write  # noqa: E402
from Support.program import account  # noqa: E402
from Support.server import Server  # noqa: E402
from terminator import Terminator  # noqa: E402

# The libraries of glibc, which the archive leaves to the system.
GLIBC = re.compile(r"^(ld-linux-.*|linux-vdso|lib(c|m|pthread|dl|rt|resolv|util|anl|nsl))\.so(\.|$)")
# Debian 12's.
OLDEST_GLIBC = (2, 36)
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def run(*words, environment=None, status=0):
    """What a program says. Its environment has nothing of this one's."""
    done = subprocess.run(words, env={**ENVIRONMENT, **(environment or {})}, capture_output=True,
                          text=True, timeout=240, check=False)
    equal(done.returncode, status, f"the status of {words}, which said {done.stderr}{done.stdout}")
    return done.stdout + done.stderr


class Archive:
    """The archive, unpacked in a folder whose name is awkward."""

    def __init__(self, folder, path):
        run("tar", "--extract", "--gzip", "--file", path, "--directory", folder)
        self.folder = folder
        self.root, = glob.glob(os.path.join(folder, "osssync-*"))
        self.programs = sorted(glob.glob(os.path.join(self.root, "bin", "*")))
        self.libraries = sorted(glob.glob(os.path.join(self.root, "lib", "osssync", "*")))

    def program(self, name):
        return os.path.join(self.root, "bin", name)

    def beside(self):
        """Each library is found in the archive, but for those of glibc."""
        expect(len(self.libraries) > 5, "libraries are there")
        for program in self.programs:
            for line in run("ldd", program).splitlines():
                name, _, place = line.strip().partition(" => ")
                name, place = os.path.basename(name.split(" ")[0]), place.split(" (")[0]
                if GLIBC.match(name):
                    continue
                equal(place and os.path.realpath(os.path.dirname(place)),
                      os.path.realpath(os.path.join(self.root, "lib", "osssync")),
                      f"where {os.path.basename(program)} finds {name}")

    def old_glibc(self):
        """No function of a newer glibc is asked for, and INSTALL says which one is."""
        wanted = (2, 0)
        for path in self.programs + self.libraries:
            with open(path, "rb") as file:
                found = re.findall(rb"GLIBC_2\.(\d+)", file.read())
            wanted = max([wanted, *((2, int(minor)) for minor in found)])
        with open(os.path.join(self.root, "INSTALL"), encoding="utf-8") as file:
            expect(f"glibc {wanted[0]}.{wanted[1]} or newer" in file.read(), f"{wanted} is named")
        here = tuple(map(int, platform.libc_ver()[1].split(".")[:2]))
        if here <= OLDEST_GLIBC:
            expect(wanted <= OLDEST_GLIBC, f"glibc {wanted} is wanted")

    def licensed(self):
        """Each library has its licence and the version of its source."""
        with open(os.path.join(self.root, "licenses", "libraries"), encoding="utf-8") as file:
            rows = dict(line.split(None, 1) for line in file)
        names = {os.path.basename(path) for path in self.libraries}
        equal(set(rows), names - {"libosssync-certificates.so"}, "the libraries with licences")
        for name, row in rows.items():
            text = os.path.join(self.root, "licenses", row.split()[-1])
            expect(os.path.getsize(text) > 100, f"the licence of {name}")

    def mirrored(self, environment):
        """Pushes a directory and pulls it to another one."""
        source, copy = os.path.join(self.folder, "source"), os.path.join(self.folder, "copy")
        for place in (source, copy):
            shutil.rmtree(place, ignore_errors=True)
        os.makedirs(source)
        write(os.path.join(source, "a.bin"), os.urandom(300_000))
        remote = "oss://demo/" + os.urandom(4).hex()
        run(self.program("osssync"), "push", source, remote, environment=environment)
        run(self.program("osssync"), "pull", copy, remote, environment=environment)
        run("cmp", os.path.join(source, "a.bin"), os.path.join(copy, "a.bin"))

    def works(self):
        """The programs tell their version and mirror over http and https."""
        expect("osssync 0." in run(self.program("osssync"), "--version"), "its version")
        expect("--root DIR" in run(self.program("osssync-server"), "--help"), "its options")
        home = os.path.join(self.folder, "home")
        os.mkdir(os.path.join(self.folder, "server"))
        server = Server(self.program("osssync-server"), os.path.join(self.folder, "server"),
                        ["demo"], ["id"], "secret", "cn-demo")
        authority = Authority(os.path.join(self.folder, "authority"), ELLIPTIC)
        server.start()
        try:
            plain = {"HOME": home, **account("oss", "id", "secret", "cn-demo", server.url)}
            self.mirrored(plain)
            with Terminator(authority.context("good"), server.port) as tls:
                address = f"https://127.0.0.1:{tls.port}"
                secure = {**plain, "OSS_ENDPOINT": address}
                self.mirrored({**secure, "SSL_CERT_FILE": authority.path("ca.pem")})
                said = run(self.program("osssync"), "ls", "oss://demo", environment=secure,
                           status=6)
                expect("certificate" in said, f"what an unknown authority is called: {said}")
                # The option wins.
                run(self.program("osssync"), "ls", "oss://demo", "--ca-file",
                    authority.path("ca.pem"),
                    environment={**secure, "SSL_CERT_FILE": authority.path("stranger.pem")})
        finally:
            server.stop()


def page_of_server(program):
    """The manual page of the server has every option that its help has, and no other."""
    with open("docs/osssync-server.1", encoding="utf-8") as file:
        page = file.read().replace("\\-", "-")
    names = re.compile(r"^(?:\.B )? *(--[a-z-]+)", re.MULTILINE)
    equal(set(names.findall(page)), set(names.findall(run(program, "--help"))), "the options")


def pages_are_clean(program):
    """mandoc has nothing to say of the manual pages."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "osssync.1")
        write(page, run(program, "help", "man").encode())
        for path in (page, "docs/osssync-server.1"):
            equal(run("mandoc", "-T", "lint", path), "", f"what mandoc says of {path}")


def picture():
    """The picture of the README is that of its recording, and small."""
    path = "docs/images/push.svg"
    before = read(path)
    run("scripts/picture")
    equal(read(path), before, "what scripts/picture draws")
    expect(len(before) < 200_000, f"its {len(before)} bytes")


def package_is_clean(path):
    """lintian has no warning, and the pages and the licence are in it."""
    equal(run("lintian", "--allow-root", path), "", "what lintian says")


def package_is_whole(path):
    listing = run("dpkg-deb", "--contents", path)
    for name in ("man/man1/osssync.1.gz", "man/man1/osssync-server.1.gz", "doc/osssync/copyright",
                 "bash-completion/completions/osssync"):
        expect(f"./usr/share/{name}\n" in listing, f"{name} is in the package")
    told = run("dpkg-deb", "--field", path, "Description")
    expect(len(told.splitlines()) >= 10, f"its description: {told}")


def package(kind):
    """Makes a package of this kind, hardly compressed; its path."""
    return subprocess.run(["scripts/package", kind], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LEVEL": "1"}).stdout.splitlines()[-1]


def main(words):
    tally = Tally()
    programs = os.path.abspath(".build/release")

    def case(name, tool, *body):
        if not all(word in name for word in words):
            return
        if tool and shutil.which(tool) is None:
            print(f"SKIPPED {name}: there is no {tool}")
            return
        tally.run(name, *body)

    case("the page of the server has its options", None, page_of_server,
         programs + "/osssync-server")
    case("mandoc has nothing to say", "mandoc", pages_are_clean, programs + "/osssync")
    case("the picture is that of its recording", None, picture)
    if shutil.which("dpkg-shlibdeps"):
        path = package("deb")
        case("the package has pages, licence and description", None, package_is_whole, path)
        case("lintian has nothing to say", "lintian", package_is_clean, path)
    if shutil.which("patchelf") is None:
        print("SKIPPED the archive: there is no patchelf")
        return tally.end()
    with tempfile.TemporaryDirectory(prefix="osssync archive ") as folder:
        # F407: a system without the libraries, or with its authorities elsewhere.
        archive = Archive(folder, os.path.abspath(package("tarball")))
        case("every library but glibc's is in the archive", None, archive.beside)
        case("glibc 2.36 is enough", None, archive.old_glibc)
        case("each library has its licence", None, archive.licensed)
        case("the programs work without anything of this environment", None, archive.works)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
