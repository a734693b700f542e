import Foundation
import SyncTestSupport
import Testing

/// Replays the inputs that fuzzing has kept, and mutations of them; `Tests/Fuzz/run` searches for
/// new ones.
@Suite("Inputs of strangers")
struct ReplayTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Corpus")

    /// The kept inputs of a target, in the order of their names.
    private static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = corpus.appendingPathComponent(target.name)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            name in
            (name, [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `what was kept still holds`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(of: target)
        #expect(inputs.count >= 5, "the corpus of \(name) is missing")
        for input in inputs {
            #expect(throws: Never.self, "Corpus/\(name)/\(input.name)") {
                try target.judge(input.bytes)
            }
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `mutations of what was kept hold`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Self.inputs(of: target).map(\.bytes)
        var generator = SeededGenerator(seed: UInt64(name.utf8.count))
        for round in 0..<1_000 {
            let input = mutated(inputs, &generator)
            #expect(throws: Never.self, "round \(round): \(Data(input).base64EncodedString())") {
                try target.judge(input)
            }
        }
    }

    @Test func `a target that fails is seen`() {
        #expect(throws: FuzzFailure.self) { try require(false, "x") }
        #expect(throws: FuzzFailure.self) { try requirePrintable("\u{202E}", "x") }
    }

    /// One of `inputs` with a few changes of the kinds that parsers stumble over.
    private func mutated(_ inputs: [[UInt8]], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = generator.pick(inputs)
        for _ in 0...generator.below(4) {
            let place = generator.below(bytes.count + 1)
            let end = min(bytes.count, place + 1 + generator.below(16))
            switch generator.below(7) {
            case 0: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: generator.pick(Self.tokens).utf8, at: place)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 4: bytes.replaceSubrange(place..<end, with: generator.pick(inputs).prefix(16))
            case 5: bytes = [UInt8](bytes.prefix(max(1, place)))
            default: if place < bytes.count { bytes[place] ^= 1 << UInt8(generator.below(8)) }
            }
        }
        return bytes
    }

    private static let tokens = [
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "-1", "1e9", "0",
        "99999999999", "\0", "\u{1B}[2J", "\u{202E}", "\u{301}", "\u{FEFF}", "../", "..", "/", "//",
        ".osssync", "%", "%2", "%00", "%2e%2e%2f", "+", "&#1;", "&amp;", "<a>", "</a>", "<Key>",
        "</Key>", "<!DOCTYPE", "<![CDATA[", "]]>", "<!--", "\r\n", "\n", "\"", "\\", "'", "[", "]",
        "{", "}", "=", ";", "#", ":", ",", "bytes 0-9/10", "\u{FFFD}", "é",
    ]
}
