import SyncModel
import Testing

@testable import ObjectStorage

/// What the official clients made of `Vectors/xml`, as `manifest.json` has it.
@Suite("XML vectors")
struct XMLVectorTests {
    @Test(arguments: [
        "list-objects-v2-page1.xml", "list-objects-v2-last.xml", "list-objects-v2-start-after.xml",
        "list-objects-v2-empty.xml", "s3-list-objects-v2.xml",
    ])
    func `a page of ListObjectsV2 reads as the official clients read it`(name: String) throws {
        let isS3 = name.hasPrefix("s3-")
        let page = try decodeListObjects(bytes(name), style: isS3 ? .form : .strict)
        let expected = try expectation(name)
        let isTruncated = expected["is_truncated"].boolean ?? expected["IsTruncated"].boolean
        #expect(page.isTruncated == isTruncated)
        let next = expected["next_continuation_token"].text
        #expect(page.next?.text == next ?? expected["NextContinuationToken"].text)
        #expect(page.keyCount == expected["key_count"].number ?? expected["KeyCount"].number)
        try expectListing(page, expected)
    }

    @Test func `an archived object that is being restored is seen as that`() throws {
        let page = try decodeListObjects(bytes("list-objects-v2-page1.xml"), style: .strict)
        let cold = try #require(page.objects.first { $0.storageClass == .coldArchive })
        #expect(cold.restoreState == .ongoing)
        let other = try decodeListObjects(bytes("s3-list-objects-v2.xml"), style: .form)
        #expect(other.objects.map(\.restoreState) == [nil, .ongoing])
    }

    @Test func `versions and delete markers keep the order of the document`() throws {
        let name = "list-object-versions.xml"
        let page = try decodeListVersions(bytes(name), style: .strict)
        let expected = try expectation(name)
        #expect(page.entries.map { $0.object == nil } == [true, false])
        #expect(page.next?.key == expected["next_key_marker"].text.map { ObjectKey($0) })
        #expect(page.next?.id?.text == expected["next_version_id_marker"].text)
        let marker = try #require(expected["delete_marker"].list.first)
        expectVersion(page.entries[0], marker)
        let version = try #require(expected["version"].list.first)
        expectVersion(page.entries[1], version)
        #expect(page.entries[1].object?.size == version["size"].number)
    }

    @Test(arguments: [
        "list-parts-page1.xml", "list-parts-last.xml", "list-parts-empty.xml", "s3-list-parts.xml",
    ])
    func `a page of ListParts reads as the official clients read it`(name: String) throws {
        let page = try decodeListParts(bytes(name))
        let expected = try expectation(name)
        let isTruncated = (expected["is_truncated"].boolean ?? expected["IsTruncated"].boolean)
        #expect((page.next != nil) == isTruncated)
        if let next = page.next {
            #expect(Int64(next.value) == expected["next_part_number_marker"].number)
        }
        let parts = expected["parts"].list + expected["Parts"].list
        #expect(page.parts.count == parts.count)
        for (part, expected) in zip(page.parts, parts) {
            let number = expected["part_number"].number ?? expected["PartNumber"].number
            #expect(Int64(part.number.value) == number)
            #expect(part.size == expected["size"].number ?? expected["Size"].number)
            #expect(part.etag.quoted == expected["etag"].text ?? expected["ETag"].text)
            #expect(part.crc64.map { String($0.value) } == expected["hash_crc64"].text)
        }
    }

    @Test func `uploads that were not completed are listed`() throws {
        let name = "list-multipart-uploads.xml"
        let page = try decodeListUploads(bytes(name), style: .strict)
        let expected = try expectation(name)["uploads"].list
        #expect(page.next == nil, "the last page has a marker, but nothing follows")
        #expect(page.entries.map(\.key) == expected.map { ObjectKey($0["key"].text ?? "") })
        #expect(page.entries.map(\.upload.text) == expected.map { $0["upload_id"].text })
        let initiated = page.entries.map { CivilTime($0.initiated ?? Timestamp(seconds: 0)) }
        #expect(initiated.map(\.basicText) == ["20260102T030405Z", "20260102T030406Z"])
    }

    @Test(arguments: ["initiate-multipart-upload.xml", "s3-initiate-multipart-upload.xml"])
    func `an upload's name is read`(name: String) throws {
        let document = try decodeInitiateUpload(bytes(name), style: .strict)
        let expected = try expectation(name)
        #expect(document.key == "dir/big file+.bin")
        #expect(document.uploadID.text == expected["upload_id"].text ?? expected["UploadId"].text)
    }

    @Test(arguments: ["complete-multipart-upload.xml", "s3-complete-multipart-upload.xml"])
    func `a completed object's tag is read`(name: String) throws {
        let document = try decodeCompleteUpload(bytes(name), style: .strict)
        let expected = try expectation(name)
        #expect(document.key == "dir/big file+.bin")
        #expect(document.etag.quoted == expected["etag"].text ?? expected["ETag"].text)
    }

    @Test func `an error with status 200 in place of a completion is an error`() throws {
        let body = try bytes("s3-complete-multipart-upload-error-200.xml")
        for blanks in ["", " \n \n"] {
            let error = #expect(throws: XMLFailure.self) {
                try decodeCompleteUpload([UInt8](blanks.utf8) + body, style: .form)
            }
            guard case .errorDocument(let document) = error else {
                Issue.record("not the store's error: \(String(describing: error))")
                continue
            }
            #expect(document.code == "InternalError")
        }
    }

    @Test func `copies answer with a tag and a time`() throws {
        let object = try decodeCopyObject(bytes("copy-object.xml"))
        #expect(object.etag.quoted == (try expectation("copy-object.xml")["etag"].text))
        #expect(object.lastModified == Timestamp(seconds: 1_767_323_045))
        let part = try decodeCopyPart(bytes("upload-part-copy.xml"))
        #expect(part.etag.quoted == (try expectation("upload-part-copy.xml")["etag"].text))
    }

    @Test func `deleted keys are decoded, and S3's failures told`() throws {
        let verbose = try decodeDelete(bytes("delete-result-verbose.xml"), style: .strict)
        #expect(verbose.deleted.map(\.key) == ["multipart.data", "a+b &c\u{1}.txt"])
        let versioned = try decodeDelete(bytes("delete-result-versioned.xml"), style: .strict)
        #expect(versioned.deleted.map(\.key) == ["a.txt", "b.txt"])
        #expect(versioned.deleted[1].versionID?.text.hasPrefix("CAEQNRiBgIDyz") == true)
        let other = try decodeDelete(bytes("s3-delete-result.xml"), style: .form)
        #expect(other.deleted.map(\.key) == ["a.txt"])
        #expect(other.failed.map(\.key) == ["b.txt"])
        #expect(other.failed.map(\.code) == ["AccessDenied"])
    }

    @Test func `every error document's fields are read`() throws {
        let files = try manifest()["files"].members.filter { name, _ in
            name.hasPrefix("error-") && name.hasSuffix(".xml")
        }
        #expect(files.count == 31)
        for (name, entry) in files {
            let document = try #require(ServiceErrorDocument(body: bytes(name)), "\(name)")
            for (field, value) in entry["fields"].members {
                let text = value.text ?? ""
                if text.utf8.allSatisfy({ $0 <= 0x20 }) {
                    #expect(document.fields.contains { $0.name.hasPrefix(field + ".") }, "\(name)")
                } else {
                    #expect(document[field] == text, "\(name) \(field)")
                }
            }
        }
    }

    @Test func `S3's errors, and those in a header, are read`() throws {
        let document = try #require(ServiceErrorDocument(body: bytes("s3-error-NoSuchKey.xml")))
        #expect(document.code == "NoSuchKey")
        #expect(document["Key"] == "a.txt")
        let header = String(decoding: try bytes("head-error-x-oss-err.txt"), as: UTF8.self)
        let head = try #require(ServiceErrorDocument(headerValue: header))
        #expect(head.code == "NoSuchKey")
        #expect(head.ec == "0026-00000001")
        #expect(head["Key"] == "a & b.txt")
    }

    @Test func `a truncated error document says nothing`() throws {
        #expect(ServiceErrorDocument(body: try bytes("error-truncated-body.txt")) == nil)
        #expect(ServiceErrorDocument(body: []) == nil)
        #expect(ServiceErrorDocument(body: [UInt8]("<html/>".utf8)) == nil)
        #expect(ServiceErrorDocument(body: [UInt8]("<Error/>".utf8)) == nil)
        #expect(ServiceErrorDocument(headerValue: "%%%") == nil)
    }

    @Test func `a wrong clock and a wrong endpoint come with the right one`() throws {
        let clock = try #require(
            ServiceErrorDocument(body: bytes("error-RequestTimeTooSkewed.xml"))
        )
        #expect(clock.serverTime == Timestamp(seconds: 1_767_323_045))
        let endpoint = try #require(
            ServiceErrorDocument(body: bytes("error-AccessDenied-endpoint.xml"))
        )
        #expect(endpoint.endpoint == "oss-cn-shanghai.aliyuncs.com")
        let denied = try #require(ServiceErrorDocument(body: bytes("error-AccessDenied-ram.xml")))
        #expect(denied["AccessDeniedDetail.AuthAction"] == "oss:GetObject")
    }

    @Test func `bodies of requests are byte for byte those of the official client`() throws {
        let etags = ["3349DC700140D7F86A0784842780EFAD", "\"3349DC700140D7F86A0784842780EFAE\""]
        let parts = etags.enumerated().map { index, etag in
            UploadedPart(
                number: PartNumber(index: index),
                size: 1,
                etag: ETag(wire: etag),
                crc64: nil
            )
        }
        let complete = try bytes("request-complete-multipart-upload.xml")
        #expect(encodeCompleteUpload(parts) == complete)
        let objects: [(key: ObjectKey, versionID: VersionID?)] = [
            ("a&b<c>\"d'\t\u{1}é", nil), ("v", VersionID("CAEQ")),
        ]
        let delete = try bytes("request-delete-multiple.xml")
        #expect(encodeDelete(objects, isQuiet: true) == delete)
        let restore = try bytes("request-restore.xml")
        #expect(encodeRestore(days: 3, tier: "Standard", style: .oss) == restore)
    }

    /// The body that botocore makes of the same arguments.
    @Test func `a request to restore names its tier as S3 does`() {
        let body = encodeRestore(days: 3, tier: "Bulk", style: .s3)
        #expect(
            String(decoding: body, as: UTF8.self)
                == "<RestoreRequest xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<Days>3</Days><GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters>"
                + "</RestoreRequest>"
        )
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        try Vectors.bytes("xml/" + name)
    }

    private func manifest() throws -> JSONValue {
        try Vectors.decodeExactly(JSONValue.self, from: "xml/manifest.json")
    }

    private func expectation(_ name: String) throws -> JSONValue {
        let entry = try manifest()["files"][name]
        let parsed = entry["parsed_by_alibabacloud_oss_v2"]
        return parsed == .null ? entry["parsed_by_botocore"] : parsed
    }

    /// botocore leaves keys encoded; its client decodes them as a form is.
    private func key(_ value: JSONValue) -> ObjectKey? {
        if let text = value["key"].text ?? value["prefix"].text { return ObjectKey(text) }
        let encoded = value["Key"].text ?? value["Prefix"].text ?? ""
        return percentDecode([UInt8](encoded.utf8), style: .form).map { ObjectKey($0) }
    }

    private func expectListing(_ page: ListObjectsDocument, _ expected: JSONValue) throws {
        #expect(page.bucket == expected["name"].text ?? expected["Name"].text)
        let contents = expected["contents"].list + expected["Contents"].list
        #expect(page.objects.map { Optional($0.key) } == contents.map(key(_:)))
        for (object, expected) in zip(page.objects, contents) {
            #expect(object.size == expected["size"].number ?? expected["Size"].number)
            #expect(object.etag.quoted == expected["etag"].text ?? expected["ETag"].text)
            let kind = expected["object_type"].text ?? "Normal"
            #expect(object.kind.rawValue == kind)
            let storageClass = expected["storage_class"].text ?? expected["StorageClass"].text
            #expect(object.storageClass.name == storageClass)
            let modified = expected["last_modified"].text ?? expected["LastModified"].text ?? ""
            #expect(object.lastModified == Timestamp(extendedText: modified))
        }
        let prefixes = expected["common_prefixes"].list + expected["CommonPrefixes"].list
        #expect(page.commonPrefixes.map { Optional($0) } == prefixes.map(key(_:)))
        let prefix =
            expected["prefix"].text
            ?? expected["Prefix"].text.map { text in
                String(decoding: percentDecode([UInt8](text.utf8)) ?? [], as: UTF8.self)
            }
        #expect(page.prefix == ObjectKey(prefix ?? ""))
    }

    private func expectVersion(_ version: ObjectVersion, _ expected: JSONValue) {
        #expect(version.key == ObjectKey(expected["key"].text ?? ""))
        #expect(version.versionID.text == expected["version_id"].text)
        #expect(version.isLatest == expected["is_latest"].boolean)
        let modified = Timestamp(extendedText: expected["last_modified"].text ?? "")
        #expect(version.lastModified == modified)
    }
}
