"""Cases with boto3: signatures, checksums, buckets, versions, storage classes."""

import base64
import datetime
import hashlib
import json
import urllib.error
import urllib.request

import botocore
from botocore import UNSIGNED
from botocore.config import Config
import boto3

from boto3_cases import make_client, service_error
from peer import ACCESS_KEY, REGION, equal, expect, ramp


def fetch(url, method="GET", body=None, headers=None):
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Checks:
    def __init__(self, url):
        self.url = url
        self.client = make_client(url)
        self.bucket = "boto-checks"

    def test_signatures(self):
        def listing(**named):
            return make_client(self.url, **named).list_objects_v2
        equal(service_error(listing(secret="wrong"), Bucket=self.bucket),
              (403, "SignatureDoesNotMatch"))
        equal(service_error(listing(key="unknown"), Bucket=self.bucket),
              (403, "InvalidAccessKeyId"))
        equal(service_error(listing(token="unasked"), Bucket=self.bucket), (400, "InvalidToken"))
        anonymous = boto3.client("s3", endpoint_url=self.url, region_name=REGION,
                                 config=Config(signature_version=UNSIGNED,
                                               s3={"addressing_style": "path"}))
        equal(service_error(anonymous.get_object, Bucket=self.bucket, Key="a")[0], 403)
        # The region of the answer is enough for the library to sign again.
        elsewhere = listing(region="us-west-2")(Bucket=self.bucket)
        equal(elsewhere["ResponseMetadata"]["HTTPStatusCode"], 200)

    def test_presigned_urls(self):
        self.client.put_object(Bucket=self.bucket, Key="signed ü+", Body=b"content")
        named = {"Bucket": self.bucket, "Key": "signed ü+"}
        url = self.client.generate_presigned_url("get_object", Params=named, ExpiresIn=60)
        equal(fetch(url), (200, b"content"))
        equal(fetch(url, "HEAD")[0], 403)
        equal(fetch(url.replace("X-Amz-Expires=60", "X-Amz-Expires=61"))[0], 403)
        equal(fetch(url + "0")[0], 403)
        long = self.client.generate_presigned_url("get_object", Params=named, ExpiresIn=700_000)
        equal(fetch(long)[0], 400)
        url = self.client.generate_presigned_url("put_object", Params=named, ExpiresIn=60)
        equal(fetch(url, "PUT", b"new")[0], 200)
        shown = self.client.generate_presigned_url(
            "get_object", Params=dict(named, ResponseContentType="x/y"), ExpiresIn=60)
        with urllib.request.urlopen(shown, timeout=20) as answer:
            equal((answer.headers["Content-Type"], answer.read()), ("x/y", b"new"))

    def test_clock(self):
        late = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
        client = make_client(self.url)
        text = late.strftime("%Y%m%dT%H%M%SZ")

        def turn_back(request, **_):
            request.context["timestamp"] = text
        client.meta.events.register("before-sign.s3", turn_back)
        original = botocore.auth.get_current_datetime
        botocore.auth.get_current_datetime = lambda *_, **__: late.replace(tzinfo=None)
        try:
            equal(service_error(client.list_objects_v2, Bucket=self.bucket),
                  (403, "RequestTimeTooSkewed"))
        finally:
            botocore.auth.get_current_datetime = original

    def faults(self, *rules):
        body = json.dumps(rules).encode()
        equal(fetch(self.url + "/-/faults", "POST", body)[0], 204)

    def test_conflicts(self):
        named = {"Bucket": self.bucket, "Key": "contested"}
        etag = self.client.put_object(Body=b"1", **named)["ETag"]
        rule = {"match": {"operation": "PutObject", "key": "contested"},
                "effect": {"deleteObject": {"at": 0}}}
        self.faults(rule)
        try:
            equal(service_error(self.client.put_object, Body=b"2", IfMatch=etag, **named),
                  (409, "ConditionalRequestConflict"))
        finally:
            self.faults()
        equal(service_error(self.client.head_object, **named)[0], 404)

    def test_checksums(self):
        body = ramp(70_001)
        for kind, digest in [("SHA1", hashlib.sha1), ("SHA256", hashlib.sha256)]:
            name, value = f"Checksum{kind}", base64.b64encode(digest(body).digest()).decode()
            put = self.client.put_object(
                Bucket=self.bucket, Key=kind, Body=body, ChecksumAlgorithm=kind)
            equal(put[name], value)
            got = self.client.get_object(Bucket=self.bucket, Key=kind, ChecksumMode="ENABLED")
            expect(got["Body"].read() == body, "another content came back")
            equal((got[name], got["ChecksumType"]), (value, "FULL_OBJECT"))
            head = self.client.head_object(Bucket=self.bucket, Key=kind)
            expect(name not in head, "a checksum that nobody asked for")
            wrong = {name: base64.b64encode(bytes(digest().digest_size)).decode()}
            equal(service_error(self.client.put_object, Bucket=self.bucket, Key="wrong",
                                Body=body, **wrong), (400, "BadDigest"))
        md5 = base64.b64encode(bytes(16)).decode()
        equal(service_error(self.client.put_object, Bucket=self.bucket, Key="wrong", Body=body,
                            ContentMD5=md5), (400, "BadDigest"))
        equal(service_error(self.client.head_object, Bucket=self.bucket, Key="wrong")[0], 404)

    def test_buckets(self):
        name = "made-by-boto"
        equal(service_error(self.client.head_bucket, Bucket=name)[0], 404)
        equal(service_error(self.client.list_objects_v2, Bucket=name), (404, "NoSuchBucket"))
        self.client.create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
        equal(service_error(self.client.create_bucket, Bucket=name,
                            CreateBucketConfiguration={"LocationConstraint": REGION}),
              (409, "BucketAlreadyOwnedByYou"))
        expect(name in [item["Name"] for item in self.client.list_buckets()["Buckets"]])
        head = self.client.head_bucket(Bucket=name)
        equal(head["ResponseMetadata"]["HTTPHeaders"]["x-amz-bucket-region"], REGION)
        equal(self.client.get_bucket_location(Bucket=name)["LocationConstraint"], REGION)
        self.client.put_object(Bucket=name, Key="a", Body=b"")
        equal(service_error(self.client.delete_bucket, Bucket=name), (409, "BucketNotEmpty"))
        self.client.delete_object(Bucket=name, Key="a")
        self.client.delete_bucket(Bucket=name)
        equal(service_error(self.client.get_bucket_acl, Bucket=self.bucket),
              (501, "NotImplemented"))

    def test_versions(self):
        bucket = "boto-versions"
        expect("Status" not in self.client.get_bucket_versioning(Bucket=bucket))
        self.client.put_bucket_versioning(
            Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        first, second = (self.client.put_object(Bucket=bucket, Key="a b", Body=body)["VersionId"]
                         for body in (b"1", b"2"))
        got = self.client.get_object(Bucket=bucket, Key="a b", VersionId=first)
        equal((got["Body"].read(), got["VersionId"]), (b"1", first))
        gone = self.client.delete_object(Bucket=bucket, Key="a b")
        expect(gone["DeleteMarker"], "no delete marker")
        equal(service_error(self.client.get_object, Bucket=bucket, Key="a b"), (404, "NoSuchKey"))
        listed = self.client.list_object_versions(Bucket=bucket)
        equal([item["VersionId"] for item in listed["Versions"]], [second, first])
        equal(listed["DeleteMarkers"][0]["VersionId"], gone["VersionId"])
        # Nobody holds the key any more.
        third = self.client.put_object(Bucket=bucket, Key="a b", Body=b"3", IfNoneMatch="*")
        objects = [{"Key": "a b", "VersionId": item}
                   for item in (first, second, third["VersionId"], gone["VersionId"], "unknown")]
        result = self.client.delete_objects(Bucket=bucket, Delete={"Objects": objects})
        equal(len(result["Deleted"]), 4)
        equal([(item["VersionId"], item["Code"]) for item in result["Errors"]],
              [("unknown", "NoSuchVersion")])

    def test_storage_classes(self):
        named = {"Bucket": self.bucket, "Key": "cold"}
        self.client.put_object(Body=b"x", StorageClass="GLACIER", **named)
        equal(self.client.head_object(**named)["StorageClass"], "GLACIER")
        equal(service_error(self.client.get_object, **named), (403, "InvalidObjectState"))
        request = {"Days": 2, "GlacierJobParameters": {"Tier": "Standard"}}
        self.client.restore_object(RestoreRequest=request, **named)
        equal(service_error(self.client.restore_object, RestoreRequest=request, **named),
              (409, "RestoreAlreadyInProgress"))
        equal(self.client.head_object(**named)["Restore"], 'ongoing-request="true"')
        listed = self.client.list_objects_v2(
            Bucket=self.bucket, Prefix="cold", OptionalObjectAttributes=["RestoreStatus"])
        equal(listed["Contents"][0]["RestoreStatus"]["IsRestoreInProgress"], False)
        equal(self.client.get_object(**named)["Body"].read(), b"x")
        equal(service_error(self.client.put_object, StorageClass="COLDEST", Body=b"", **named),
              (400, "InvalidStorageClass"))

    def test_tags(self):
        named = {"Bucket": self.bucket, "Key": "tagged"}
        self.client.put_object(Body=b"", Tagging="a=1&b=2%203", **named)
        equal(self.client.get_object_tagging(**named)["TagSet"],
              [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2 3"}])
        self.client.put_object_tagging(
            Tagging={"TagSet": [{"Key": "c", "Value": "<&>"}]}, **named)
        equal(self.client.get_object_tagging(**named)["TagSet"], [{"Key": "c", "Value": "<&>"}])


def run(tally, url):
    checks = Checks(url)
    for name in sorted(dir(checks)):
        if name.startswith("test_"):
            tally.run(f"boto3 {name}", getattr(checks, name))
