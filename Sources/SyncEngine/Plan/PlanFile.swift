internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Writes a plan, line by line.
struct PlanWriter {
    private static let pieceSize = 1 << 20

    private let file: NewFile
    private let disk: BlockingQueue
    private var buffer: [UInt8]
    private var offset: Int64 = 0
    private var checksum = CRC64()
    private var items = 0
    private var bytes: Int64 = 0

    /// Creates the file, which must be missing, empty or a plan.
    ///
    /// - Throws: `TransferError` of code `configuration`.
    init(
        path: String,
        command: [String],
        _ settings: MirrorSettings,
        _ disk: BlockingQueue
    ) async throws(TransferError) {
        self.disk = disk
        let header = SavedPlan.Header(
            version: SavedPlan.version,
            command: command,
            remote: settings.displayRemote,
            endpoint: settings.identity.endpoint
        )
        buffer = [UInt8]((header.json.text + "\n").utf8)
        guard buffer.count <= SavedPlan.longestHeader else {
            throw TransferError(
                code: .configuration,
                message: "too many PATHs for a saved plan; name directories instead of files"
            )
        }
        do throws(LocalError) {
            file = try await disk.run { () throws(LocalError) in
                try NewFile(path: path, replacing: SavedPlan.beginning)
            }
        } catch {
            throw TransferError(
                code: .configuration,
                message: "the plan cannot be saved: \(error.message)",
                underlying: error
            )
        }
    }

    mutating func add(
        _ item: PlannedItem,
        _ action: ItemAction,
        outcome: Decision?
    ) async throws(LocalError) {
        let line = PlanLine(item, action, outcome: outcome)
        buffer += line.bytes
        items += 1
        if line.movesBytes { bytes = bytes.addingClamped(line.size) }
        if buffer.count >= Self.pieceSize { try await flush() }
    }

    /// Ends the file and gives it its name.
    mutating func finish() async throws(LocalError) {
        var trailer = SavedPlan.Trailer(items: items, bytes: bytes)
        let beginning = trailer.beginning
        buffer += beginning
        try await flush()
        trailer.crc64 = String(checksum.value, radix: 16)
        buffer = (trailer.json.text + "\n").utf8.dropFirst(beginning.count) + []
        try await flush()
        let file = file
        try await disk.run { () throws(LocalError) in try file.publish() }
    }

    private mutating func flush() async throws(LocalError) {
        let (file, piece, start) = (file, buffer, offset)
        unsafe checksum.update(piece.span.bytes)
        try await disk.run { () throws(LocalError) in try file.write(piece, at: start) }
        offset += Int64(piece.count)
        buffer.removeAll(keepingCapacity: true)
    }
}

/// Reads the lines of a plan.
struct PlanReader {
    private let plan: SavedPlan
    private let disk: BlockingQueue
    private var buffer: ArraySlice<UInt8> = []
    private var offset: Int64 = 0

    init(_ plan: SavedPlan, _ disk: BlockingQueue) {
        self.plan = plan
        self.disk = disk
    }

    /// The next item; nil after the last one.
    mutating func next() async throws -> PlanLine? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = PlanLine(parsing: buffer[..<end])
                buffer = buffer[(end + 1)...]
                guard let line else { throw damaged }
                return line
            }
            let (content, start) = (plan.content, offset)
            let piece = try await disk.run { () throws(LocalError) in
                try content.piece(at: start)
            }
            guard !piece.isEmpty else {
                guard buffer.isEmpty else { throw damaged }
                return nil
            }
            offset += Int64(piece.count)
            buffer = ([UInt8](buffer) + piece)[...]
            guard buffer.count <= 2 * PlanContent.pieceSize else { throw damaged }
        }
    }

    private var damaged: TransferError {
        TransferError(
            code: .configuration,
            message: "'\(displayText(plan.path.utf8))' was changed or damaged; nothing more of it "
                + "is done. Save the plan again with --save-plan"
        )
    }
}
