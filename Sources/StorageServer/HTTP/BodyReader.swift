internal import CLibrary
internal import SyncModel

/// A body on its way out, with what faults do to it.
final class BodyReader {
    /// What happens when so many bytes have gone out.
    private struct Event {
        let position: Int64
        let action: Action
    }

    private enum Action {
        case cut(CloseKind)
        case stall(seconds: Double)
        case run(() -> Void)
    }

    private enum Source {
        case bytes([UInt8])
        case content(ContentReader, PinnedContent, offset: Int64)
    }

    let length: Int64
    private let source: Source
    private let connection: Connection
    private let pause: Pause
    private var events: [Event] = []
    private var flips: Set<Int64> = []
    private var bytesPerSecond: Int?
    /// Where a fault ended the body.
    private(set) var cutPosition: Int64?

    init(_ body: AnswerBody, connection: Connection, pause: Pause) {
        length = body.length
        self.connection = connection
        self.pause = pause
        switch body {
        case .empty: source = .bytes([])
        case .bytes(let bytes): source = .bytes(bytes)
        case .content(let content, let range):
            source = .content(content.makeReader(), content, offset: range.offset)
        }
    }

    /// `change` carries out what another client does to the object.
    func add(_ faults: ActiveFaults, change: @escaping (FaultEffect) -> Void) {
        for effect in faults.effects {
            switch effect {
            case .cutBody(let at, let kind):
                events.append(Event(position: at, action: .cut(kind)))
            case .holdBody(let at):
                let (hold, pause) = (faults.hold, pause)
                events.append(
                    Event(position: at, action: .run { hold?.wait(unless: pause) })
                )
            case .stallBody(let at, let seconds):
                events.append(Event(position: at, action: .stall(seconds: seconds)))
            case .replaceObject(let at, _) where at > 0, .deleteObject(let at) where at > 0:
                events.append(Event(position: at, action: .run { change(effect) }))
            case .flipByte(let at): flips.insert(at)
            case .slowBody(let rate): bytesPerSecond = rate
            default: continue
            }
        }
        events.sort { $0.position < $1.position }
    }

    /// The number of bytes read; nil ends the connection.
    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while let event = events.first, event.position <= position {
            events.removeFirst()
            switch event.action {
            case .cut(let kind):
                cutPosition = position
                if kind == .rst { connection.reset() }
                return nil
            case .stall(let seconds): pause.wait(seconds: seconds)
            case .run(let action): action()
            }
        }
        var wanted = min(Int64(buffer.count), length - position)
        if let next = events.first { wanted = min(wanted, next.position - position) }
        if let bytesPerSecond {
            wanted = min(wanted, Int64(max(1, bytesPerSecond / 10)))
            pause.wait(seconds: Double(wanted) / Double(bytesPerSecond))
        }
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)])
        guard let count = unsafe fill(target, at: position) else { return nil }
        for flip in flips where flip >= position && flip < position + Int64(count) {
            unsafe target[Int(flip - position)] ^= 1
        }
        return count
    }

    private func fill(_ target: UnsafeMutableRawBufferPointer, at position: Int64) -> Int? {
        switch source {
        case .bytes(let bytes):
            unsafe target.copyBytes(from: bytes[Int(position)..<(Int(position) + target.count)])
            return target.count
        case .content(let reader, _, let offset):
            // An unreadable file can only end the connection: the head is gone already.
            return try? unsafe reader.read(at: offset + position, into: target)
        }
    }
}
