"""Signed requests to a bucket, made without any of osssync's code: S3's and OSS's signatures V4."""

import hashlib
import hmac
import http.client
import time
import urllib.parse
import xml.etree.ElementTree


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def quoted(text):
    return urllib.parse.quote(text, safe="-._~")


class Bucket:
    """One bucket; `endpoint` is a URL, an IP address means that the bucket is in the path."""

    def __init__(self, scheme, name, endpoint, region, key, secret, token=None, in_path=None):
        self.scheme, self.name, self.region = scheme, name, region
        self.key, self.secret, self.token = key, secret, token
        url = urllib.parse.urlparse(endpoint)
        self.is_secure = url.scheme == "https"
        host = url.hostname
        self.is_loopback = host in ("127.0.0.1", "localhost", "::1")
        if in_path is None:
            in_path = self.is_loopback or "." in name or not host.endswith(
                (".amazonaws.com", ".aliyuncs.com"))
        self.in_path = in_path
        self.port = url.port or (443 if self.is_secure else 80)
        self.host = host if in_path else f"{name}.{host}"
        self.authority = self.host if url.port is None else f"{self.host}:{url.port}"

    def path(self, key=None):
        text = f"/{self.name}" if self.in_path else ""
        return text if key is None and text else text + "/" + urllib.parse.quote(
            key or "", safe="/-._~")

    def call(self, method, key=None, query=(), headers=None, body=b""):
        """Status, headers in lower case, and body of the answer."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = self.path(key)
        pairs = sorted((quoted(name), quoted(value)) for name, value in query)
        sent = {name.lower(): value for name, value in (headers or {}).items()}
        sign = self.sign_s3 if self.scheme == "s3" else self.sign_oss
        sign(method, key, path, pairs, sent, body, now)
        kind = http.client.HTTPSConnection if self.is_secure else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=60)
        target = path + ("?" + "&".join(f"{name}={value}" if value else name
                                        for name, value in pairs) if pairs else "")
        try:
            connection.request(method, target, body=body, headers=sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def sign_s3(self, method, _, path, pairs, sent, body, now):
        digest = hashlib.sha256(body).hexdigest()
        sent.update({"host": self.authority, "x-amz-date": now, "x-amz-content-sha256": digest})
        if self.token:
            sent["x-amz-security-token"] = self.token
        names = sorted(sent)
        lines = "".join(f"{name}:{sent[name]}\n" for name in names)
        query = "&".join(f"{name}={value}" for name, value in pairs)
        canonical = "\n".join([method, path, query, lines, ";".join(names), digest])
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        signature = self.signature("AWS4", "AWS4-HMAC-SHA256", now, scope, canonical)
        sent["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, "
                                 f"SignedHeaders={';'.join(names)}, Signature={signature}")

    def sign_oss(self, method, key, _, pairs, sent, body, now):
        sent.update({"x-oss-date": now, "x-oss-content-sha256": "UNSIGNED-PAYLOAD"})
        if body:
            sent.setdefault("content-type", "application/octet-stream")
        if self.token:
            sent["x-oss-security-token"] = self.token
        signed = sorted(name for name in sent if name.startswith("x-oss-")
                        or name in ("content-type", "content-md5"))
        lines = "".join(f"{name}:{sent[name]}\n" for name in signed)
        query = "&".join(f"{name}={value}" if value else name for name, value in pairs)
        uri = f"/{self.name}/" + urllib.parse.quote(key or "", safe="/-._~")
        canonical = "\n".join([method, uri, query, lines, "", "UNSIGNED-PAYLOAD"])
        scope = f"{now[:8]}/{self.region}/oss/aliyun_v4_request"
        signature = self.signature("aliyun_v4", "OSS4-HMAC-SHA256", now, scope, canonical)
        sent["authorization"] = f"OSS4-HMAC-SHA256 Credential={self.key}/{scope},Signature={signature}"
        sent["host"] = self.authority

    def signature(self, prefix, algorithm, now, scope, canonical):
        key = (prefix + self.secret).encode()
        for word in scope.split("/"):
            key = mac(key, word)
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        return mac(key, "\n".join([algorithm, now, scope, digest])).hex()

    def checked(self, method, key=None, query=()):
        status, headers, body = self.call(method, key, query)
        if not 200 <= status < 300:
            raise AssertionError(f"{method} {key!r} {query}: {status} {body[:500]}")
        return headers, body

    def checked_body(self, method, key, query):
        return self.checked(method, key, query)[1].decode()

    def pages(self, query, item, following):
        """All elements `item` over the pages of a listing; `following` names where the next begins."""
        more = []
        while True:
            _, body = self.checked("GET", query=[*query, *more])
            root = xml.etree.ElementTree.fromstring(body)
            for element in root.iter():
                element.tag = element.tag.rsplit("}", 1)[-1]
            encoded = root.findtext("EncodingType") == "url"
            decode = urllib.parse.unquote_plus if self.scheme == "s3" else urllib.parse.unquote
            for name in item:
                for element in root.iter(name):
                    found = {child.tag: child.text or "" for child in element}
                    if encoded:
                        found["Key"] = decode(found["Key"])
                    yield found
            if root.findtext("IsTruncated") != "true":
                return
            more = []
            for parameter, name in following:
                value = root.findtext(name) or ""
                if encoded and (name != "NextContinuationToken" or self.scheme == "oss"):
                    value = decode(value)
                more.append((parameter, value))

    def objects(self, prefix):
        query = [("list-type", "2"), ("prefix", prefix), ("encoding-type", "url")]
        return [item["Key"] for item in self.pages(
            query, ["Contents"], [("continuation-token", "NextContinuationToken")])]

    def uploads(self, prefix):
        query = [("uploads", ""), ("prefix", prefix), ("encoding-type", "url")]
        following = [("key-marker", "NextKeyMarker"), ("upload-id-marker", "NextUploadIdMarker")]
        return [(item["Key"], item["UploadId"])
                for item in self.pages(query, ["Upload"], following)]

    def versions(self, prefix):
        _, body = self.checked("GET", query=[("versioning", "")])
        if b"<Status>" not in body:
            return []
        query = [("versions", ""), ("prefix", prefix), ("encoding-type", "url")]
        following = [("key-marker", "NextKeyMarker"), ("version-id-marker", "NextVersionIdMarker")]
        return [(item["Key"], item["VersionId"])
                for item in self.pages(query, ["Version", "DeleteMarker"], following)]

    def clean(self, prefix):
        """Removes everything beneath a prefix: uploads, objects, and versions where there are."""
        if len(prefix) < 8 or not prefix.endswith("/"):
            raise ValueError(f"{prefix!r} is not a prefix of a test's own")
        for key, upload in self.uploads(prefix):
            self.checked("DELETE", key, [("uploadId", upload)])
        for key in self.objects(prefix):
            self.checked("DELETE", key)
        for key, version in self.versions(prefix):
            self.checked("DELETE", key, [("versionId", version)])
