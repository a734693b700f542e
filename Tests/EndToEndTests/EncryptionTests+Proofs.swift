import Foundation
import Testing

/// What is known of encrypted objects that are not downloaded.
extension EncryptionTests {
    @Test func `is proven by what the files become, and read by nobody`() throws {
        try source.write("large", ramp(5 << 20))
        let amazon = [
            "AWS_ACCESS_KEY_ID": Workplace.keyID, "AWS_SECRET_ACCESS_KEY": Workplace.keySecret,
            "AWS_REGION": "cn-test-1", "AWS_ENDPOINT_URL": workplace.url,
        ]
        for scheme in ["oss", "s3"] {
            let tree = try workplace.makeDirectory(scheme)
            for name in ["f1", "f65537", "f300000", "large"] {
                try tree.write(name, try #require(source.content(name)))
            }
            let linked = try workplace.run(
                "init",
                "--encrypt",
                "--encryption-password-file",
                path("key"),
                tree.path,
                "\(scheme)://\(Workplace.bucket)/proof-\(scheme)",
                environment: amazon
            )
            #expect(linked.status == 0, "\(linked.diagnostics)")
            let push = try workplace.run(
                "push",
                "--part-size",
                "1M",
                tree.path,
                environment: amazon
            )
            #expect(push.status == 0, "\(push.diagnostics)")
            let requests = try workplace.requests {
                let words = ["verify", "--remote", tree.path]
                let verified = try workplace.start(words, environment: amazon).finish()
                #expect(verified.status == 0, "\(verified.output)\(verified.diagnostics)")
            }
            #expect(requests.count { $0.operation == "GetObject" } == 4)
            #expect(requests.allSatisfy { $0.bytesSent < 1_000 })
        }
        try workplace.setFaults(
            """
            [{"match": {"operation": "HeadObject", "key": "proof-oss/f65537"},
              "effect": {"headers": {"set": {"x-oss-hash-crc64ecma": "1"}}}}]
            """
        )
        let tree = path("oss")
        let damaged = try workplace.run("verify", "--remote", tree)
        #expect(damaged.status == 1)
        #expect(damaged.output.contains("f65537") || damaged.diagnostics.contains("f65537"))
        try workplace.clearFaults()
        // What only reads the state asks for no password.
        #expect(try workplace.shell("mv key away").status == 0)
        for words in [["mirrors"], ["log", tree]] {
            let result = try workplace.start(words).finish()
            #expect(result.status == 0, "\(result.diagnostics)")
            #expect(!result.output.contains("unreadable"))
        }
        #expect(try workplace.run("verify", "--remote", tree).status == 2)
    }

    @Test func `comes back from an archive, in which nothing proves the password`() throws {
        let push = try workplace.run("push", "--storage-class", "Archive", source.path)
        try #require(push.status == 0, "\(push)")
        #expect(try workplace.run("keygen", path("other")).status == 0)
        let (target, mistaken) = (
            try workplace.makeDirectory("target"), try workplace.makeDirectory("mistaken")
        )
        try link(target)
        try link(mistaken, key: "other")
        for tree in [target, mistaken] {
            let sync = try workplace.run("sync", tree.path)
            #expect(sync.status == 3 && sync.diagnostics.contains("pull --restore"), "\(sync)")
            let pull = try workplace.run("pull", tree.path)
            #expect(pull.status == 1 && pull.diagnostics.contains("is archived"), "\(pull)")
        }
        #expect(try workplace.run("pull", "--restore", target.path).status == 1)
        let refused = try workplace.run("pull", mistaken.path)
        #expect(refused.status == 4 && refused.diagnostics.contains("password"), "\(refused)")
        #expect(try mistaken.entries().isEmpty)
        try link(mistaken)
        for tree in [target, mistaken] {
            let pull = try workplace.run("pull", tree.path)
            #expect(pull.status == 0, "\(pull)")
            for size in Self.sizes { #expect(tree.content("f\(size)") == ramp(size, seed: size)) }
            #expect(try workplace.run("sync", tree.path).status == 0)
        }
    }
}
