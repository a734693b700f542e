internal import LocalStorage
internal import ObjectStorage
package import ObjectTransfer
internal import SyncModel

/// What a run has to do with a saved plan.
package enum PlanUse: Sendable, Hashable {
    /// A dry run saves what it reports: to the path, with a command line from which `apply` makes
    /// the options of the run.
    case save(path: String, command: [String])
    /// A run does what is in the plan and nothing else.
    case apply(SavedPlan)
}

/// A file with what a dry run found to do, as text of one JSON object on each line.
///
/// 1. The header says which version of the format it is, of which directory and remote the plan is,
///    and which command line made it.
/// 2. Each item has its own line: the key, the action, and the facts on which it was decided.
/// 3. The trailer has the number of items and bytes, and the CRC-64 of all that comes before it.
///
/// Not guaranteed: where the file comes from. A checksum shows damage, not who wrote it; but a run
/// only carries out what it would do without the plan, too.
package struct SavedPlan: Sendable, Hashable {
    static let version = 1
    /// What every plan begins with.
    package static let beginning = [UInt8]("{\"osssync_plan\":".utf8)
    /// The paths of a limited run are in the header.
    static let longestHeader = 64 << 20
    private static let longestTrailer = 256

    /// The file, as it was given.
    package let path: String
    /// The command line of the run, without the program's name.
    package let command: [String]
    /// Lines with an item.
    package let items: Int
    /// Bytes of content that they transfer.
    package let bytes: Int64
    let remote: String
    let endpoint: String
    let content: PlanContent

    /// The first line.
    struct Header: JSONObject {
        let version: Int
        let command: [String]
        let remote: String
        let endpoint: String

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Header(
                version: try fields("osssync_plan", value?.version),
                command: try fields("command", value?.command),
                remote: try fields("remote", value?.remote),
                endpoint: try fields("endpoint", value?.endpoint)
            )
        }
    }

    /// The last line.
    struct Trailer: JSONObject {
        let items: Int
        let bytes: Int64
        /// Of all that comes before it.
        var crc64: String?

        /// What comes before the checksum, which covers it.
        var beginning: [UInt8] {
            let totals = Trailer(items: items, bytes: bytes)
            return [UInt8](totals.json.text.utf8.dropLast())
        }

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Trailer(
                items: try fields("items", value?.items),
                bytes: try fields("bytes", value?.bytes),
                crc64: try fields.optional("crc64", value?.crc64)
            )
        }
    }

    /// Reads the whole file and verifies it.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: `TransferError` of code `configuration`: the file cannot be read, is not a plan,
    ///   is one of a newer osssync, is incomplete, or was changed; `cancelled`.
    package init(reading path: String) throws(TransferError) {
        do {
            self = try Self.read(path)
        } catch let problem as PlanProblem {
            throw problem.error(path)
        } catch let error as LocalError {
            throw TransferError(code: .configuration, message: error.message)
        } catch {
            throw TransferError(any: error)
        }
    }

    private init(path: String, header: Header, trailer: Trailer, content: PlanContent) {
        self.path = path
        (command, remote, endpoint) = (header.command, header.remote, header.endpoint)
        (items, bytes, self.content) = (trailer.items, trailer.bytes, content)
    }

    private static func read(_ path: String) throws -> SavedPlan {
        let file = try OpenFile(reading: path)
        let size = try file.identity().size
        guard try file.read(at: 0, length: beginning.count) == beginning else {
            throw PlanProblem.notPlan
        }
        guard let first = try firstLine(of: file), let start = json(first) else {
            throw PlanProblem.incomplete
        }
        guard case .number(let version)? = start["osssync_plan"] else { throw PlanProblem.notPlan }
        guard version == String(Self.version) else { throw PlanProblem.newer(version) }
        let length = min(size, Int64(longestTrailer))
        let tail = try file.read(at: size - length, length: Int(length))
        guard tail.last == UInt8(ascii: "\n"),
            let end = tail.dropLast().lastIndex(of: UInt8(ascii: "\n")),
            let ending = json([UInt8](tail[(end + 1)...])), ending["crc64"] != nil
        else { throw PlanProblem.incomplete }
        guard let header = Header(json: start), let trailer = Trailer(json: ending) else {
            throw PlanProblem.changed
        }
        let content = PlanContent(
            file: file,
            items: ByteRange(
                offset: Int64(first.count) + 1,
                length: size - Int64(tail.count - end - 1) - Int64(first.count) - 1
            )
        )
        guard try content.checksum(with: trailer.beginning) == trailer.crc64 else {
            throw PlanProblem.changed
        }
        return SavedPlan(path: path, header: header, trailer: trailer, content: content)
    }

    /// Nil if there is no end of a line where one must be.
    private static func firstLine(of file: OpenFile) throws(LocalError) -> [UInt8]? {
        var line: [UInt8] = []
        while line.count < longestHeader {
            let piece = try file.read(at: Int64(line.count), length: PlanContent.pieceSize)
            if let end = piece.firstIndex(of: UInt8(ascii: "\n")) { return line + piece[..<end] }
            guard !piece.isEmpty else { return nil }
            line += piece
        }
        return nil
    }

    private static func json(_ line: [UInt8]) -> JSONText? {
        try? JSONText(parsing: line, maximumSize: longestHeader)
    }
}

/// Why a file is not used as a plan.
private enum PlanProblem: Error {
    case notPlan
    case newer(String)
    case incomplete
    case changed

    func error(_ path: String) -> TransferError {
        let again = "; save the plan again with --save-plan"
        let reason =
            switch self {
            case .notPlan: "is not a plan that osssync saved"
            case .newer(let version):
                "is a plan of another osssync (version \(version) of its format, and this one "
                    + "reads \(SavedPlan.version)); update osssync, or save it again"
            case .incomplete: "is not a complete plan" + again
            case .changed: "was changed or damaged after it was saved" + again
            }
        return TransferError(
            code: .configuration,
            message: "'\(displayText(path.utf8))' \(reason)"
        )
    }
}

/// The lines of a plan, in the file that was verified, whatever its name becomes.
struct PlanContent: Sendable, Hashable {
    static let pieceSize = 1 << 20

    private let file: OpenFile
    private let items: ByteRange

    init(file: OpenFile, items: ByteRange) {
        self.file = file
        self.items = items
    }

    static func == (a: Self, b: Self) -> Bool { a.file === b.file }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(file)) }

    /// The next bytes of the items from `offset` on, the first item being at 0; none at the end.
    func piece(at offset: Int64) throws(LocalError) -> [UInt8] {
        let length = min(Int64(Self.pieceSize), items.length - offset)
        guard length > 0 else { return [] }
        return try file.read(at: items.offset + offset, length: Int(length))
    }

    /// The CRC-64 of everything before the trailer, and its totals, as the trailer has it.
    fileprivate func checksum(with totals: [UInt8]) throws -> String {
        var checksum = CRC64()
        var offset: Int64 = 0
        while offset < items.end {
            try Task.checkCancellation()
            let length = Int(min(Int64(Self.pieceSize), items.end - offset))
            let bytes = try file.read(at: offset, length: length)
            guard bytes.count == length else { break }
            unsafe checksum.update(bytes.span.bytes)
            offset += Int64(length)
        }
        unsafe checksum.update(totals.span.bytes)
        return String(checksum.value, radix: 16)
    }
}
