"""C14, C16: documents that are meant to hurt whoever reads them.

Of the register of faults: F134.
"""

import concurrent.futures
import os
import subprocess

from endpoints import BUCKET, OSS, PREFIX, S3, Endpoint, Store, contents, error, listing, reply
from harness import case, equal, expect

GOOD = listing([contents(b"mirror/a", 5), contents(b"mirror/b%20c", 7)])
ROOT = b"<ListBucketResult>"


def bomb(levels=12):
    lines = [b'<!ENTITY a0 "lol">']
    lines += [b'<!ENTITY a%d "' % n + b"&a%d;" % (n - 1) * 10 + b'">' for n in range(1, levels)]
    return (b"<!DOCTYPE ListBucketResult [" + b"".join(lines) + b"]>" + ROOT
            + b"<Name>&a%d;</Name></ListBucketResult>" % (levels - 1))


def with_doctype(declarations, key=b"mirror/&e;"):
    return (b"<!DOCTYPE ListBucketResult [" + declarations + b"]>"
            + listing([contents(key, 1)]).split(b"?>\n", 1)[1])


def inside(content):
    """A page with `content` before its first object."""
    return GOOD.replace(b"<Contents>", content + b"<Contents>", 1)


# Documents from which nothing may be believed.
REFUSED = {
    "a bomb of entities": bomb(),
    "a quadratic bomb": with_doctype(b'<!ENTITY e "' + b"x" * 50_000 + b'">', b"&e;" * 2_000),
    "an entity in a key": with_doctype(b'<!ENTITY e "..">'),
    "an empty DOCTYPE": GOOD.replace(b"?>\n", b"?>\n<!DOCTYPE ListBucketResult>", 1),
    "a file as an entity": with_doctype(b'<!ENTITY e SYSTEM "file:///etc/passwd">'),
    "an address as an entity": with_doctype(b'<!ENTITY e SYSTEM "http://127.0.0.1:9/">'),
    "a parameter entity": with_doctype(b'<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;'),
    "an unknown entity": listing([contents(b"mirror/&nosuch;", 1)]),
    "ten thousand nested tags": ROOT + b"<a>" * 10_000 + b"</a>" * 10_000 + b"</ListBucketResult>",
    "a million open tags": ROOT + b"<a>" * 1_000_000,
    "seventeen levels": inside(b"<a>" * 17 + b"</a>" * 17),
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-16 that says so": GOOD.replace(b"UTF-8", b"UTF-16").decode().encode("utf-16"),
    "UTF-7": GOOD.replace(b"UTF-8", b"UTF-7"), "EBCDIC": GOOD.decode().encode("cp037"),
    "another encoding": GOOD.replace(b"UTF-8", b"windows-1252"),
    "not UTF-8": GOOD.replace(b"mirror/a", b"mirror/\xff"),
    "overlong UTF-8": GOOD.replace(b"mirror/a", b"mirror/\xc0\xaf"),
    "a control character": GOOD.replace(b"mirror/a", b"mirror/\x01"),
    "a control character's number": GOOD.replace(b"mirror/a", b"mirror/&#1;"),
    "a number beyond Unicode": GOOD.replace(b"mirror/a", b"mirror/&#x110000;"),
    "NUL": GOOD.replace(b"mirror/a", b"mirror/\0a"),
    "an ETag of 1,025 bytes": listing([contents(b"mirror/a", 1, "e" * 1_025)]),
    "a key of 5,000 bytes": listing([contents(b"mirror/" + b"k" * 5_000, 1)]),
    "a text of a megabyte": inside(b"<Owner><ID>" + b"x" * (1 << 20) + b"</ID></Owner>"),
    "nine megabytes": inside(b"<!--" + b"x" * (9 << 20) + b"-->"),
    "many comments": inside(b"<!--x-->" * (9 << 17)),
    "two roots": GOOD + GOOD.split(b"?>\n", 1)[1], "text behind the root": GOOD + b"more",
    "another root": GOOD.replace(b"ListBucketResult", b"ListPartsResult"),
    "a page of HTML": b"<!DOCTYPE html><html><body>Please log in</body></html>",
    "HTML without DOCTYPE": b"<html><body><p>Please log in</body></html>",
    "JSON": b'{"IsTruncated": false}', "nothing": b"", "blanks": b" \n" * 5_000,
    "no IsTruncated": listing([contents(b"mirror/a", 5)], more=b""),
    "IsTruncated twice": GOOD.replace(b"<IsT", b"<IsTruncated>false</IsTruncated><IsT"),
    "IsTruncated with a tag": GOOD.replace(b">false<", b"><b>false</b><"),
    "IsTruncated in capitals": GOOD.replace(b">false<", b">False<"),
    "IsTruncated deeper": GOOD.replace(b"<IsTruncated>false</IsTruncated>",
                                       b"<X><IsTruncated>false</IsTruncated></X>"),
    "truncated without a token": GOOD.replace(b">false<", b">true<"),
    "an empty token": GOOD.replace(b"false</IsTruncated>",
                                   b"true</IsTruncated><NextContinuationToken/>"),
    "a key with a tag": GOOD.replace(b"mirror/a", b"mirror/<b/>a"),
    "two keys in one": GOOD.replace(b"<Key>mirror/a", b"<Key>mirror/0</Key><Key>mirror/a"),
    "no key": GOOD.replace(b"<Key>mirror/a</Key>", b""), "an empty key":
        GOOD.replace(b"<Key>mirror/a</Key>", b"<Key></Key>"),
    "a broken escape": listing([contents(b"mirror/%2", 5)]),
    "another escape": listing([contents(b"mirror/%zz", 5)]),
    "another encoding of keys": listing([contents(b"mirror/a", 5)], encoding=b"base64"),
    "another bucket": GOOD.replace(BUCKET.encode(), b"others"),
    "another prefix": GOOD.replace(b"<Prefix>mirror/", b"<Prefix>mirr"),
    "keys in disorder": listing([contents(b"mirror/b", 5), contents(b"mirror/a", 5)]),
    "a key twice": listing([contents(b"mirror/a", 5), contents(b"mirror/a", 6)]),
    "too many keys": listing([contents(b"mirror/%06d" % n, 0) for n in range(1_001)]),
    "directories that were not asked for":
        inside(b"<CommonPrefixes><Prefix>mirror/d/</Prefix></CommonPrefixes>"),
    "an error with status 200": b"<Error><Code>InternalError</Code></Error>",
    # Numbers.
    **{"the size " + repr(word): listing([contents(b"mirror/a", size)]) for word, size in {
        "-1": b"-1", "+5": b"+5", "": b"", " 5": b" 5", "5 ": b"5 ", "1e3": b"1e3", "0x10": b"0x10",
        "5.0": b"5.0", "1,000": b"1,000", "2^63": b"9223372036854775808", "2^64": b"1" + b"8" * 19,
        "twenty digits": b"1" * 20, "a million digits": b"1" * 1_000_000, "Arabic":
        "\u0665".encode(), "wide": "\uff15".encode(), "NaN": b"NaN", "inf": b"inf",
        "-0": b"-0", "5;5": b"5;5", "&#53;&#x0;": b"&#53;&#x0;"}.items()},
}


@case("a document that can't be believed deletes nothing and ends the run", REFUSED)
def refused(place, body):
    store = Store({PREFIX + name: b"content" for name in [b"a", b"kept", b"z"]})
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=0)
        before = place.files()
        asked = len(endpoint.requests)
        store.page = lambda _: reply(200, body, "Content-Type: application/xml")
        arguments = ["--delete=extra", "--allow-empty", "--max-delete", "100%"]
        place.run("pull", place.mirror, *arguments, endpoint=endpoint.url, expected=(1, 6))
        expect(len(endpoint.requests) - asked <= 8, "it asks too often")
    equal(place.files(), before)


@case("a listing that is cut off deletes nothing", {
    f"at {at} %": at for at in [0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 100]})
def cut(place, at):
    store = Store({PREFIX + name: b"content" for name in [b"a", b"b", b"z"]})
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=0)
        before = place.files()
        page = listing([contents(b"mirror/a", 7), contents(b"mirror/b", 7)])
        # All but the last byte is the most that may come.
        short = page[:min(len(page) * at // 100, len(page) - 1)]
        store.page = lambda _: reply(200, short)
        arguments = ["--delete=extra", "--allow-empty", "--max-delete", "100%"]
        place.run("pull", place.mirror, *arguments, endpoint=endpoint.url, expected=(1, 6))
    equal(place.files(), before)


@case("a listing that is cut off at any byte is none")
def cut_anywhere(place):
    def page(number):
        prefix = b"cut-%04d/" % number
        return listing([contents(prefix + b"a", 7)], prefix=prefix)

    def answer(request):
        number = int(request.query["prefix"][4:8])
        return reply(200, page(number)[:number], "Content-Type: application/xml")

    def ends(number):
        line = [place.program, "ls", f"oss://{BUCKET}/cut-{number:04}", "--retries", "0"]
        return subprocess.run(line, env=variables, cwd=place.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=50)
    with Endpoint(answer) as endpoint:
        variables = place.environment(endpoint.url)
        numbers = range(len(page(0)) + 1)
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
            outcomes = list(pool.map(ends, numbers))
    for number, outcome in zip(numbers, outcomes):
        wanted = 0 if number == numbers[-1] else 6
        equal(outcome.returncode, wanted, f"the exit after {number} bytes: {outcome.stdout}")


# What a page may have that is not for us.
HARMLESS = {
    "an unknown element": inside(b"<New a='1'><Deep><er/></Deep></New>"),
    "a processing instruction": inside(b"<?php system('id') ?>"),
    "an inclusion": inside(b'<xi:include href="file:///etc/passwd" parse="text" '
                           b'xmlns:xi="http://www.w3.org/2001/XInclude"/>'),
    "a style sheet": GOOD.replace(b"?>\n", b'?>\n<?xml-stylesheet href="file:///etc/passwd"?>', 1),
    "ten thousand attributes": inside(b"<x " + b" ".join(b'a%d="1"' % n for n in range(10_000))
                                      + b"/>"),
    "a long attribute": inside(b'<x a="' + b"y" * (1 << 20) + b'"/>'),
    "a long name": inside(b"<" + b"n" * (1 << 20) + b"/>"),
    "a hundred thousand small elements": inside(b"<e/>" * 100_000),
    "CDATA": GOOD.replace(b"mirror/a", b"<![CDATA[mirror/a]]>"),
    "a comment in a key": GOOD.replace(b"mirror/a", b"mirror<!-- / -->/a"),
    "a mark of byte order": b"\xef\xbb\xbf" + GOOD,
    "blank lines first": b"\n" * 3_000 + GOOD.split(b"?>\n", 1)[1],
}


@case("what is merely strange is read as XML means it", HARMLESS)
def harmless(place, body):
    with Endpoint(lambda _: reply(200, body)) as endpoint:
        outcome = place.run("ls", OSS, endpoint=endpoint.url, expected=0)
        equal([line.split()[-1] for line in outcome.output.splitlines()][0], "mirror/a")
        equal(len(outcome.output.splitlines()), 2)


@case("a hostile error document is an error", {
    word: body for word, body in REFUSED.items()
    if word in {"a bomb of entities", "a file as an entity", "ten thousand nested tags", "UTF-16",
                "a million open tags", "nine megabytes", "a text of a megabyte", "NUL", "nothing"}})
def errors(place, body):
    body = body.replace(b"ListBucketResult", b"Error")
    for status in [400, 403, 404]:
        with Endpoint(lambda _, status=status: reply(status, body)) as endpoint:
            for remote in [OSS, S3]:
                place.run("ls", remote, endpoint=endpoint.url, expected=(1, 4, 6))


@case("a header's hostile error document is an error", {
    "not Base64": "%%%", "a bomb": "PCFET0NUWVBFIGFbPCFFTlRJVFkgYiAiYyI+XT48YT4mYjs8L2E+",
    "long": "A" * 60_000, "nothing": ""})
def header_error(place, value):
    store = Store({PREFIX + b"empty": b""})
    store.head = lambda _: reply(404, b"", "x-oss-err: " + value, "x-oss-ec: 0026-00000001")
    with Endpoint(store) as endpoint:
        place.run("pull", place.mirror, OSS, endpoint=endpoint.url, expected=(0, 1))
    equal(place.files(), {})


ANSWERS = {
    "a bomb": bomb(), "nothing": b"", "deep": b"<a>" * 10_000, "another's": GOOD,
    "an error": b"<Error><Code>AccessDenied</Code></Error>",
    "an upload ID with a line": b"<InitiateMultipartUploadResult><UploadId>a&#13;&#10;X: y"
                                b"</UploadId></InitiateMultipartUploadResult>",
    "an upload ID like a path": b"<InitiateMultipartUploadResult><UploadId>../../x?y&amp;z#"
                                b"</UploadId></InitiateMultipartUploadResult>",
    "a long upload ID": b"<InitiateMultipartUploadResult><UploadId>" + b"i" * 60_000
                        + b"</UploadId></InitiateMultipartUploadResult>",
}


@case("a hostile answer to an upload makes no success", ANSWERS)
def uploads(place, body):
    with open(os.path.join(place.mirror, "large"), "wb") as file:
        file.truncate(20 << 20)
    store = Store()

    def put(request):
        if "uploads" in request.query and request.method == b"POST":
            return reply(200, body)
        # No header or request beside those that were asked for.
        expect(b"\r\nX: y" not in request.raw, "a header was injected")
        return error(404, b"NoSuchUpload")
    store.put = put
    with Endpoint(store) as endpoint:
        for remote in [OSS, S3]:
            place.run("push", place.mirror, remote, "--rebind", endpoint=endpoint.url,
                      expected=(1, 4, 6))
