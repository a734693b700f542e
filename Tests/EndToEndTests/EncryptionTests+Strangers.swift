import Foundation
import Testing

/// What knows no password, or another one, and meets encrypted objects.
extension EncryptionTests {
    @Test func `is neither read nor written by what knows no password`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        let object = workplace.remote + "/f17"
        let plain = try workplace.run("pull", path("other"), workplace.remote)
        #expect(plain.status == 2 && plain.diagnostics.contains("encrypted contents"))
        // Another account has no list, but the object says it.
        for arguments in [
            ["get", object, path("file")], ["pull", path("other"), workplace.remote],
        ] {
            let result = try workplace.start(arguments, environment: stranger).finish()
            #expect(result.status != 0, "\(arguments)")
            #expect(result.diagnostics.contains("the content is encrypted"))
        }
        let other = Tree(URL(fileURLWithPath: path("other")))
        try other.write("new", ramp(10))
        let push = try workplace.run("push", other.path, environment: stranger)
        #expect(push.status == 3)
        #expect(push.diagnostics.contains("has encrypted contents"))
        #expect(!FileManager.default.fileExists(atPath: path("file")))
        #expect(!FileManager.default.fileExists(atPath: path("other") + "/f17"))
    }

    @Test func `is neither joined nor replaced by what another account sends`() throws {
        let remote = workplace.remote
        let other = try workplace.makeDirectory("other")
        try other.write("own", ramp(50))
        let before = try workplace.run("push", other.path, remote, environment: stranger)
        #expect(before.status == 0, "\(before.diagnostics)")
        #expect(try workplace.run("push", source.path).status == 0)
        let sealed = try stored("f17")

        let late = try workplace.makeDirectory("late")
        try late.write("new", ramp(10))
        let requests = try workplace.requests {
            let result = try workplace.run(
                "push",
                "--exclude",
                "own",
                late.path,
                remote,
                environment: stranger
            )
            #expect(result.status == 3)
            #expect(result.diagnostics.contains("has encrypted contents"))
        }
        #expect(requests.allSatisfy { ["ListObjectsV2", "GetObject"].contains($0.operation) })

        try other.write("f17", ramp(30))
        for options in [
            ["--on-conflict", "local"], ["--on-conflict", "local", "--force"],
            ["--delete=extra", "--max-delete", "100%"],
        ] {
            let push = try workplace.start(["push"] + options + [other.path], environment: stranger)
                .finish()
            #expect(push.status == 1, "\(options)")
            #expect(push.diagnostics.contains("is encrypted, and this mirror is not"))
        }
        let put = try workplace.run(
            "put",
            "--force",
            path("key"),
            remote + "/f17",
            environment: stranger
        )
        #expect(put.status == 3)
        #expect(try stored("f17") == sealed)
        // By the other protocol, on the account that knows.
        let s3 = remote.replacing("oss://", with: "s3://")
        for words in [["push", late.path, s3], ["put", "--force", path("key"), s3 + "/f17"]] {
            let result = try workplace.start(words).finish()
            #expect(result.status == 2, "\(result.diagnostics)")
        }
        let target = try workplace.makeDirectory("target")
        try link(target)
        // What is not encrypted is named.
        #expect(try workplace.run("pull", target.path).status == 1)
        #expect(try target.entries() == source.entries())
    }

    @Test func `is known by its first bytes, whoever encrypted it`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        let remote = workplace.remote + "-raw"
        let object = try stored("f300000")
        try store(ramp(100), as: "a", in: remote)
        try store(object, as: "large", in: remote)
        try store(try stored("f17"), as: "small", in: remote)
        for name in ["large", "small"] {
            let text = "osssync get '\(remote)/\(name)'"
            for file in ["file", "-"] {
                let result = try workplace.shell(text + " \(file) > out")
                #expect(result.status == 6)
                #expect(result.diagnostics.contains("the content is encrypted"))
                #expect(try workplace.shell("test ! -e file -a ! -s out").status == 0)
            }
        }
        #expect(try workplace.shell("osssync get --force '\(remote)/large' - > out").status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("out"))) == object)

        let plain = try workplace.makeDirectory("plain")
        let pull = try workplace.run("pull", "--part-size", "256K", plain.path, remote)
        #expect(pull.status == 1)
        #expect(pull.diagnostics.contains("large: the content is encrypted"))
        #expect(plain.content("a") == ramp(100))
        for name in ["large", "small"] { #expect(!plain.exists(name)) }
        let setting = "echo 'encryption = none' >> '\(plain.path)/.osssync/config'"
        #expect(try workplace.shell(setting).status == 0)
        #expect(try workplace.run("pull", plain.path).status == 0)
        #expect(plain.content("large") == object)

        // A file that was encrypted before it was sent is a file.
        let files = try workplace.makeDirectory("files")
        try files.write("crypt", object)
        #expect(try workplace.run("push", files.path, remote + "-files").status == 0)
        let back = try workplace.makeDirectory("back")
        #expect(try workplace.run("pull", back.path, remote + "-files").status == 0)
        #expect(back.content("crypt") == object)
    }

    @Test func `is pulled as it is stored, and not sent from there`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        let raw = try workplace.makeDirectory("as-stored")
        let link = "[mirror]\\nremote = \(workplace.remote)\\nencryption = none\\n"
        let script = "mkdir '\(raw.path)/.osssync' && printf '\(link)' > "
        #expect(try workplace.shell(script + "'\(raw.path)/.osssync/config'").status == 0)
        let pull = try workplace.run("pull", raw.path)
        #expect(pull.status == 0, "\(pull.diagnostics)")
        let object = try stored("f17")
        #expect(raw.content("f17") == object)
        try raw.write("f17", ramp(40))
        let requests = try workplace.requests {
            for words in [["push"], ["sync"], ["push", "--dry-run"]] {
                let result = try workplace.start(words + [raw.path]).finish()
                #expect(result.status == 2)
                #expect(result.diagnostics.contains("is for pulls only"))
            }
        }
        #expect(requests.isEmpty)
        #expect(try stored("f17") == object)
    }

    @Test func `is encrypted by every state of its directory`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        #expect(try workplace.run("keygen", path("other")).status == 0)
        try source.write("new", ramp(10))
        let state = ["--state-dir", path("state")]
        let stranger = stranger
        func push(_ remote: String) throws -> ProgramResult {
            try workplace.start(["push"] + state + [source.path, remote], environment: stranger)
                .finish()
        }
        for remote in [workplace.remote, workplace.remote + "-2"] {
            #expect(try push(remote).status == 3)
        }
        let other = ["--encrypt", "--encryption-password-file", path("other")]
        let linked = try workplace.start(
            ["init"] + state + other + [source.path, workplace.remote]
        ).finish()
        if linked.status == 0 {
            let result = try workplace.start(["push"] + state + [source.path]).finish()
            #expect(result.status == 3 || result.status == 4)
        }
        #expect(try workplace.shell("rm -r state; rm '\(source.path)/.osssync/config'").status == 0)
        #expect(try push(workplace.remote).status == 3)
        #expect(try workplace.requests().allSatisfy { $0.key != "mirror/new" })
    }

    @Test func `has its password from the user's own profile first, and quotes no program`()
        throws
    {
        let secret = "hunter2-of-mine"
        let script = "printf '#!/bin/sh\necho \(secret) >&2; exit 1\n' > fails; chmod +x fails"
        #expect(try workplace.shell(script).status == 0)
        let failed = try workplace.run(
            "push",
            "--encryption-password-command",
            path("fails"),
            source.path
        )
        #expect(failed.status == 2)
        #expect(!failed.diagnostics.contains(secret), "\(failed.diagnostics)")

        #expect(try workplace.run("keygen", path("other")).status == 0)
        let profile = """
            mkdir -p home/.config/osssync; umask 077; \
            printf '[default]\nencryption-password-file = %s\n' '\(path("key"))' \
            > home/.config/osssync/config
            """
        #expect(try workplace.shell(profile).status == 0)
        let change = "sed -i 's:\(path("key")):\(path("other")):' '\(source.path)/.osssync/config'"
        #expect(try workplace.shell(change).status == 0)
        #expect(try workplace.run("push", source.path).status == 0)
        let target = try workplace.makeDirectory("target")
        #expect(try workplace.shell("rm home/.config/osssync/config").status == 0)
        try link(target)
        #expect(try workplace.run("pull", target.path).status == 0)
        #expect(try target.entries() == source.entries())
    }

    @Test func `is not held up by objects that only look like it`() throws {
        #expect(try workplace.run("push", source.path).status == 0)
        for index in 0..<12 {
            try store(Self.magic + ramp(150, seed: index), as: "a\(index)")
        }
        let target = try workplace.makeDirectory("target")
        try link(target)
        try target.write("mine", ramp(5))
        try source.write("mine too", ramp(6))
        for tree in [target, source] {
            let result = try workplace.run("sync", "--jobs", "1", tree.path)
            #expect(result.status == 1, "\(result.diagnostics)")
        }
        #expect(target.content("f300000") == source.content("f300000"))
        #expect(source.content("mine") == ramp(5))
    }
}
