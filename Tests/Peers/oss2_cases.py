"""Cases with the classic oss2."""

import base64
import hashlib
import json

import oss2
import requests

from peer import (ACCESS_KEY, ODD_KEYS, REGION, SECRET, Receiver, equal, expect,
                  has_control, ramp)


def make_bucket(url, version, name, secret=SECRET):
    if version == "v4":
        auth = oss2.AuthV4(ACCESS_KEY, secret)
        return oss2.Bucket(auth, url, name, region=REGION)
    return oss2.Bucket(oss2.Auth(ACCESS_KEY, secret), url, name)


def service_error(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except oss2.exceptions.OssError as error:
        return error
    raise AssertionError("an error was expected")


class Cases:
    def __init__(self, url, version, name):
        self.url, self.version, self.name = url, version, name
        self.bucket = make_bucket(url, version, name)

    def test_put_and_get(self):
        body = ramp(70_000)
        put = self.bucket.put_object("plain", body, headers={"x-oss-meta-mode": "0644"})
        equal(put.etag, hashlib.md5(body).hexdigest().upper())
        got = self.bucket.get_object("plain")
        equal((got.read(), got.headers["x-oss-meta-mode"]), (body, "0644"))
        equal(got.server_crc, put.crc)

    def test_ranges_and_conditions(self):
        body = ramp(1_000)
        etag = self.bucket.put_object("ranged", body).etag
        got = self.bucket.get_object("ranged", byte_range=(10, 19),
                                     headers={"If-Match": etag})
        equal((got.status, got.read()), (206, body[10:20]))
        equal(self.bucket.get_object("ranged", byte_range=(None, 5)).read(), body[-5:])
        equal(service_error(self.bucket.get_object, "ranged",
                            headers={"If-Match": '"0"'}).status, 412)
        equal(service_error(self.bucket.get_object, "ranged",
                            headers={"If-None-Match": etag}).status, 304)
        equal(self.bucket.get_object("ranged", byte_range=(5_000, None)).status, 200)

    def test_odd_keys_in_pages(self):
        for key in ODD_KEYS:
            self.bucket.put_object("odd/" + key, key.encode())
        wanted = ["odd/" + key for key in ODD_KEYS]
        equal([o.key for o in oss2.ObjectIteratorV2(self.bucket, prefix="odd/", max_keys=4)],
              wanted)
        equal([o.key for o in oss2.ObjectIterator(self.bucket, prefix="odd/", max_keys=6)],
              wanted)
        for key in ODD_KEYS:
            equal(self.bucket.get_object("odd/" + key).read(), key.encode())
        batch = [key for key in wanted if not has_control(key)]
        result = self.bucket.batch_delete_objects(batch)
        equal(sorted(result.deleted_keys), sorted(batch))
        for key in wanted:
            self.bucket.delete_object(key)
        equal(list(oss2.ObjectIteratorV2(self.bucket, prefix="odd/")), [])

    def test_delimiter(self):
        for key in ["tree/a", "tree/b/1", "tree/b/2", "tree/c/1", "tree/d"]:
            self.bucket.put_object(key, b"")
        entries = oss2.ObjectIteratorV2(self.bucket, prefix="tree/", delimiter="/", max_keys=1)
        equal(sorted(e.key for e in entries), ["tree/a", "tree/b/", "tree/c/", "tree/d"])

    def test_multipart(self):
        key, body = "multi part.bin", ramp(250_000)
        upload = self.bucket.init_multipart_upload(key).upload_id
        parts = []
        for number, start in enumerate(range(0, len(body), 102_400), 1):
            piece = body[start:start + 102_400]
            done = self.bucket.upload_part(key, upload, number, piece)
            parts.append(oss2.models.PartInfo(number, done.etag, len(piece), done.crc))
        listed = list(oss2.PartIterator(self.bucket, key, upload, max_parts=2))
        equal([p.etag for p in listed], [p.etag for p in parts])
        uploads = list(oss2.MultipartUploadIterator(self.bucket, prefix=key))
        equal([u.upload_id for u in uploads], [upload])
        self.bucket.complete_multipart_upload(key, upload, parts)
        equal(self.bucket.get_object(key).read(), body)
        equal(service_error(self.bucket.list_parts, key, upload).code, "NoSuchUpload")
        upload = self.bucket.init_multipart_upload(key).upload_id
        equal(self.bucket.abort_multipart_upload(key, upload).status, 204)

    def test_copy(self):
        body = ramp(200_000)
        self.bucket.put_object("cöpy +", body)
        self.bucket.copy_object(self.name, "cöpy +", "copied")
        equal(self.bucket.get_object("copied").read(), body)
        upload = self.bucket.init_multipart_upload("part copied").upload_id
        tags = [self.bucket.upload_part_copy(self.name, "cöpy +", span, "part copied", upload, n)
                for n, span in [(1, (0, 119_999)), (2, (120_000, 199_999))]]
        self.bucket.complete_multipart_upload(
            "part copied", upload,
            [oss2.models.PartInfo(n, tag.etag) for n, tag in enumerate(tags, 1)])
        equal(self.bucket.get_object("part copied").read(), body)

    def test_signed_urls(self):
        url = self.bucket.sign_url("PUT", "signed url", 60, slash_safe=True)
        equal(requests.put(url, data=b"signed").status_code, 200)
        url = self.bucket.sign_url("GET", "signed url", 60, slash_safe=True)
        equal(requests.get(url).content, b"signed")
        equal(requests.delete(url).status_code, 403)

    def test_wrong_secret(self):
        wrong = make_bucket(self.url, self.version, self.name, "wrong")
        error = service_error(wrong.list_objects)
        equal((error.status, error.code), (403, "SignatureDoesNotMatch"))

    def test_symlinks(self):
        self.bucket.put_object("target", b"content")
        self.bucket.put_symlink("target", "link")
        equal(self.bucket.get_symlink("link").target_key, "target")
        equal(self.bucket.get_object("link").read(), b"content")

    def test_restore(self):
        self.bucket.put_object("frozen", b"ice", headers={"x-oss-storage-class": "ColdArchive"})
        equal(service_error(self.bucket.get_object, "frozen").code, "InvalidObjectState")
        equal(self.bucket.restore_object("frozen").status, 202)
        self.bucket.head_object("frozen")
        self.bucket.head_object("frozen")
        equal(self.bucket.get_object("frozen").read(), b"ice")

    def test_callbacks(self):
        receiver = Receiver()
        text = json.dumps({"callbackUrl": receiver.url, "callbackBody": '{"k":${object}}',
                           "callbackBodyType": "application/json"})
        header = {"x-oss-callback": base64.b64encode(text.encode()).decode()}
        result = self.bucket.put_object("called", b"1", headers=header)
        equal(result.resp.read(), b'{"ok":true}')
        equal(json.loads(receiver.received[0][1]), {"k": "called"})
        receiver.stop()

    def test_versions(self):
        bucket = make_bucket(self.url, self.version, self.name + "-versions")
        config = oss2.models.BucketVersioningConfig()
        config.status = oss2.BUCKET_VERSIONING_ENABLE
        bucket.put_bucket_versioning(config)
        ids = [bucket.put_object("v", text).versionid for text in (b"1", b"2")]
        equal(bucket.get_object("v", params={"versionId": ids[0]}).read(), b"1")
        bucket.delete_object("v")
        listed = bucket.list_object_versions()
        equal([v.versionid for v in listed.versions], ids[::-1])
        equal(len(listed.delete_marker), 1)

    def test_append(self):
        first = self.bucket.append_object("log", 0, b"one")
        self.bucket.append_object("log", first.next_position, b"two", init_crc=first.crc)
        equal(self.bucket.get_object("log").read(), b"onetwo")

    def test_bucket_information(self):
        equal(self.bucket.get_bucket_info().name, self.name)
        equal(self.bucket.get_bucket_location().location, "oss-" + REGION)
        expect(self.bucket.object_exists("plain") in (True, False))


def run(tally, url, version, name):
    oss2.set_stream_logger("oss2", level=100)
    cases = Cases(url, version, name)
    for case in [n for n in dir(cases) if n.startswith("test_")]:
        tally.run(f"oss2 {version} {case}", getattr(cases, case))
