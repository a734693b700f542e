"""Pages of a listing made here, from what the server lists, to be wrong in one way each."""

import re
import urllib.parse
import xml.sax.saxutils

import wire

ENTRY = re.compile(r"<Contents>.*?</Contents>", re.S)
KEY = re.compile(r"<Key>(.*?)</Key>", re.S)


class Listing:
    """Answers ListObjectsV2 with pages of `size` entries; `change` may alter each page.

    A page is a dictionary of `entries`, `truncated` (text, or None to leave it out), `token`,
    `prefix`, `name` and `root`; `number` counts the pages that were asked for, from 1, and `after`
    is the key behind which the first of a range begins.
    """

    def __init__(self, place, size=2, change=None):
        self.place = place
        self.size = size
        self.change = change
        self.asked = 0
        _, _, body = place.server.call("GET", "", {"list-type": "2", "max-keys": "1000",
                                                   "prefix": place.prefix + "/",
                                                   "encoding-type": "url"})
        self.entries = ENTRY.findall(body.decode())

    def keys(self, entries):
        return [urllib.parse.unquote(KEY.search(entry).group(1)) for entry in entries]

    def answer(self, request, forward):
        self.asked += 1
        start = 0
        token = request.query.get("continuation-token")
        if token is not None:
            start = int(token.split("-")[1])
        elif "start-after" in request.query:
            after = request.query["start-after"].encode()
            start = sum(1 for key in self.keys(self.entries) if key.encode() <= after)
        end = min(len(self.entries), start + self.size)
        more = end < len(self.entries)
        page = {"number": self.asked, "entries": self.entries[start:end], "start": start,
                "truncated": "true" if more else "false", "token": f"at-{end}" if more else None,
                "prefix": self.place.prefix + "/", "name": None, "root": "ListBucketResult",
                "status": 200, "after": request.query.get("start-after")}
        if self.change:
            page = self.change(page) or page
        if isinstance(page, list):
            return page
        body = page.get("body") or self.document(page)
        return [wire.plain(page["status"], body, [("Content-Type", "application/xml")]).bytes(),
                wire.KEEP]

    def document(self, page):
        parts = [f'<?xml version="1.0" encoding="UTF-8"?><{page["root"]}>']
        if page["name"] is not None:
            parts.append(f"<Name>{page['name']}</Name>")
        if page["prefix"] is not None:
            parts.append(f"<Prefix>{urllib.parse.quote(page['prefix'], safe='')}</Prefix>")
        parts.append("<EncodingType>url</EncodingType>")
        if page["truncated"] is not None:
            parts.append(f"<IsTruncated>{page['truncated']}</IsTruncated>")
        if page["token"] is not None:
            token = xml.sax.saxutils.escape(page["token"])
            parts.append(f"<NextContinuationToken>{token}</NextContinuationToken>")
        parts += page["entries"]
        parts.append(f"</{page['root']}>")
        return "".join(parts).encode()


def listing(place, size=2, change=None):
    """Puts a server in between that answers listings in this way."""
    between = place.wire()
    pages = Listing(place, size, change)
    between.on("ListObjectsV2", pages.answer)
    between.listing = pages
    return between


def with_field(entry, name, value):
    """An entry with another value of a field; None takes the field away."""
    new = "" if value is None else f"<{name}>{value}</{name}>"
    return re.sub(rf"<{name}>.*?</{name}>", lambda _: new, entry, flags=re.S)
