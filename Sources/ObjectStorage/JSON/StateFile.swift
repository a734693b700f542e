internal import SyncModel

/// A small file of osssync's state: a heading, one line of JSON, and a checksum of both.
///
/// What was cut short or altered is no such file: a single wrong byte in a key range or a count
/// could cost files.
package protocol StateFile: JSONObject {
    /// What the file is, with the version of its form.
    static var heading: String { get }
}

extension StateFile {
    /// Nil for what was never written so.
    package init?(content: [UInt8]) {
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(Self.heading.utf8),
            lines[2].elementsEqual(Self.check([UInt8](content[..<lines[2].startIndex])).utf8),
            lines[3].isEmpty,
            let json = try? JSONText(parsing: [UInt8](lines[1]), maximumSize: content.count)
        else { return nil }
        self.init(json: json)
    }

    package var content: [UInt8] {
        let text = [UInt8]("\(Self.heading)\n\(json.text)\n".utf8)
        return text + [UInt8]("\(Self.check(text))\n".utf8)
    }

    private static func check(_ text: [UInt8]) -> String {
        "check \(CRC64(of: text).value)"
    }
}
