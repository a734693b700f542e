"""C08: a bucket writer and the mirrors that lie within a mirror.

Of the register of faults: F169, F190.
"""

import os

from endpoints import PORTS, OSS, PREFIX, Endpoint, Store, reply
from harness import case, equal, expect

DIGITS = b"0123456789abcdef" * 2
# What whoever may write to the outer mirror's bucket puts where the inner mirror's state is.
PLANTED = [b"photos/.osssync/manifest.db", b"photos/.osssync/marker", b"photos/.osssync/lock",
           b"photos/.osssync/", b"photos/.OSSSync/config", b"photos/deep/.osssync/config",
           b"photos/.osssync-" + DIGITS, b".OSSSYNC-" + DIGITS.upper() + b"/x"]
WAYS = [("pull",), ("pull", "--force", "--on-conflict", "remote"),
        ("pull", "--delete=extra", "--max-delete", "100%"),
        ("sync", "--delete"), ("pull", "--checksum"),
        ("pull", "--delete=excluded", "--exclude", "photos/", "--max-delete", "100%")]


def state(place):
    """What the inner mirror's state is, byte for byte."""
    folder = os.path.join(place.mirror, "photos", ".osssync")
    found = {}
    for base, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(base, name), "rb") as file:
                found[os.path.relpath(os.path.join(base, name), folder)] = file.read()
    return found


def inner_mirror(place, inner):
    """A mirror of a private prefix within the mirror of the shared one."""
    os.makedirs(os.path.join(place.mirror, "photos"))
    for index in range(2):
        with open(os.path.join(place.mirror, "photos", f"private{index}.jpg"), "wb") as file:
            file.write(b"private picture %d" % index)

    def put(request):
        inner.objects[request.key] = request.body
        return reply(200, b"", f'ETag: "{Store.etag(request.body)}"')
    inner.put = put
    with Endpoint(inner) as endpoint:
        place.inner_port = endpoint.port
        place.run("push", os.path.join(place.mirror, "photos"), OSS.replace("mirror", "private"),
                  "--endpoint", endpoint.url, endpoint=endpoint.url, expected=0)
    expect(b"private/private0.jpg" in inner.objects, f"{sorted(inner.objects)}")
    return state(place)


@case("a mirror within the mirror is out of a bucket writer's reach")
def takeover(place):
    inner = Store()
    before = inner_mirror(place, inner)
    # The attacker has another port.
    PORTS.last = 0
    with Endpoint(Store()) as attacker:
        evil = b"[mirror]\nremote = oss://canary-bucket/evil/\nendpoint = " + \
            attacker.url.encode() + b"\n"
        objects = {PREFIX + key: b"" for key in PLANTED}
        objects[PREFIX + b"photos/.osssync/config"] = evil
        objects |= {PREFIX + b"photos/private%d.jpg" % index: b"private picture %d" % index
                    for index in range(2)}
        changed = []

        def change(request):
            changed.append((request.method, request.key))
            return reply(200, b"", f'ETag: "{Store.etag(request.body)}"')
        store = Store(objects)
        store.put = change
        for way in WAYS:
            with Endpoint(store) as endpoint:
                outcome = place.run(way[0], place.mirror, OSS, *way[1:], endpoint=endpoint.url,
                                    expected=0)
                for request in endpoint.requests:
                    expect(b".osssync" not in request.key.lower(), f"{way}: {request.target}")
            equal(state(place), before, f"the inner mirror's state after {way}")
            # What a filter hides needs no word.
            many = "1 object has a name" if "--exclude" in way else "9 objects have names"
            equal(outcome.text.count(many + " reserved for osssync's own files"), 1, f"{outcome}")
            equal(outcome.text.count("'photos' is a separate mirror"), 1, f"{outcome}")
        equal(changed, [], "what was changed in the shared bucket")
        # The inner mirror's next run goes where it always went.
        PORTS.last = place.inner_port
        with Endpoint(inner) as endpoint:
            place.run("pull", os.path.join(place.mirror, "photos"), "--endpoint", endpoint.url,
                      endpoint=attacker.url, expected=0)
        equal(attacker.requests, [], "requests to the attacker")


@case("the state of a mirror within the mirror is never sent")
def not_sent(place):
    inner_mirror(place, Store())
    with open(os.path.join(os.fsencode(place.mirror), b".osssync-" + DIGITS), "wb") as file:
        file.write(b"a transfer of one file")
    store = Store({PREFIX + b"photos/.osssync/config": b"somebody's", PREFIX + b"zz": b"good"})
    changed = []

    def change(request):
        changed.append((request.method, request.key))
        return reply(200, b"", f'ETag: "{Store.etag(request.body)}"')
    store.put = change
    wanted = [(b"PUT", PREFIX + b"photos/private%d.jpg" % index) for index in range(2)]
    for way in [("push",), ("push", "--delete=extra", "--max-delete", "100%"), ("sync",)]:
        changed.clear()
        with Endpoint(store) as endpoint:
            outcome = place.run(*way[:1], place.mirror, OSS, "-v", *way[1:], endpoint=endpoint.url,
                                expected=0 if way == ("push",) else (0, 1))
        keys = {key for _, key in changed}
        expect(not any(b".osssync" in key.lower() for key in keys), f"{way}: {changed}")
        if way == ("push",):
            equal(sorted(changed), wanted, "what was sent")
        equal(outcome.text.count("': the name is reserved for osssync's own files"), 1,
              f"{outcome}")
