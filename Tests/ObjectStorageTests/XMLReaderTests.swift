import SyncModel
import Testing

@testable import ObjectStorage

@Suite("XML limits and damage")
struct XMLReaderTests {
    @Test(arguments: [
        "list-objects-v2-page1.xml", "list-object-versions.xml", "list-parts-page1.xml",
        "list-multipart-uploads.xml", "delete-result-verbose.xml",
        "complete-multipart-upload.xml",
    ])
    func `a document cut off at any byte is an error`(name: String) throws {
        let bytes = try Vectors.bytes("xml/" + name)
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: ">")))
        for count in 0...end {
            let error = #expect(throws: XMLFailure.self, "cut after \(count) bytes") {
                try decode(Array(bytes[..<count]), as: name)
            }
            #expect(error == .truncated, "cut after \(count) bytes")
        }
        try decode(Array(bytes[...end]), as: name)
    }

    @Test func `a page fed byte by byte reads like one fed whole`() throws {
        let bytes = try Vectors.bytes("xml/list-objects-v2-page1.xml")
        var stream = XMLStream(FieldsDecoder.ofObjects(.strict), limits: .result)
        for byte in bytes {
            try unsafe withUnsafeBytes(of: byte) { try unsafe stream.feed($0) }
        }
        let page = try ListObjectsDocument(stream.finish())
        #expect(try page == decodeListObjects(bytes, style: .strict))
    }

    @Test(arguments: [
        "<!DOCTYPE x><ListBucketResult/>",
        "<!DOCTYPE html><html><body>Log in</body></html>",
        "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY e \"x\">]><ListBucketResult>&e;"
            + "</ListBucketResult>",
    ])
    func `a DOCTYPE is refused before anything in it is used`(text: String) {
        #expect(throws: XMLFailure.doctype) { try page(text) }
    }

    @Test func `names that no manifest could keep are refused`() throws {
        func listing(_ etag: String) throws(XMLFailure) -> ListObjectsDocument {
            try decodeListObjects(
                [UInt8](
                    ("<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key>"
                        + "<Size>1</Size><ETag>\(etag)</ETag></Contents></ListBucketResult>").utf8
                ),
                style: .strict
            )
        }
        let longest = String(repeating: "e", count: ETag.maximumLength)
        #expect(try listing(longest).objects.first?.etag.text == longest)
        let limit = XMLFailure.textTooLong(element: "ETag", limit: ETag.maximumLength)
        #expect(throws: limit) { try listing(longest + "e") }
        let name = String(repeating: "u", count: UploadID.maximumLength + 1)
        let begun =
            "<InitiateMultipartUploadResult><UploadId>\(name)</UploadId>"
            + "</InitiateMultipartUploadResult>"
        let tooLong = XMLFailure.textTooLong(element: "UploadId", limit: UploadID.maximumLength)
        #expect(throws: tooLong) {
            try decodeInitiateUpload([UInt8](begun.utf8), style: .strict)
        }
        let storageClass = StorageClass(name: String(repeating: "C", count: 60_000))
        #expect(storageClass.name.utf8.count == 64)
    }

    @Test func `a document of another kind is told by its root`() {
        let html = "<html><body/></html>"
        #expect(throws: XMLFailure.wrongRoot(found: "html", expected: "ListBucketResult")) {
            try page(html)
        }
        #expect(
            throws: XMLFailure.wrongRoot(found: "ListPartsResult", expected: "ListBucketResult")
        ) {
            try page("<ListPartsResult/>")
        }
    }

    @Test func `other encodings than UTF-8 are refused`() throws {
        #expect(throws: XMLFailure.encoding("ISO-8859-1")) {
            try page("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><ListBucketResult/>")
        }
        let wide = "<ListBucketResult/>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(throws: XMLFailure.self) {
            try decodeListObjects([0xFF, 0xFE] + wide, style: .strict)
        }
        let latin = [UInt8]("<ListBucketResult><Name>".utf8) + [0xE9]
        let rest = [UInt8]("</Name></ListBucketResult>".utf8)
        #expect(throws: XMLFailure.self) { try decodeListObjects(latin + rest, style: .strict) }
    }

    @Test func `an undefined entity is an error, not a gap in a key`() {
        #expect(throws: XMLFailure.self) { try page(listing(entry(key: "x&e;y"))) }
    }

    @Test func `depth, text and size are limited`() throws {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: XMLFailure.tooDeep(limit: 16)) { try page("<ListBucketResult>" + deep) }
        let long = String(repeating: "k", count: 4_097)
        #expect(throws: XMLFailure.textTooLong(element: "Key", limit: 4_096)) {
            try page(listing(entry(key: long)))
        }
        let longer = String(repeating: "k", count: 65_537)
        #expect(throws: XMLFailure.textTooLong(element: "Other", limit: 65_536)) {
            try page(listing("<Other>\(longer)</Other>"))
        }
        let blanks = String(repeating: " ", count: 8 << 20)
        #expect(throws: XMLFailure.self) { try page(listing(blanks)) }
        let comments = String(repeating: "<!-- nothing -->", count: 8 << 16)
        #expect(throws: XMLFailure.tooLarge(limit: 8 << 20)) { try page(listing(comments)) }
        let key = String(repeating: "k", count: 1_023)
        #expect(try page(listing(entry(key: key))).objects.count == 1)
    }

    @Test func `text after the root is an error, blanks are not`() throws {
        #expect(try page(listing("") + " \n").objects.isEmpty)
        #expect(throws: XMLFailure.self) { try page(listing("") + "<a/>") }
    }

    @Test func `a text broken by an element inside is not a key`() {
        #expect(throws: XMLFailure.self) { try page(listing(entry(key: "a<b/>c"))) }
    }

    @Test func `blanks, references and sections of a key are kept as they are`() throws {
        let keys = try page(listing(entry(key: " a &amp; b ") + entry(key: "c<![CDATA[<&]]>d")))
            .objects
        #expect(keys.map(\.key) == [" a & b ", "c<&d"])
        let reference = try page(listing(entry(key: "&#x1F600;&#10;"))).objects
        #expect(reference.map(\.key) == ["\u{1F600}\n"])
    }

    @Test func `a page that does not say whether it is the last is refused`() {
        #expect(throws: XMLFailure.missing(element: "IsTruncated")) {
            try page("<ListBucketResult></ListBucketResult>")
        }
        #expect(throws: XMLFailure.duplicate(element: "IsTruncated")) {
            try page(listing("<IsTruncated>false</IsTruncated>"))
        }
        #expect(throws: XMLFailure.invalid(element: "IsTruncated", value: "no")) {
            try page("<ListBucketResult><IsTruncated>no</IsTruncated></ListBucketResult>")
        }
        for token in ["", "<NextContinuationToken></NextContinuationToken>"] {
            #expect(throws: XMLFailure.missing(element: "NextContinuationToken")) {
                try page(
                    "<ListBucketResult><IsTruncated>true</IsTruncated>\(token)</ListBucketResult>"
                )
            }
        }
    }

    @Test(arguments: ["-1", "9223372036854775808", "1e3", "", " 1", "+1", "0x10", "١"])
    func `an impossible size is one that no object has`(size: String) throws {
        let entries = entry(key: "a", size: size) + entry(key: "b", size: "7")
        #expect(try page(listing(entries)).objects.map(\.size) == [Int64.max, 7])
    }

    @Test func `the largest size is read`() throws {
        let size = String(Int64.max)
        #expect(try page(listing(entry(key: "a", size: size))).objects[0].size == Int64.max)
    }

    @Test func `an entry without key, size or tag fails the page`() {
        #expect(throws: XMLFailure.missing(element: "Key")) {
            try page(listing("<Contents><Size>1</Size><ETag>x</ETag></Contents>"))
        }
        #expect(throws: XMLFailure.missing(element: "Size")) {
            try page(listing("<Contents><Key>a</Key><ETag>x</ETag></Contents>"))
        }
        #expect(throws: XMLFailure.missing(element: "ETag")) {
            try page(listing("<Contents><Key>a</Key><Size>1</Size></Contents>"))
        }
        #expect(throws: XMLFailure.duplicate(element: "Key")) {
            try page(listing(entry(key: "a</Key><Key>b")))
        }
        #expect(throws: XMLFailure.invalid(element: "Key", value: "")) {
            try page(listing(entry(key: "")))
        }
    }

    @Test func `keys are decoded once, and only if the page says they are encoded`() throws {
        let raw = try page(listing(entry(key: "100%25+%2e")))
        #expect(raw.objects.map(\.key) == ["100%25+%2e"])
        let late = listing(entry(key: "100%2525+%2e") + "<EncodingType>url</EncodingType>")
        #expect(try page(late).objects.map(\.key) == ["100%25+."])
        let form = try decodeListObjects([UInt8](late.utf8), style: .form)
        #expect(form.objects.map(\.key) == ["100%25 ."])
        for key in ["%", "%4", "%zz", "a%", "%%41"] {
            let text = listing("<EncodingType>url</EncodingType>" + entry(key: key))
            #expect(throws: XMLFailure.invalid(element: "Key", value: key)) { try page(text) }
        }
        #expect(throws: XMLFailure.invalid(element: "EncodingType", value: "url2")) {
            try page(listing("<EncodingType>url2</EncodingType>"))
        }
    }

    @Test func `names with a namespace's prefix are known`() throws {
        let text =
            "<s:ListBucketResult xmlns:s=\"urn:x\"><s:IsTruncated>false</s:IsTruncated>"
            + "</s:ListBucketResult>"
        #expect(try page(text).isTruncated == false)
    }

    @Test func `parts must ascend`() {
        let part = "<Part><PartNumber>2</PartNumber><ETag>e</ETag><Size>1</Size></Part>"
        let text =
            "<ListPartsResult><IsTruncated>false</IsTruncated>\(part)\(part)</ListPartsResult>"
        #expect(throws: XMLFailure.unordered(element: "PartNumber")) {
            try decodeListParts([UInt8](text.utf8))
        }
        let stuck =
            "<ListPartsResult><IsTruncated>true</IsTruncated>"
            + "<NextPartNumberMarker>1</NextPartNumberMarker>\(part)</ListPartsResult>"
        #expect(throws: XMLFailure.invalid(element: "NextPartNumberMarker", value: "1")) {
            try decodeListParts([UInt8](stuck.utf8))
        }
    }

    @Test func `messages name what was found without raw control characters`() {
        let found = XMLFailure.wrongRoot(found: "\u{1B}[31m", expected: "Error").message
        #expect(
            found == "the document is a <\\x1B[31m>, not a <Error>"
        )
        let value = XMLFailure.invalid(element: "Size", value: "-1").message
        #expect(value == "<Size> has the impossible value '-1'")
    }

    private func page(_ text: String) throws -> ListObjectsDocument {
        try decodeListObjects([UInt8](text.utf8), style: .strict)
    }

    private func listing(_ content: String) -> String {
        "<ListBucketResult><IsTruncated>false</IsTruncated>\(content)</ListBucketResult>"
    }

    private func entry(key: String, size: String = "1") -> String {
        "<Contents><Key>\(key)</Key><Size>\(size)</Size><ETag>\"e\"</ETag></Contents>"
    }

    private func decode(_ bytes: [UInt8], as name: String) throws {
        switch name {
        case "list-objects-v2-page1.xml": _ = try decodeListObjects(bytes, style: .strict)
        case "list-object-versions.xml": _ = try decodeListVersions(bytes, style: .strict)
        case "list-parts-page1.xml": _ = try decodeListParts(bytes)
        case "list-multipart-uploads.xml": _ = try decodeListUploads(bytes, style: .strict)
        case "delete-result-verbose.xml": _ = try decodeDelete(bytes, style: .strict)
        default: _ = try decodeCompleteUpload(bytes, style: .strict)
        }
    }
}

@Suite("Listings read in place")
struct PlainListingTests {
    private static let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

    /// As OSS sends it, and as S3 does.
    private static let pages = [
        declaration + """
            <ListBucketResult><Name>b</Name><Prefix>p%2F</Prefix><StartAfter></StartAfter>\
            <MaxKeys>2</MaxKeys><Delimiter></Delimiter><EncodingType>url</EncodingType>\
            <IsTruncated>true</IsTruncated><Contents><Key>p%2Fa%C3%A9+b</Key>\
            <LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>"5B3C"</ETag>\
            <Type>Normal</Type><Size>344606</Size><StorageClass>Standard</StorageClass>\
            <Owner><ID>00220120222</ID><DisplayName>user</DisplayName></Owner></Contents>\
            <Contents><Key>p%2Fl</Key><ETag>"6"</ETag><Type>Symlink</Type><Size>0</Size>\
            <StorageClass>IA</StorageClass></Contents>\
            <NextContinuationToken>Cg%3D%3D</NextContinuationToken><KeyCount>2</KeyCount>\
            </ListBucketResult>

            """,
        declaration + """
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>\
            <Prefix/><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><Delimiter/>\
            <EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Contents>\
            <Key>a+b</Key><LastModified>2026-01-02T03:04:05Z</LastModified>\
            <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e-2&quot;</ETag><Size>5</Size>\
            <StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>
            """,
    ]

    @Test(arguments: pages, [PercentEncodingStyle.strict, .form])
    func `a page of a store is read to the same objects`(
        page: String,
        style: PercentEncodingStyle
    ) throws {
        let bytes = [UInt8](page.utf8)
        let found = try #require(PlainListing.read(bytes, style: style))
        #expect(try found == decodeAnyListObjects(bytes, style: style))
        #expect(!found.objects.isEmpty)
    }

    @Test(arguments: pages)
    func `a page with any byte changed, missing or doubled is read alike or left alone`(
        page: String
    ) {
        let bytes = [UInt8](page.utf8)
        var left = 0
        for index in bytes.indices {
            var altered: [[UInt8]] = []
            for byte in [UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "%"), 0, 0xC3] {
                var copy = bytes
                copy[index] = byte
                altered.append(copy)
            }
            altered.append(Array(bytes[..<index] + bytes[(index + 1)...]))
            altered.append(Array(bytes[...index] + bytes[index...]))
            altered.append(Array(bytes[..<index]))
            for copy in altered {
                guard let found = PlainListing.read(copy, style: .strict) else {
                    left += 1
                    continue
                }
                let same = (try? decodeAnyListObjects(copy, style: .strict)) == found
                #expect(same, "\(String(decoding: copy, as: UTF8.self))")
            }
        }
        // Tags are most of a page.
        #expect(left > bytes.count)
    }
}
