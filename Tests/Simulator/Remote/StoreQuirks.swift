internal import SyncModel

/// What some stores do otherwise than the services that they are like.
struct StoreQuirks {
    /// HEAD says of every object that it is empty.
    var tellsEmptyHeads = false
    var deletesOneByOne = false
    var hasNoConditions = false
    /// One request in so many is refused, as one too many; its repetition is not.
    var refusesOneIn: Int?
    /// A name is that of an object or of a directory, and not of both.
    var hasFolders = false
    private var spoilsCopies = false
    private var copies = 0
    private var requests = 0
    /// How many were refused.
    private(set) var refusals = 0

    init() {}

    init(_ setup: Setup) {
        tellsEmptyHeads = setup.has(.emptyHeads)
        deletesOneByOne = setup.deletesOneByOne == true
        hasNoConditions = setup.hasNoConditions == true
        refusesOneIn = setup.refusesOneIn
        hasFolders = setup.has(.folders)
        spoilsCopies = setup.spoilsCopies == true
    }

    /// What the store keeps in the place of a copy.
    mutating func kept(_ bytes: [UInt8]) -> [UInt8] {
        copies += 1
        guard spoilsCopies, copies.isMultiple(of: 3), let last = bytes.last else { return bytes }
        return bytes.dropLast() + [~last]
    }

    mutating func refusal(of call: ServiceCall) -> ServiceAnswer? {
        requests += 1
        if let refusesOneIn, requests % refusesOneIn == 0 {
            refusals += 1
            let hasBody = call.operation != .head
            return .error(503, hasBody ? "SlowDown" : "", hasBody: hasBody)
        }
        if deletesOneByOne, call.operation == .deleteMany { return .error(501, "NotImplemented") }
        guard hasNoConditions, [.put, .complete, .copy].contains(call.operation) else {
            return nil
        }
        let names = ["if-match", "if-none-match", call.headerPrefix + "forbid-overwrite"]
        let isConditional = names.contains { call.headers[$0] != nil }
        return isConditional ? .error(501, "NotImplemented") : nil
    }
}

extension VirtualService {
    func writes(_ call: ServiceCall) -> Bool {
        [.put, .complete, .copy].contains(call.operation)
    }

    /// False if an object is in the way, in a store whose objects are files in directories.
    ///
    /// Markers are its directories.
    func hasRoom(for key: ObjectKey) -> Bool {
        guard quirks.hasFolders else { return true }
        let slash = UInt8(ascii: "/")
        let own = key.bytes.last == slash ? [UInt8](key.bytes.dropLast()) : key.bytes
        let isMarker = own.count < key.bytes.count
        if isMarker, bucket.objects[ObjectKey(own)] != nil { return false }
        for index in own.indices where own[index] == slash {
            if bucket.objects[ObjectKey([UInt8](own[..<index]))] != nil { return false }
        }
        let beneath = ObjectKey(own + [slash])
        return isMarker || !bucket.keys.contains { $0.hasPrefix(beneath) }
    }
}
