internal import LocalStorage
internal import SyncModel

/// A number for each content that a lease's file can have.
///
/// Records differ in their holder, epoch, beat and state. A holder is a process of a slot: the
/// present one has the age 0, and each that was there before it is one older.
enum LeaseCodes {
    static let ages = 3
    static let beats = 7
    static let epochs = 16
    static let absent = 0

    static func holder(slot: Int, age: Int) -> Int { slot * ages + age }

    struct Parts: Hashable {
        var holder: Int
        var epoch: Int
        var beat: Int
        var isFree: Bool
        var isDamaged: Bool

        var slot: Int { holder / LeaseCodes.ages }
        var age: Int { holder % LeaseCodes.ages }
        var code: Int {
            let number = (holder * LeaseCodes.epochs + epoch) * LeaseCodes.beats + beat
            return 1 + number * 4 + (isFree ? 2 : 0) + (isDamaged ? 1 : 0)
        }

        init(holder: Int, epoch: Int, beat: Int, isFree: Bool, isDamaged: Bool = false) {
            (self.holder, self.epoch, self.beat) = (holder, epoch, beat)
            (self.isFree, self.isDamaged) = (isFree, isDamaged)
        }

        /// Nil for the content that is absent.
        init?(_ code: Int) {
            guard code != LeaseCodes.absent else { return nil }
            let number = (code - 1) / 4
            beat = number % LeaseCodes.beats
            epoch = number / LeaseCodes.beats % LeaseCodes.epochs
            holder = number / LeaseCodes.beats / LeaseCodes.epochs
            isFree = (code - 1) & 2 != 0
            isDamaged = (code - 1) & 1 != 0
        }
    }

    static func isDamaged(_ code: Int) -> Bool { code != absent && (code - 1) & 1 != 0 }

    /// The same record while only a part of it is there.
    static func damaged(_ code: Int) -> Int { isDamaged(code) ? code : code + 1 }
}

/// Machines on which processes run, and what they know of each other.
struct LeaseKernel {
    struct Place: Hashable {
        let boot: String
        let namespace: String
    }

    /// Of each slot.
    let places: [Place]

    static func apart(_ count: Int) -> LeaseKernel {
        // As in containers, the namespace has the same number everywhere.
        LeaseKernel(places: (0..<count).map { Place(boot: "boot\($0)", namespace: "4026531836") })
    }

    /// Two processes of one machine and container, and others elsewhere.
    static func together(_ count: Int) -> LeaseKernel {
        LeaseKernel(
            places: (0..<count).map { Place(boot: "boot\(max(1, $0))", namespace: "4026531836") }
        )
    }

    /// All on one machine, each in a container of its own.
    static func contained(_ count: Int) -> LeaseKernel {
        LeaseKernel(places: (0..<count).map { Place(boot: "boot", namespace: "\($0)") })
    }

    func process(_ holder: Int) -> LeaseProcess {
        let place = places[holder / LeaseCodes.ages]
        return LeaseProcess(
            host: "h",
            boot: place.boot,
            namespace: place.namespace,
            number: Int32(holder + 1),
            start: "\(holder)"
        )
    }

    func record(_ parts: LeaseCodes.Parts) -> LeaseRecord {
        LeaseRecord(
            epoch: UInt64(parts.epoch),
            holder: "\(parts.holder)",
            isFree: parts.isFree,
            beat: UInt64(parts.beat),
            process: process(parts.holder)
        )
    }

    func content(_ code: Int) -> LeaseMachine.Content {
        guard let parts = LeaseCodes.Parts(code) else { return .absent }
        return parts.isDamaged ? .damaged(checksum: UInt64(code)) : .record(record(parts))
    }

    static func parts(_ record: LeaseRecord) -> LeaseCodes.Parts {
        LeaseCodes.Parts(
            holder: Int(record.holder) ?? 0,
            epoch: Int(record.epoch),
            beat: Int(record.beat),
            isFree: record.isFree
        )
    }

    static func code(_ content: LeaseMachine.Content) -> Int {
        switch content {
        case .absent: LeaseCodes.absent
        case .damaged(let checksum): Int(checksum)
        case .record(let record): parts(record).code
        }
    }
}
