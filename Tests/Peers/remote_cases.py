"""What osssync does with any remote, OSS or S3: the same cases for stores on this machine and live."""

import os
import shutil
import time

from remote_place import Proxy, expect, fill, same, write, write_large


def round_trip(place, keys, size):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    fill(one, keys)
    write(one, "parts.bin", os.urandom(size), 1_600_000_000_000_000_001)
    place.run("push", one, remote)
    again = place.run("push", one)
    expect(again["transferred"] == 0 and again["requests"] <= 2, f"not a no-op: {again}")
    place.run("pull", two, remote)
    same(one, two)
    again = place.run("pull", two)
    expect(again["transferred"] == 0 and again["in_step"], f"not a no-op: {again}")


def changes(place, keys):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    fill(one, keys)
    write(one, "moved.bin", os.urandom(2 << 20))
    place.run("push", one, remote)
    place.run("pull", two, remote)
    write(one, keys[0], b"changed")
    write(one, "new", b"new")
    done = place.run("push", one)
    expect(done["transferred"] == 2, f"not two changes: {done}")
    os.remove(os.path.join(one, keys[1]))
    os.rename(os.path.join(one, "moved.bin"), os.path.join(one, "renamed.bin"))
    done = place.run("push", one, "--delete")
    expect(done["deleted"] == 1 and done["renamed"] == 1 and done["bytes"] == 0,
           f"not a rename and a deletion: {done}")
    done = place.run("pull", two, "--delete")
    expect(done["deleted"] == 1 and done["renamed"] == 1, f"not a rename and a deletion: {done}")
    same(one, two)


def changed_part(place, copies=True):
    """Of a large file the part is sent that changed; the store copies the others, if it can."""
    one, two, remote = place.directory(), place.directory(), place.prefix()
    size, part = 73 << 20, 8 << 20
    write_large(one, "disk", size)
    place.run("push", one, remote)
    with open(os.path.join(one, "disk"), "r+b") as file:
        file.seek(3 * part)
        file.write(b"changed")
    done = place.run("push", one)
    sent = part if copies else size
    expect((done["bytes"], done["bytes_copied"]) == (sent, size - sent), f"not one part: {done}")
    place.run("pull", two, remote)
    same(one, two)


def adoption(place, keys, size):
    """A manifest that was lost is made again from digests, without a transfer."""
    one, remote = place.directory(), place.prefix()
    fill(one, keys)
    write(one, "parts.bin", os.urandom(size))
    place.run("push", one, remote)
    shutil.rmtree(os.path.join(one, ".osssync"))
    done = place.run("push", one, remote)
    expect(done["transferred"] == 0 and done["adopted"] == len(keys) + 1, f"not adopted: {done}")


def empty_directory(place):
    one, two, remote = place.directory(), place.directory(), place.prefix()
    os.makedirs(os.path.join(one, "empty"))
    write(one, "file", b"x")
    place.run("push", one, remote)
    place.run("pull", two, remote)
    same(one, two)
    for command, directory in (("push", one), ("pull", two), ("sync", two)):
        again = place.run(command, directory)
        expect(again["transferred"] == 0, f"moved by another {command}: {again}")


def kill_and_resume(place, size):
    """`kill -9` in a push and in a pull of one large file; the same commands go on."""
    one, two, remote = place.directory(), place.directory(), place.prefix()
    write_large(one, "large.bin", size)
    # Of a file that was written while its upload began, another run could not tell a later change.
    os.utime(os.path.join(one, "large.bin"), (1_600_000_000, 1_600_000_000))
    killed(place, size, "up", "push", one, remote, "--part-size", "5M")
    expect(place.bucket.uploads(place.key(remote, "")), "no upload was left to go on with")
    resumed(place, size, "up", "push", one, "--part-size", "5M")
    expect(not place.bucket.uploads(place.key(remote, "")), "an upload was left open")
    killed(place, size, "down", "pull", two, remote)
    expect(not os.path.exists(os.path.join(two, "large.bin")), "a file that is not whole")
    resumed(place, size, "down", "pull", two)
    same(one, two)
    shutil.rmtree(one)
    shutil.rmtree(two)


def killed(place, size, direction, *command):
    proxy = Proxy(place.bucket, rate=size / 2)
    process = place.start(*command, proxy=proxy)
    while getattr(proxy, direction) < size * 0.6:
        expect(process.status is None, f"the {command[0]} ended too early")
        time.sleep(0.005)
    process.end()
    proxy.stop()


def resumed(place, size, direction, *command):
    proxy = Proxy(place.bucket)
    done = place.run(*command, proxy=proxy)
    proxy.stop()
    moved = getattr(proxy, direction)
    print(f"  {command[0]} resumed {done['bytes_resumed']} of {size}, moved {moved}", flush=True)
    expect(done["bytes_resumed"] > 0 and moved < size * 0.75, f"moved again: {moved} {done}")


def another_writer(place, existing, size):
    """Somebody puts the object between our listing and the end of our PUT: theirs stays."""
    one, remote = place.directory(), place.prefix()
    key = place.key(remote, "contested")
    if existing:
        write(one, "contested", b"first")
        place.run("push", one, remote)
    write(one, "contested", b"ours" * (size // 4))
    path = place.bucket.path(key).encode()
    acted = []

    def before(data, sent):
        # Within TLS nothing can be read: after so many bytes the content must be on its way.
        is_end = (data.startswith((b"PUT " + path, b"POST " + path)) if place.bucket.is_loopback
                  else sent > size // 2)
        if is_end and not acted:
            acted.append(True)
            acted.append(place.bucket.call("PUT", key, body=b"theirs")[0])

    proxy = Proxy(place.bucket, before=before)
    done = place.run("push", one, remote, status=1, proxy=proxy)
    proxy.stop()
    expect(acted[1:] == [200], f"the other writer failed: {acted}")
    expect(done["conflicts"] == 1, f"no conflict: {done}")
    expect("another writer" in done["text"], done["text"])
    status, _, body = place.bucket.call("GET", key)
    expect((status, body) == (200, b"theirs"), "the other writer's object was overwritten")


def leaves_nothing(place):
    place.bucket.clean(place.base)
    expect(place.bucket.objects(place.base) == [], "objects were left")
    expect(place.bucket.uploads(place.base) == [], "uploads were left")
    expect(place.bucket.versions(place.base) == [], "versions were left")


def everything(run, place, keys, size, writers, copies=True):
    """The whole suite, ending with an empty prefix; `writers` are kinds and sizes of contests."""
    try:
        run("round trip", round_trip, place, keys, 20 << 20)
        run("changes", changes, place, keys)
        run("adoption", adoption, place, keys, 20 << 20)
        run("changed part", changed_part, place, copies)
        run("empty directory", empty_directory, place)
        run(f"kill and resume, {size} bytes", kill_and_resume, place, size)
        for existing, length in writers:
            name = f"another writer, {'changed' if existing else 'new'}, {length} bytes"
            run(name, another_writer, place, existing, length)
    finally:
        run("leaves nothing", leaves_nothing, place)
