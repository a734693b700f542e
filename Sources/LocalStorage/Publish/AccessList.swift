/// An access control list in the form in which Linux keeps it: a version, and entries of eight
/// bytes, all in little-endian order.
///
/// `stat` shows its mask as the permissions of the group, so that those say nothing of the group.
struct AccessList: Sendable, Hashable {
    private enum Tag: UInt16 {
        case owner = 0x01
        case user = 0x02
        case owningGroup = 0x04
        case group = 0x08
        case mask = 0x10
        case others = 0x20
    }

    private struct Entry: Sendable, Hashable {
        let tag: Tag
        var permissions: UInt16
        let id: UInt32
    }

    private static let version: UInt32 = 2
    private var entries: [Entry]

    /// Nil if it is not such a list.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4, (bytes.count - 4) % 8 == 0,
            Self.number(bytes, at: 0, 4) == Self.version
        else { return nil }
        entries = []
        for start in stride(from: 4, to: bytes.count, by: 8) {
            guard let tag = Tag(rawValue: UInt16(Self.number(bytes, at: start, 2))) else {
                return nil
            }
            entries.append(
                Entry(
                    tag: tag,
                    permissions: UInt16(Self.number(bytes, at: start + 2, 2)) & 0o7,
                    id: Self.number(bytes, at: start + 4, 4)
                )
            )
        }
    }

    var bytes: [UInt8] {
        var result = Self.bytes(Self.version, 4)
        for entry in entries {
            result += Self.bytes(UInt32(entry.tag.rawValue), 2)
            result += Self.bytes(UInt32(entry.permissions), 2)
            result += Self.bytes(entry.id, 4)
        }
        return result
    }

    private static func number(_ bytes: [UInt8], at start: Int, _ count: Int) -> UInt32 {
        bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bytes(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
}

extension AccessList {
    /// The permission bits that a file with this list has.
    var permissions: UInt32 {
        UInt32(self[.owner]) << 6 | UInt32(mask) << 3 | UInt32(self[.others])
    }

    /// What a new file has that is made with the permissions `mode` where this is the list for new
    /// files.
    func limited(to mode: UInt32) -> AccessList {
        var list = self
        list[.owner] &= UInt16(mode >> 6 & 0o7)
        list[list.hasMask ? .mask : .owningGroup] &= UInt16(mode >> 3 & 0o7)
        list[.others] &= UInt16(mode & 0o7)
        return list
    }

    /// The same list, in which those that it names may do no more than before.
    ///
    /// Before, a user or group could do what `known` says; one that it does not name, what both
    /// the group and all others may of the permissions `most`.
    func limited(to known: AccessList?, unnamed most: UInt32) -> AccessList {
        var list = self
        for index in list.entries.indices where [.user, .group].contains(list.entries[index].tag) {
            let entry = list.entries[index]
            let before = known?.entries.first { $0.tag == entry.tag && $0.id == entry.id }
            list.entries[index].permissions &=
                before.map { $0.permissions & (known?.mask ?? 0) }
                ?? UInt16(most & most >> 3 & 0o7)
        }
        return list
    }

    /// The same where the group of the file is another one: it may do what all others may.
    var forAnotherGroup: AccessList {
        var list = self
        list[.owningGroup] &= list[.others]
        return list
    }

    /// Permissions without a list that let nobody do what this list does not.
    var withoutList: UInt32 {
        let named = entries.reduce(UInt16(0o7)) { least, entry in
            switch entry.tag {
            case .user, .group: least & entry.permissions & mask
            default: least
            }
        }
        let others = self[.others] & named
        let group = self[.owningGroup] & mask & named
        return UInt32(self[.owner]) << 6 | UInt32(group) << 3 | UInt32(others)
    }

    var hasMask: Bool { entries.contains { $0.tag == .mask } }
    private var mask: UInt16 { hasMask ? self[.mask] : self[.owningGroup] }

    private subscript(tag: Tag) -> UInt16 {
        get { entries.first { $0.tag == tag }?.permissions ?? 0 }
        set {
            for index in entries.indices where entries[index].tag == tag {
                entries[index].permissions = newValue
            }
        }
    }
}
