import Foundation
import Glibc
import Synchronization
import Testing

/// A terminal without a screen, of which everything that is written to it can be read.
final class PseudoTerminal: Sendable {
    /// The end that a program takes for its terminal.
    let device: FileHandle
    private let controller: Int32
    private let written = Mutex(Data())
    private let reading = DispatchGroup()

    // Swift does not import these macros, `TIOCSPTLCK` and `TIOCGPTN` of ioctl_tty(2).
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init(columns: UInt16, lines: UInt16) throws {
        controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(controller >= 0, "open /dev/ptmx: errno \(errno)")
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(unsafe ioctl(controller, Self.setLock, &isLocked) == 0)
        try #require(unsafe ioctl(controller, Self.getNumber, &number) == 0)
        let descriptor = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(descriptor >= 0, "open /dev/pts/\(number): errno \(errno)")
        try #require(unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0)
        device = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        reading.enter()
        Thread { self.read() }.start()
    }

    deinit {
        close(controller)
    }

    private func read() {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let controller = controller
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(controller, buffer.baseAddress, buffer.count)
            }
            // The last program closed its end.
            guard count > 0 else { break }
            written.withLock { $0.append(contentsOf: chunk[..<count]) }
        }
        reading.leave()
    }

    /// Everything that was written until the last program that has the terminal ends.
    func finish() throws -> String {
        try device.close()
        reading.wait()
        return written.withLock { String(decoding: $0, as: UTF8.self) }
    }
}

/// What a screen shows after the escape sequences that osssync's bar uses; any other is nil.
func screen(after text: String) -> [String]? {
    var lines = [""]
    var row = 0
    var column = 0
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.popFirst() {
        switch scalar {
        case "\r": column = 0
        case "\n":
            row += 1
            if row == lines.count { lines.append("") }
        case "\u{1B}":
            guard rest.popFirst() == "[" else { return nil }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest[digits.endIndex...]
            switch (rest.popFirst(), Int(String(digits))) {
            case ("A"?, let count?): row = max(0, row - count)
            case ("K"?, nil): lines[row] = String(lines[row].prefix(column))
            case ("J"?, nil):
                lines[row] = String(lines[row].prefix(column))
                lines.removeSubrange((row + 1)...)
            default: return nil
            }
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": return nil
        default:
            var line = Array(lines[row])
            while line.count <= column { line.append(" ") }
            line[column] = Character(scalar)
            lines[row] = String(line)
            column += 1
        }
    }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
}
