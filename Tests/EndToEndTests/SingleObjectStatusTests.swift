import Foundation
import Testing

@Suite("How single objects end", .serialized)
struct SingleObjectStatusTests {
    private static let object = "oss://\(Workplace.bucket)/films/film.mov"

    private func stored() throws -> (Workplace, Tree) {
        let workplace = try Workplace()
        let tree = try workplace.makeDirectory("tree")
        try tree.write("film.mov", ramp(100_000))
        let put = try workplace.run("put", tree.path + "/film.mov", Self.object)
        try #require(put.status == 0, "\(put.diagnostics)")
        return (workplace, tree)
    }

    /// A fault script by which one operation is refused.
    private func refusing(_ operation: String, _ status: Int, _ code: String) -> String {
        """
        [{"match": {"operation": "\(operation)"},
          "effect": {"fail": {"status": \(status), "code": "\(code)",
                              "message": "The store's own words.",
                              "headers": {"Location": "http://127.0.0.1:1/"}}}}]
        """
    }

    @Test func `what was asked for wrongly is 2, in the store's words`() throws {
        let (workplace, tree) = try stored()
        let file = tree.path + "/film.mov"
        try workplace.setFaults(refusing("PutObject", 400, "InvalidStorageClass"))
        let put = try workplace.run("put", "--force", "--storage-class", "IA", file, Self.object)
        #expect(put.status == 2, "\(put.diagnostics)")
        #expect(put.diagnostics.contains("The store's own words."))
        // A mirror ends as a single object does.
        let pull = ["pull", tree.path + "/mirror", workplace.remote]
        _ = try workplace.makeDirectory("tree/mirror")
        for (operation, status, code) in [
            ("ListObjectsV2", 400, "InvalidArgument"), ("ListObjectsV2", 307, "TemporaryRedirect"),
        ] {
            try workplace.setFaults(refusing(operation, status, code))
            #expect(try workplace.start(pull).finish().status == 2, "\(status)")
        }
        // Whoever answers without a code of a store is perhaps none.
        try workplace.setFaults(
            """
            [{"match": {"operation": "ListObjectsV2"},
              "effect": {"status": 400, "body": "<html>Bad request</html>"}}]
            """
        )
        #expect(try workplace.start(pull).finish().status == 6)
        try workplace.setFaults(refusing("GetObject", 307, "TemporaryRedirect"))
        let get = try workplace.run("get", Self.object, tree.path + "/copy")
        #expect(get.status == 2, "\(get.diagnostics)")
    }

    @Test func `what is missing, archived or damaged is 1`() throws {
        let (workplace, tree) = try stored()
        let copy = tree.path + "/copy"
        #expect(try workplace.run("get", Self.object + "x", copy).status == 1)
        try workplace.setFaults(refusing("GetObject", 403, "InvalidObjectState"))
        let archived = try workplace.run("get", Self.object, copy)
        #expect(archived.status == 1)
        #expect(archived.diagnostics.contains("is archived and must be restored"))
        try workplace.setFaults(
            #"[{"match": {"operation": "GetObject"}, "effect": {"flip": 100}}]"#
        )
        let damaged = try workplace.run("get", Self.object, copy)
        #expect(damaged.status == 1, "\(damaged.diagnostics)")
        #expect(damaged.diagnostics.contains("twice"))
        #expect(!tree.exists("copy"))
    }

    @Test func `a signed URL is read from standard input or a file`() throws {
        let (workplace, tree) = try stored()
        func signing(_ object: String) -> String {
            "{ osssync presign \(object); osssync presign --method HEAD \(object); }"
        }
        let piped = try workplace.shell("\(signing(Self.object)) | osssync get - tree/piped")
        #expect(piped.status == 0, "\(piped.diagnostics)")
        #expect(tree.content("piped") == ramp(100_000))
        // What is replaced during the download is asked for by the second line.
        try workplace.setFaults(
            """
            [{"match": {"operation": "GetObject", "occurrence": 1},
              "effect": {"cut": {"at": 1000, "how": "rst"}}},
             {"match": {"operation": "GetObject", "occurrence": 2},
              "effect": {"fail": {"status": 412, "code": "PreconditionFailed"}}}]
            """
        )
        let requests = try workplace.requests {
            let again = try workplace.shell("\(signing(Self.object)) | osssync get - tree/again")
            #expect(again.status == 0, "\(again.diagnostics)")
        }
        #expect(tree.content("again") == ramp(100_000))
        #expect(requests.contains { $0.operation == "HeadObject" })
        try workplace.clearFaults()

        let one = try workplace.shell(
            "osssync presign \(Self.object) > url; osssync get @url tree/one"
        )
        #expect(one.status == 0, "\(one.diagnostics)")
        #expect(tree.content("one") == ramp(100_000))

        for wrong in [
            "osssync get @absent tree/x", "osssync get - tree/x < /dev/null",
            "echo \(Self.object) | osssync get - tree/x",
            "osssync presign \(Self.object) | osssync get - tree/",
            "\(signing(Self.object)) | osssync get - tree/x --head-url http://127.0.0.1:1/x",
            "{ \(signing(Self.object)); echo https://a/b; } | osssync get - tree/x",
            "osssync get --head-url x oss://b/k tree/x",
        ] {
            let result = try workplace.shell(wrong)
            #expect(result.status == 2, "\(wrong): \(result.diagnostics)")
            #expect(!result.diagnostics.contains("signature="))
        }
        #expect(!tree.exists("x"))
    }
}
