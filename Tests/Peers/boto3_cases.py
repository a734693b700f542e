"""Cases with boto3: objects, listings, ranges, multipart uploads."""

import base64
import hashlib
import os
import tempfile
import zlib

import boto3
import botocore
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

from peer import ACCESS_KEY, ODD_KEYS, REGION, SECRET, equal, expect, has_control, ramp

PART = 5 << 20


def make_client(url, secret=SECRET, region=REGION, key=ACCESS_KEY, token=None):
    return boto3.client(
        "s3", endpoint_url=url, aws_access_key_id=key, aws_secret_access_key=secret,
        aws_session_token=token, region_name=region,
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0}))


def service_error(call, *arguments, **named):
    """Status and code of the error that a call ends with."""
    try:
        call(*arguments, **named)
    except botocore.exceptions.ClientError as error:
        response = error.response
        return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]
    raise AssertionError("an error was expected")


class Cases:
    def __init__(self, url):
        self.client = make_client(url)
        self.bucket = "boto-bucket"

    def put(self, key, body, **named):
        return self.client.put_object(Bucket=self.bucket, Key=key, Body=body, **named)

    def get(self, key, **named):
        result = self.client.get_object(Bucket=self.bucket, Key=key, **named)
        return result, result["Body"].read()

    def test_put_and_get(self):
        body = ramp(100_000)
        put = self.put("plain", body, ContentType="text/x-test", CacheControl="no-cache",
                       Metadata={"mtime": "1700000000.123456789"})
        equal(put["ETag"], '"' + hashlib.md5(body).hexdigest() + '"')
        got, found = self.get("plain")
        equal(found, body)
        equal((got["ContentType"], got["CacheControl"]), ("text/x-test", "no-cache"))
        equal(got["Metadata"], {"mtime": "1700000000.123456789"})
        equal(got["ETag"], put["ETag"])
        expect("server" in got["ResponseMetadata"]["HTTPHeaders"])
        expect(not any(name.startswith("x-oss") for name in
                       got["ResponseMetadata"]["HTTPHeaders"]), "a header of OSS")
        head = self.client.head_object(Bucket=self.bucket, Key="plain")
        equal((head["ContentLength"], head["ETag"]), (len(body), put["ETag"]))
        self.put("empty", b"")
        equal(self.get("empty")[1], b"")
        equal(service_error(self.get, "nowhere"), (404, "NoSuchKey"))
        equal(service_error(self.client.head_object, Bucket=self.bucket, Key="no"), (404, "404"))
        equal(service_error(self.put, "k" * 1_025, b""), (400, "KeyTooLongError"))
        self.put("k" * 1_024, b"")
        self.client.delete_object(Bucket=self.bucket, Key="k" * 1_024)

    def test_odd_keys(self):
        keys = sorted(ODD_KEYS + ["carriage\rreturn"], key=lambda key: key.encode())
        for key in keys:
            self.put("odd/" + key, key.encode())
        for key in keys:
            equal(self.get("odd/" + key)[1], key.encode())
        wanted = ["odd/" + key for key in keys]
        for kind in ("list_objects_v2", "list_objects"):
            for size in (4, 1_000):
                equal(self.listed(kind, Prefix="odd/", PaginationConfig={"PageSize": size}), wanted)
        named = [{"Key": key} for key in wanted if not has_control(key)]
        result = self.client.delete_objects(Bucket=self.bucket, Delete={"Objects": named})
        equal([item["Key"] for item in result["Deleted"]], [item["Key"] for item in named])
        for key in wanted:
            if has_control(key):
                self.client.delete_object(Bucket=self.bucket, Key=key)
        equal(self.listed("list_objects_v2", Prefix="odd/"), [])

    def listed(self, kind, **named):
        pages = self.client.get_paginator(kind).paginate(Bucket=self.bucket, **named)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def test_many_keys(self):
        wanted = [f"many/{number // 100:02}/{number:04}" for number in range(5_000)]
        for key in wanted:
            self.put(key, b"x")
        for kind in ("list_objects_v2", "list_objects"):
            pages = list(self.client.get_paginator(kind).paginate(
                Bucket=self.bucket, Prefix="many/"))
            equal([len(page["Contents"]) for page in pages], [1_000] * 5)
            equal([item["Key"] for page in pages for item in page["Contents"]], wanted)
        pages = self.client.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix="many/", Delimiter="/", PaginationConfig={"PageSize": 7})
        found = [item["Prefix"] for page in pages for item in page.get("CommonPrefixes", [])]
        equal(found, [f"many/{number:02}/" for number in range(50)])
        after = self.client.list_objects_v2(
            Bucket=self.bucket, Prefix="many/", StartAfter="many/49/4997", MaxKeys=5_000)
        equal([item["Key"] for item in after["Contents"]], wanted[-2:])
        equal((after["MaxKeys"], after["KeyCount"]), (1_000, 2))
        none = self.client.list_objects_v2(Bucket=self.bucket, MaxKeys=0)
        equal((none["KeyCount"], none["IsTruncated"]), (0, False))
        equal(service_error(self.client.list_objects_v2, Bucket=self.bucket,
                            ContinuationToken="invented"), (400, "InvalidArgument"))
        for start in range(0, 5_000, 1_000):
            objects = [{"Key": key} for key in wanted[start:start + 1_000]]
            result = self.client.delete_objects(
                Bucket=self.bucket, Delete={"Objects": objects, "Quiet": start > 0})
            equal(len(result.get("Deleted", [])), 0 if start else 1_000)
        equal(self.listed("list_objects_v2", Prefix="many/"), [])

    def test_ranges(self):
        body = ramp(1_000)
        etag = self.put("ranged", body)["ETag"]
        for text, wanted in [("bytes=0-499", body[:500]), ("bytes=500-2000", body[500:]),
                             ("bytes=999-", body[999:]), ("bytes=-10", body[-10:]),
                             ("bytes=-2000", body)]:
            got, found = self.get("ranged", Range=text, IfMatch=etag)
            equal((got["ResponseMetadata"]["HTTPStatusCode"], found), (206, wanted))
        for text in ("bytes=1000-", "bytes=1000-2000", "bytes=-0"):
            equal(service_error(self.get, "ranged", Range=text), (416, "InvalidRange"))
        equal(self.get("ranged", Range="bytes=600-500")[1], body)
        equal(service_error(self.get, "ranged", IfMatch='"0"')[0], 412)
        equal(service_error(self.get, "ranged", IfNoneMatch=etag)[0], 304)
        self.put("ranged-empty", b"")
        equal(service_error(self.get, "ranged-empty", Range="bytes=0-"), (416, "InvalidRange"))

    def test_multipart_by_the_library(self):
        body = ramp(2 * PART + 12_345)
        with tempfile.TemporaryDirectory() as folder:
            path, back = os.path.join(folder, "big"), os.path.join(folder, "back")
            with open(path, "wb") as file:
                file.write(body)
            config = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART)
            self.client.upload_file(path, self.bucket, "library.bin", Config=config)
            self.client.download_file(self.bucket, "library.bin", back, Config=config)
            with open(back, "rb") as file:
                expect(file.read() == body, "another content came back")
        head = self.client.head_object(
            Bucket=self.bucket, Key="library.bin", ChecksumMode="ENABLED")
        digests = [hashlib.md5(body[start:start + PART]).digest()
                   for start in range(0, len(body), PART)]
        equal(head["ETag"], '"%s-3"' % hashlib.md5(b"".join(digests)).hexdigest())
        expect(head["ChecksumCRC32"].endswith("-3"), "no composite checksum")
        named = {"Bucket": self.bucket, "Key": "library.bin"}
        pieces = [body[start:start + PART] for start in range(0, len(body), PART)]
        for number, piece in enumerate(pieces, 1):
            got, found = self.get("library.bin", PartNumber=number)
            expect(found == piece, "another part came back")
            head = self.client.head_object(PartNumber=number, **named)
            for answer in (got, head):
                equal((answer["PartsCount"], answer["ContentLength"]), (3, len(piece)))
        equal(service_error(self.get, "library.bin", PartNumber=4), (416, "InvalidPartNumber"))
        equal(service_error(self.get, "library.bin", PartNumber=1, Range="bytes=0-1"),
              (400, "InvalidRequest"))
        told = self.client.get_object_attributes(
            MaxParts=2, ObjectAttributes=["ETag", "Checksum", "ObjectParts", "ObjectSize",
                                          "StorageClass"], **named)
        equal((told["ETag"], told["ObjectSize"], told["StorageClass"]),
              (head["ETag"].strip('"'), len(body), "STANDARD"))
        equal(told["Checksum"]["ChecksumType"], "COMPOSITE")
        parts = told["ObjectParts"]
        equal((parts["TotalPartsCount"], parts["IsTruncated"], parts["NextPartNumberMarker"]),
              (3, True, 2))
        equal([(item["PartNumber"], item["Size"]) for item in parts["Parts"]],
              [(1, PART), (2, PART)])
        equal(parts["Parts"][1]["ChecksumCRC32"], base64.b64encode(
            zlib.crc32(pieces[1]).to_bytes(4, "big")).decode())
        rest = self.client.get_object_attributes(
            PartNumberMarker=2, ObjectAttributes=["ObjectParts"], **named)["ObjectParts"]
        equal([item["PartNumber"] for item in rest["Parts"]], [3])
        self.put("one piece", b"abc")
        got, found = self.get("one piece", PartNumber=1)
        equal((found, "PartsCount" in got), (b"abc", False))
        equal(service_error(self.get, "one piece", PartNumber=2), (416, "InvalidPartNumber"))

    def begin(self, key, **named):
        return self.client.create_multipart_upload(
            Bucket=self.bucket, Key=key, **named)["UploadId"]

    def part(self, key, upload, number, body):
        done = self.client.upload_part(
            Bucket=self.bucket, Key=key, UploadId=upload, PartNumber=number, Body=body)
        return {"PartNumber": number, "ETag": done["ETag"]}

    def complete(self, key, upload, parts, **named):
        return self.client.complete_multipart_upload(
            Bucket=self.bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": parts},
            **named)

    def test_multipart_resumed(self):
        key, body = "resumed bin", ramp(2 * PART + 1)
        upload = self.begin(key, Metadata={"mtime": "5.5"}, ContentType="x/y")
        pieces = {number: body[(number - 1) * PART:number * PART] for number in (1, 2, 3)}
        self.part(key, upload, 1, pieces[1])
        self.part(key, upload, 3, b"soon replaced")
        self.part(key, upload, 3, pieces[3])
        open_uploads = self.client.list_multipart_uploads(Bucket=self.bucket, Prefix="resumed")
        equal([(item["Key"], item["UploadId"]) for item in open_uploads["Uploads"]],
              [(key, upload)])
        listed = self.client.list_parts(Bucket=self.bucket, Key=key, UploadId=upload)["Parts"]
        equal([(item["PartNumber"], item["Size"]) for item in listed], [(1, PART), (3, 1)])
        second = self.part(key, upload, 2, pieces[2])
        parts = [{name: item[name] for name in ("PartNumber", "ETag")} for item in listed]
        parts = sorted(parts + [second], key=lambda item: item["PartNumber"])
        wrong = [dict(item, ETag='"0"') for item in parts]
        equal(service_error(self.complete, key, upload, wrong), (400, "InvalidPart"))
        equal(service_error(self.complete, key, upload, parts[::-1]), (400, "InvalidPartOrder"))
        equal(service_error(self.complete, key, upload, []), (400, "MalformedXML"))
        self.complete(key, upload, parts)
        got, found = self.get(key)
        expect(found == body, "another content came back")
        equal((got["Metadata"], got["ContentType"]), ({"mtime": "5.5"}, "x/y"))
        equal(service_error(self.complete, key, upload, parts), (404, "NoSuchUpload"))

    def test_small_parts_and_abort(self):
        upload = self.begin("small")
        parts = [self.part("small", upload, number, ramp(PART - 1)) for number in (1, 2)]
        equal(service_error(self.complete, "small", upload, parts), (400, "EntityTooSmall"))
        self.client.abort_multipart_upload(Bucket=self.bucket, Key="small", UploadId=upload)
        equal(service_error(self.part, "small", upload, 1, b"x"), (404, "NoSuchUpload"))

    def test_conditional_writes(self):
        first = self.put("guarded", b"1", IfNoneMatch="*")["ETag"]
        equal(service_error(self.put, "guarded", b"2", IfNoneMatch="*"),
              (412, "PreconditionFailed"))
        equal(service_error(self.put, "guarded", b"2", IfMatch='"0"'),
              (412, "PreconditionFailed"))
        second = self.put("guarded", b"2", IfMatch=first)["ETag"]
        equal(service_error(self.put, "absent", b"", IfMatch=first), (404, "NoSuchKey"))
        upload = self.begin("guarded")
        parts = [self.part("guarded", upload, 1, b"3")]
        for condition in ({"IfNoneMatch": "*"}, {"IfMatch": first}):
            equal(service_error(self.complete, "guarded", upload, parts, **condition),
                  (412, "PreconditionFailed"))
        self.complete("guarded", upload, parts, IfMatch=second)
        equal(self.get("guarded")[1], b"3")

    def test_copies(self):
        body = ramp(PART + 100)
        self.put("source ü+", body, Metadata={"a": "1"}, ContentType="x/y")
        source = {"Bucket": self.bucket, "Key": "source ü+"}

        def copy(key, **named):
            return self.client.copy_object(
                Bucket=self.bucket, Key=key, CopySource=source, **named)
        equal(copy("copy")["CopyObjectResult"]["ETag"],
              '"' + hashlib.md5(body).hexdigest() + '"')
        got, found = self.get("copy")
        expect(found == body, "another content came back")
        equal((got["Metadata"], got["ContentType"]), ({"a": "1"}, "x/y"))
        copy("source ü+", MetadataDirective="REPLACE", Metadata={"b": "2"})
        equal(self.get("source ü+")[0]["Metadata"], {"b": "2"})
        equal(service_error(copy, "source ü+"), (400, "InvalidRequest"))
        equal(service_error(copy, "x", CopySourceIfMatch='"0"'), (412, "PreconditionFailed"))
        upload = self.begin("parts")

        def copy_part(number, text):
            done = self.client.upload_part_copy(
                Bucket=self.bucket, Key="parts", UploadId=upload, PartNumber=number,
                CopySource=source, CopySourceRange=text)
            return {"PartNumber": number, "ETag": done["CopyPartResult"]["ETag"]}
        parts = [copy_part(1, f"bytes=0-{PART - 1}"),
                 copy_part(2, f"bytes={PART}-{len(body) - 1}")]
        equal(service_error(copy_part, 3, f"bytes=0-{len(body)}"), (400, "InvalidArgument"))
        self.complete("parts", upload, parts)
        expect(self.get("parts")[1] == body, "another content came back")


def run(tally, url):
    cases = Cases(url)
    for name in sorted(dir(cases)):
        if name.startswith("test_"):
            tally.run(f"boto3 {name}", getattr(cases, name))
