"""C35: link objects of OSS, by which a writer of one prefix would read the rest of the bucket.

Of the register of faults: F184.
"""

import json

from endpoints import OSS, PREFIX, Endpoint, Store, contents, error, listing, quote, reply
from harness import case, equal, expect

SECRET = b"what another prefix holds"
# What a link may say of its target, as it stands in the header; none of it is in the prefix.
TARGETS = {
    "another prefix": "hr%2Fsalaries", "a twin of the prefix": "mirror-twin%2Fx",
    "the prefix itself": "mirror%2F", "the prefix without its slash": "mirror",
    "up": "mirror%2F..%2Fhr%2Fsalaries", "here": "mirror%2F.%2Fx", "empty segment": "mirror%2F%2Fx",
    "absolute": "%2Fmirror%2Fx", "another bucket": "%2Fother-bucket%2Fmirror%2Fx",
    "an address": "http%3A%2F%2F127.0.0.1%2Fx", "own state": "mirror%2F.osssync%2Fconfig",
    "NUL": "mirror%2Fx%00", "not UTF-8": "mirror%2F%FF", "half a digit": "mirror%2F%4",
    "nothing": "", "no header": None, "encoded twice": "mirror%252Fgood",
    "long": "mirror%2F" + "x" * 5_000,
}


class Links(Store):
    """A store with link objects, key to header; a read of a link is a read of its target."""

    def __init__(self, objects, links, leads):
        super().__init__(objects)
        self.links = links
        self.leads = leads
        self.page = self.page_with_links

    def page_with_links(self, request):
        entries = dict.fromkeys(self.links, None) | {
            key: body for key, body in self.objects.items() if key.startswith(PREFIX)}
        text = [contents(quote(key), len(entries[key] or b""), self.etag(entries[key] or b""))
                .replace(b"<Type>Normal", b"<Type>Symlink" if key in self.links else b"<Type>Normal")
                for key in sorted(entries)]
        return reply(200, listing(text), "Content-Type: application/xml")

    def __call__(self, request):
        if "symlink" in request.query:
            if request.key not in self.links:
                return error(400, b"NotSymlink")
            target = self.links[request.key]
            lines = [] if target is None else [f"x-oss-symlink-target: {target}"]
            return reply(200, b"", 'ETag: "0"', *lines)
        if request.key in self.links and request.method in (b"GET", b"HEAD"):
            request.path = request.path[:-len(request.key)] + self.leads
            return self.honest_object(request, "x-oss-object-type: Symlink")
        return super().__call__(request)


@case("a link is followed nowhere but beneath the prefix, whatever it says of its target", TARGETS)
def out(place, target):
    store = Links({PREFIX + b"good": b"good", b"hr/salaries": SECRET},
                  {PREFIX + b"x": target}, leads=b"hr/salaries")
    for _ in range(2):
        with Endpoint(store) as endpoint:
            outcome = place.run("pull", place.mirror, OSS, "--delete", "--json",
                                endpoint=endpoint.url, expected=1)
        equal(place.files(), {b"good": b"good"})
        summary = json.loads(outcome.output.splitlines()[-1])
        equal((summary["failed"], summary["skipped"]), (0, 1), str(outcome))
        asked = {request.key for request in endpoint.requests if not request.is_listing}
        expect(asked <= {PREFIX + b"x", PREFIX + b"good"}, f"asked for {asked}")


@case("a link whose target is a link is not followed, though the store follows both")
def chain(place):
    store = Links({b"hr/salaries": SECRET},
                  {PREFIX + b"x": "mirror%2Fy", PREFIX + b"y": "hr%2Fsalaries"},
                  leads=b"hr/salaries")
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=1)
    equal(place.files(), {})
    expect(not any(request.method == b"GET" and request.key and "symlink" not in request.query
                   for request in endpoint.requests), "something was fetched")


@case("a link that leads elsewhere than it says is fetched as what it says or not at all")
def turned(place):
    # It names an object of the prefix, and every read gives another one.
    store = Links({PREFIX + b"good": b"good", b"hr/salaries": SECRET},
                  {PREFIX + b"x": "mirror%2Fgood"}, leads=b"hr/salaries")

    def honest(request):
        if "if-match" in request.headers and SECRET == store.objects.get(request.key):
            if request.headers["if-match"].strip('"') != store.etag(SECRET):
                return error(412, b"PreconditionFailed")
        return Links.__call__(store, request)

    def answer(request):
        if request.key == PREFIX + b"x" and "symlink" not in request.query \
                and request.method == b"GET":
            request.path = request.path[:-len(request.key)] + b"hr/salaries"
            return honest(request)
        return Links.__call__(store, request)
    with Endpoint(answer) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=1)
    equal(place.files(), {b"good": b"good"})


@case("a page of links costs no more than a request each")
def many(place):
    links = {PREFIX + b"l%04d" % index: "hr%2Fsalaries" for index in range(900)}
    store = Links({PREFIX + b"good": b"good"}, links, leads=b"hr/salaries")
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=1)
    equal(place.files(), {b"good": b"good"})
    expect(len(endpoint.requests) <= 900 + 10, f"{len(endpoint.requests)} requests")
