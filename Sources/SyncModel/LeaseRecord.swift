/// Who may change a mirror, and the sign that it still lives: what the file `lease` holds.
///
/// Always ``size`` bytes, overwritten in place: no reader finds another file under its name.
package struct LeaseRecord: Sendable, Hashable {
    package static let size = 512
    private static let title = "osssync lease 1"
    /// The checksum in hexadecimal digits and a line's end.
    private static let sealLength = 17
    private static let longestText = 64

    /// Grows with each holder.
    package var epoch: UInt64
    /// A random name of this holding.
    package var holder: String
    package var isFree: Bool
    /// Grows with each sign of life.
    package var beat: UInt64
    package var process: LeaseProcess

    package init(
        epoch: UInt64,
        holder: String,
        isFree: Bool,
        beat: UInt64,
        process: LeaseProcess
    ) {
        self.epoch = epoch
        self.holder = holder
        self.isFree = isFree
        self.beat = beat
        self.process = process
    }

    /// Nil for what is cut short, altered or of a newer form.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        let sealed = bytes.dropLast(Self.sealLength)
        guard bytes.suffix(Self.sealLength).elementsEqual(Self.seal(of: [UInt8](sealed))) else {
            return nil
        }
        var lines = String(decoding: sealed, as: UTF8.self).split(separator: "\n")[...]
        guard lines.popFirst() == Self.title[...] else { return nil }
        func value(_ name: String) -> String? {
            guard let line = lines.popFirst(), line.hasPrefix(name + " ") else { return nil }
            return String(line.dropFirst(name.utf8.count + 1))
        }
        guard let epoch = value("epoch").flatMap({ UInt64($0) }), let state = value("state"),
            let beat = value("beat").flatMap({ UInt64($0) }), let holder = value("holder"),
            let host = value("host"), let boot = value("boot"),
            let namespace = value("namespace"),
            let number = value("process").flatMap({ Int32($0) }),
            let start = value("started"), state == "held" || state == "free"
        else { return nil }
        (self.epoch, self.holder, self.beat) = (epoch, holder, beat)
        isFree = state == "free"
        process = LeaseProcess(
            host: host,
            boot: boot,
            namespace: namespace,
            number: number,
            start: start
        )
    }

    package var bytes: [UInt8] {
        let lines = [
            Self.title, "epoch \(epoch)", "state \(isFree ? "free" : "held")", "beat \(beat)",
            "holder \(Self.text(holder))", "host \(Self.text(process.host))",
            "boot \(Self.text(process.boot))", "namespace \(Self.text(process.namespace))",
            "process \(process.number)", "started \(Self.text(process.start))", "",
        ]
        var bytes = [UInt8](lines.joined(separator: "\n").utf8)
        let room = Self.size - Self.sealLength - 1
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: max(0, room - bytes.count))
        bytes.append(UInt8(ascii: "\n"))
        return bytes + Self.seal(of: bytes)
    }

    /// As it is in a line, which nothing in it can end.
    private static func text(_ text: String) -> String {
        let bytes = text.utf8.prefix(longestText).map { $0 < 0x21 || $0 > 0x7E ? 0x5F : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func seal(of bytes: [UInt8]) -> [UInt8] {
        let digits = String(CRC64(of: bytes).value, radix: 16)
        return [UInt8](String(repeating: "0", count: 16 - digits.utf8.count).utf8)
            + [UInt8]((digits + "\n").utf8)
    }
}

/// A process, as another machine can tell it from others.
package struct LeaseProcess: Sendable, Hashable {
    package let host: String
    /// The machine's boot; empty if the system does not say.
    package let boot: String
    /// The space in which its number counts; empty if the system does not say.
    package let namespace: String
    package let number: Int32
    /// When it began, as the system says; tells it from another one of the same number.
    package let start: String

    package init(host: String, boot: String, namespace: String, number: Int32, start: String) {
        self.host = host
        self.boot = boot
        self.namespace = namespace
        self.number = number
        self.start = start
    }

    /// As messages name it.
    package var display: String { "process \(number) on \(displayText(host.utf8))" }
}
