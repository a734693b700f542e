"""C01, C03, C04, C05, C08, C26: what keys and objects may do to the disk.

Of the register of faults: F083, F085, F086, F096, F098, F100, F101, F104, F109, F112, F114, F115.
"""

import ctypes
import itertools
import json
import os
import stat
import threading

from endpoints import OSS, PREFIX, S3, Endpoint, Store, contents, listing, quote, reply
from harness import case, equal, expect

# Keys relative to the prefix that have no place in a directory.
UNSAFE = {
    "one up": b"../canary", "the mark that hides a slash": "../\u0301x".encode(),
    "a joiner after the slash": "..\u200d/../outside/\u0301canary".encode(),
    "up from within": b"a/../../outside/canary", "only up": b"..", "up at the end": b"a/..",
    "twin": b"../mirror-twin/canary", "here": b".", "here first": b"./x", "here within": b"a/./x",
    "absolute": b"/etc/osssync-canary", "two slashes": b"//host/x", "empty segment": b"a//b",
    "NUL": b"safe.txt\0/../../canary", "NUL at the end": b"safe.txt\0",
    "long segment": b"n" * 256,
    "deep": b"/".join([b"d"] * 600), "not UTF-8": b"a\xff", "overlong slash": b"..\xc0\xafx",
    "overlong dot": b"\xc0\xae\xc0\xae/x", "surrogate": b"\xed\xa0\x80",
    "up and a directory": b"../", "up behind a good one": b"good/../../canary",
}
# Keys of osssync's own files, which are nobody's failure.
OWN = {
    "state": b".osssync/config", "state in capitals": b".OSSSync/manifest.db",
    "state alone": b".osssync", "inner state": b"x/.osssync/config", "inner alone": b"x/.osssync",
    "temporary": b"d/.osssync-" + b"0123456789abcdef" * 2,
}
# Keys that only look dangerous: each is a plain file name here.
ODD = [b"..\\..\\canary", b"C:\\x", b"%2e%2e%2fcanary", b"...", b"..a", b"a..", b"-rf", b"~",
       b"$(touch canary)", b"`id`", b"a;b|c&d", b"*", b"100%25", b"x.osssync", b".bashrc",
       "\u202egpj.exe".encode(), b"a\r\nb", b"\x1b[2J", "..\u0338/x".encode(),
       "\uff0e\uff0e/x".encode()]


def pull_with(place, store, *arguments, remote=OSS, expected=None, limit=None):
    with Endpoint(store) as endpoint:
        outcome = place.run("pull", place.mirror, remote, *arguments, endpoint=endpoint.url,
                            expected=expected, limit=limit)
    return outcome, endpoint


@case("an unsafe key is skipped, whatever it is asked with", UNSAFE)
def unsafe(place, key):
    store = Store({PREFIX + b"zz-good": b"good", PREFIX + key: b"evil"})
    outcome, endpoint = pull_with(place, store, "--delete", "--json", expected=1)
    equal(place.files(), {b"zz-good": b"good"})
    asked = [request.key for request in endpoint.requests if not request.is_listing]
    equal(asked, [PREFIX + b"zz-good"], "the unsafe object was asked for")
    expect('"skipped"' in outcome.output, str(outcome))
    # Nor does a second run, a forced one or one that deletes.
    pull_with(place, store, "--delete=extra", "--force", "--max-delete", "100%", expected=1)
    equal(place.files(), {b"zz-good": b"good"})


@case("a key of osssync's own files is left out and holds nothing back", OWN)
def own(place, key):
    store = Store({PREFIX + b"gone": b"gone", PREFIX + b"zz-good": b"good", PREFIX + key: b"evil"})
    pull_with(place, store, expected=0)
    del store.objects[PREFIX + b"gone"]
    for way in ["--delete"], ["--delete=extra", "--force", "--max-delete", "100%"]:
        outcome, endpoint = pull_with(place, store, *way, expected=0)
        equal(place.files(), {b"zz-good": b"good"})
        # A file is deleted only after the store was asked for its object.
        asked = {request.key for request in endpoint.requests if not request.is_listing}
        expect(asked <= {PREFIX + b"gone"}, f"asked for {asked}")
        equal(outcome.text.count("1 object has a name reserved for osssync's own files"), 1, str(outcome))


@case("unsafe keys that a server does not encode are skipped")
def raw(place):
    keys = [key for key in UNSAFE.values()
            if min(key) >= 32 and b"&" not in key and is_utf8(key)]
    store = Store({PREFIX + key: b"evil" for key in keys} | {PREFIX + b"zz": b"good"},
                  encoding=None)
    pull_with(place, store, remote=S3, expected=1)
    equal(place.files(), {b"zz": b"good"})


def is_utf8(key):
    try:
        key.decode()
        return True
    except UnicodeDecodeError:
        return False


@case("names that are merely odd are files with exactly these names")
def odd(place):
    store = Store({PREFIX + key: key for key in ODD})
    pull_with(place, store, expected=0)
    equal(place.files(), {key: key for key in ODD})


@case("a key is decoded once")
def double(place):
    store = Store({PREFIX + b"%252e%252e%252fcanary": b"1", PREFIX + b"%2e%2e/x": b"2"})
    pull_with(place, store, expected=0)
    equal(place.files(), {b"%252e%252e%252fcanary": b"1", b"%2e%2e/x": b"2"})


@case("a key outside the prefix ends the listing")
def outside_prefix(place):
    for key in [b"other/x", b"mirro", b"mirror-twin/x", b"mirror"]:
        store = Store()
        store.page = lambda _, key=key: reply(200, listing([contents(quote(key), 1)]))
        pull_with(place, store, "--delete", expected=6)
        equal(place.files(), {})


def mirrored(place, names, *arguments):
    """A pulled mirror, to be attacked afterwards."""
    store = Store({PREFIX + name: b"content of " + name for name in names})
    pull_with(place, store, *arguments, expected=0)
    return store


@case("a planted link is not followed, neither as a file nor as a directory")
def planted(place):
    outside = os.path.join(place.folder, "around", "outside")
    os.symlink(outside, os.path.join(place.mirror, "d"))
    os.symlink(os.path.join(outside, "canary"), os.path.join(place.mirror, "f"))
    store = Store({PREFIX + b"d/canary": b"evil", PREFIX + b"f": b"new", PREFIX + b"g": b"good"})
    outcome, _ = pull_with(place, store, expected=1)
    expect("link" in outcome.text, str(outcome))
    with open(os.path.join(place.mirror, "g"), "rb") as file:
        equal(file.read(), b"good")


@case("links and special files are not pushed, nor what they lead to")
def exfiltration(place):
    outside = os.path.join(place.folder, "around", "outside")
    os.symlink(outside, os.path.join(place.mirror, "d"))
    os.symlink("/etc/passwd", os.path.join(place.mirror, "passwd"))
    os.mkfifo(os.path.join(place.mirror, "fifo"))
    with open(os.path.join(place.mirror, "mine"), "wb") as file:
        file.write(b"mine")
    sent = []

    def put(request):
        sent.append((request.key, request.body))
        return reply(200, b"", f'ETag: "{Store.etag(request.body)}"')
    store = Store()
    store.put = put
    with Endpoint(store) as endpoint:
        place.run("push", place.mirror, OSS, endpoint=endpoint.url, expected=(0, 1))
    equal(sent, [(PREFIX + b"mine", b"mine")])


@case("a directory that is swapped for a link during the run leads nowhere")
def swapped(place):
    library = ctypes.CDLL(None, use_errno=True)
    outside = os.path.join(place.folder, "around", "outside")
    os.mkdir(os.path.join(place.mirror, "d"))
    # Beside the mirror, the link would count as a change of what is around it.
    link = os.path.join(place.folder, "link")
    os.symlink(outside, link)
    first, second = os.fsencode(os.path.join(place.mirror, "d")), os.fsencode(link)
    turns, stop = [0], threading.Event()

    def swap():
        # Both names are where they began at the end.
        while not stop.is_set() or turns[0] % 2:
            library.renameat2(-100, first, -100, second, 2)
            turns[0] += 1
    swapper = threading.Thread(target=swap)
    swapper.start()
    ways = itertools.cycle([[], ["--force", "--on-conflict", "remote"], ["--delete=extra"]])
    raced = number = 0
    try:
        # Where a run's walk saw the link it refuses all of it; the others must meet it later.
        while turns[0] < 100_000 or raced < 2:
            number += 1
            expect(number < 80, f"{turns[0]} turns, {raced} runs that met the link on their way")
            new = b"evil %d" % number
            store = Store({PREFIX + b"d/canary": new}
                          | {PREFIX + b"d/%d/f" % index: new for index in range(60)}
                          | {PREFIX + b"d/e%d" % index: new for index in range(60)})
            outcome, _ = pull_with(place, store, "--json", *next(ways), expected=(0, 1))
            summary = json.loads(outcome.output.splitlines()[-1])
            refused = summary["failed"] + summary["skipped"]
            raced += summary["transferred"] > 0 and refused > 0
    finally:
        stop.set()
        swapper.join()
    expect(turns[0] >= 100_000, f"{turns[0]} turns")
    equal(place.surroundings(), place.before)


@case("metadata of an object never makes anything but a plain file")
def modes(place):
    target = os.path.join(place.folder, "around", "outside", "canary")
    headers = ["x-oss-meta-mode: 6777", "x-oss-meta-uid: 0", "x-oss-meta-gid: 0",
               "x-oss-meta-permissions: -rwsrwsrwt", "x-oss-object-type: Symlink",
               f"x-oss-symlink-target: {quote(target.encode()).decode()}",
               "x-oss-meta-xattr: security.capability=x", "x-oss-meta-rdev: 256"]
    store = Store({PREFIX + b".git/hooks/post-checkout": b"#!/bin/sh\n", PREFIX + b"link": b"x"})
    store.get = store.head = lambda request: store.honest_object(request, *headers)
    page = store.honest_page

    def with_types(request):
        body = page(request)
        return body.replace(b"<Type>Normal</Type>", b"<Type>Nosuch</Type>", 1)
    store.page = with_types
    # Execution is the most that the metadata get, where the umask allows it and they are wanted.
    for options, mode in ((("--no-metadata",), 0o644), ((), 0o755)):
        for name in place.files():
            os.remove(os.path.join(os.fsencode(place.mirror), name))
        pull_with(place, store, *options, expected=(0, 1), limit="umask 022")
        check_modes(place, mode)


def check_modes(place, mode):
    expect(place.files(), "nothing was pulled")
    for folder, folders, names in os.walk(place.mirror):
        if folder == place.mirror:
            folders.remove(".osssync")
        for name in names:
            status = os.lstat(os.path.join(folder, name))
            expect(stat.S_ISREG(status.st_mode), f"{name} is no plain file")
            equal(status.st_mode & 0o7777, mode, name)
            equal((status.st_uid, status.st_nlink), (os.getuid(), 1), name)
        for name in folders:
            equal(os.lstat(os.path.join(folder, name)).st_mode & 0o7777, 0o755, name)


@case("hidden names can be kept out")
def hidden(place):
    store = Store({PREFIX + name: b"x" for name in [
        b".envrc", b".git/hooks/post-checkout", b"d/.bashrc", b"d/plain", b".osssyncignore"]})
    pull_with(place, store, "--exclude", ".*", expected=0)
    equal(place.files(), {b"d/plain": b"x"})


@case("a peer can have nothing deleted that it did not give")
def widening(place):
    store = mirrored(place, [b"a", b"b", b"d/c"])
    for name in ["own", "d/own", ".hidden"]:
        with open(os.path.join(place.mirror, name), "wb") as file:
            file.write(b"mine")
    store.objects = {PREFIX + b"z": b"new"}
    pull_with(place, store, "--delete", "--max-delete", "100%", expected=0)
    mine = {b"own": b"mine", b"d/own": b"mine", b".hidden": b"mine"}
    equal(place.files(), mine | {b"z": b"new"})
    with open(os.path.join(place.mirror, "z"), "wb") as file:
        file.write(b"my change of it")
    store.objects = {PREFIX + b"y": b"newer"}
    pull_with(place, store, "--delete", "--max-delete", "100%", expected=1)
    equal(place.files(), mine | {b"y": b"newer", b"z": b"my change of it"})


@case("a directory that an object wants to replace stays")
def directory_replaced(place):
    mirrored(place, [b"d/c"])
    with open(os.path.join(place.mirror, "d", "own"), "wb") as file:
        file.write(b"mine")
    store = Store({PREFIX + b"d": b"a file now"})
    pull_with(place, store, "--delete", "--force", "--max-delete", "100%")
    equal(place.files().get(b"d/own"), b"mine")
