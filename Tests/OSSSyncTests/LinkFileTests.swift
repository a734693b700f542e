import Testing

@testable import OSSSync

@Suite("A directory's configuration")
struct LinkFileTests {
    private let remote = BucketLocation(dialect: .oss, bucket: "bucket", prefix: "p")

    private func parsed(_ text: String) throws(TransferError) -> LinkFile? {
        try LinkFile([UInt8](text.utf8), path: "/d/.osssync/config")
    }

    @Test(arguments: [
        "oss://bucket/", "oss://bucket/p/", "oss://bucket/a b/", "oss://bucket/ lead/",
        "oss://bucket/\"q\" \\ # ; =/", "oss://bucket/tab\tand\nline/",
        "oss://bucket/caf\u{E9} e\u{301}/",
    ])
    func `comes back as it was written`(text: String) throws {
        var options = ConnectionOptions()
        options.profile = "some one"
        options.region = "cn-hangzhou"
        options.endpoint = "http://127.0.0.1:9000"
        options.addressing = "path"
        options.provider = "minio"
        options.signature = "v1"
        for options in [options, ConnectionOptions()] {
            let link = LinkFile(
                remote: try BucketLocation(parsing: text),
                options: options,
                previous: nil
            )
            #expect(try LinkFile(link.content(replacing: nil), path: "config") == link)
            #expect(link.remote.utf8.elementsEqual(text.utf8))
        }
    }

    @Test func `holds no more than the place of the remote`() {
        var options = ConnectionOptions()
        options.caFile = "/ca"
        options.configurationFile = "/c"
        options.stateDirectory = "/s"
        options.allowsInsecureHTTP = true
        let content = LinkFile(remote: remote, options: options, previous: nil)
            .content(replacing: nil)
        #expect(
            String(decoding: content, as: UTF8.self) == """
                # Written by osssync init; see osssync help configuration.
                [mirror]
                remote = oss://bucket/p/

                """
        )
    }

    @Test func `keeps what new options leave open`() {
        var first = ConnectionOptions()
        first.region = "cn-hangzhou"
        first.profile = "work"
        var second = ConnectionOptions()
        second.region = "cn-shanghai"
        let link = LinkFile(
            remote: remote,
            options: second,
            previous: LinkFile(remote: remote, options: first, previous: nil)
        )
        #expect(link.region == "cn-shanghai")
        #expect(link.profile == "work")
    }

    @Test func `keeps the lines that are not its own`() throws {
        let old = """
            # mine
            [push]
            delete = yes

            [mirror] ; the link
            jobs = 4
            Region = "cn-hangzhou" ; old
            remote = oss://other/
            exclude = *.a
            exclude = *.b
            [pull]
            """
        var options = ConnectionOptions()
        options.endpoint = "http://127.0.0.1:9000"
        let link = LinkFile(remote: remote, options: options, previous: nil)
        let text = String(decoding: link.content(replacing: [UInt8](old.utf8)), as: UTF8.self)
        #expect(
            text == """
                # mine
                [push]
                delete = yes

                [mirror] ; the link
                remote = oss://bucket/p/
                endpoint = http://127.0.0.1:9000
                jobs = 4
                exclude = *.a
                exclude = *.b
                [pull]

                """
        )
        #expect(try parsed(text) == link)
        let rest = try #require(LinkFile.unlinked([UInt8](text.utf8)))
        #expect(try parsed(String(decoding: rest, as: UTF8.self)) == nil)
        #expect(String(decoding: rest, as: UTF8.self).contains("[mirror] ; the link\njobs = 4"))
        #expect(LinkFile.unlinked(link.content(replacing: nil)) == nil)
        let added = link.content(replacing: [UInt8]("[pull]\njobs = 2".utf8))
        #expect(
            String(decoding: added, as: UTF8.self) == """
                [pull]
                jobs = 2

                [mirror]
                remote = oss://bucket/p/
                endpoint = http://127.0.0.1:9000

                """
        )
    }

    @Test func `is absent without its section or remote`() throws {
        #expect(try parsed("") == nil)
        #expect(try parsed("[other]\nremote = oss://bucket\n") == nil)
        #expect(try parsed("[mirror]\nregion = x\n") == nil)
    }

    @Test(
        arguments: [
            ("[mirror\n", "line 1 begins with '[' but is not '[section]'"),
            ("[mirror]\nremote\n", "line 2 is neither '[section]' nor 'key = value'"),
            (
                "[mirror]\nremote = oss://bucket\nremote = oss://other\n",
                "line 3 gives 'remote' again, after line 2"
            ),
        ]
    )
    func `that is broken is told with its line`(text: String, reason: String) {
        let error = #expect(throws: TransferError.self) { try parsed(text) }
        #expect(error?.code == .configuration)
        #expect(error?.message == "'/d/.osssync/config': \(reason); fix it")
    }
}
