extension FaultScript {
    /// Reads a script; every unknown name is an error, so that no fault is silently left out.
    package init(json: [UInt8]) throws(ServerFailure) {
        guard let rules = JSONValue.parse(json)?.array else {
            throw .invalidFaultScript("it is not a JSON array of rules")
        }
        var result: [FaultRule] = []
        for (index, rule) in rules.enumerated() {
            var fields = try FaultFields(rule, in: "rule \(index + 1)")
            let match = try FaultMatch(fields: fields.optionalFields("match"))
            var effects: [FaultEffect] = []
            for effect in try fields.effects() {
                effects += try FaultEffect.read(FaultFields(effect, in: fields.place))
            }
            try fields.finish()
            result.append(FaultRule(match: match, effects: effects))
        }
        self.init(rules: result)
    }
}

/// The members of one object of a script, taken out one by one.
struct FaultFields {
    let place: String
    private var members: [String: JSONValue]

    init(_ value: JSONValue, in place: String) throws(ServerFailure) {
        guard let members = value.object else {
            throw .invalidFaultScript("\(place) is not an object")
        }
        self.members = members
        self.place = place
    }

    var names: [String] { members.keys.sorted() }

    mutating func take(_ name: String) -> JSONValue? {
        members.removeValue(forKey: name)
    }

    mutating func string(_ name: String) throws(ServerFailure) -> String? {
        guard let value = take(name) else { return nil }
        guard let string = value.string else { throw wrong(name, "text") }
        return string
    }

    mutating func integer(_ name: String) throws(ServerFailure) -> Int64? {
        guard let value = take(name) else { return nil }
        guard let integer = value.integer else { throw wrong(name, "a whole number") }
        return integer
    }

    mutating func positive(_ name: String) throws(ServerFailure) -> Int? {
        guard let value = try integer(name) else { return nil }
        guard value > 0, value <= Int64(Int32.max) else { throw wrong(name, "at least 1") }
        return Int(value)
    }

    mutating func seconds(_ name: String) throws(ServerFailure) -> Double? {
        guard let value = take(name) else { return nil }
        guard let seconds = value.number, seconds >= 0, seconds <= 86_400 else {
            throw wrong(name, "a number of seconds")
        }
        return seconds
    }

    mutating func bool(_ name: String) throws(ServerFailure) -> Bool? {
        guard let value = take(name) else { return nil }
        guard let bool = value.bool else { throw wrong(name, "true or false") }
        return bool
    }

    mutating func choice<Choice: RawRepresentable<String>>(
        _ name: String,
        _ type: Choice.Type
    ) throws(ServerFailure) -> Choice? {
        guard let text = try string(name) else { return nil }
        guard let choice = Choice(rawValue: text) else { throw wrong(name, "a known word") }
        return choice
    }

    mutating func optionalFields(_ name: String) throws(ServerFailure) -> FaultFields? {
        guard let value = take(name) else { return nil }
        return try FaultFields(value, in: "\(place), \(name)")
    }

    mutating func effects() throws(ServerFailure) -> [JSONValue] {
        if let one = take("effect") { return [one] }
        guard let several = take("effects")?.array, !several.isEmpty else {
            throw .invalidFaultScript("\(place) has no effect")
        }
        return several
    }

    mutating func headers(
        _ name: String
    ) throws(ServerFailure) -> [(name: String, value: String)] {
        guard var fields = try optionalFields(name) else { return [] }
        var result: [(name: String, value: String)] = []
        for header in fields.names {
            result.append((header, try fields.string(header) ?? ""))
        }
        return result
    }

    func finish() throws(ServerFailure) {
        guard let name = names.first else { return }
        throw .invalidFaultScript("\(place) has an unknown member '\(name)'")
    }

    func wrong(_ name: String, _ wanted: String) -> ServerFailure {
        .invalidFaultScript("'\(name)' of \(place) must be \(wanted)")
    }
}

extension FaultMatch {
    init(fields: FaultFields?) throws(ServerFailure) {
        self.init()
        guard var fields else { return }
        operation = try fields.string("operation")
        if let operation, Operation(rawValue: operation) == nil {
            throw fields.wrong("operation", "a known operation")
        }
        bucket = try fields.string("bucket")
        key = try fields.string("key")
        keyPrefix = try fields.string("keyPrefix")
        partNumber = try fields.positive("part")
        rangeStart = try fields.integer("rangeStart")
        countsEachKey = try fields.bool("eachKey") ?? false
        above = try fields.positive("above")
        if let number = try fields.positive("occurrence") { occurrence = .only(number) }
        if let number = try fields.positive("first") { occurrence = .first(number) }
        if let number = try fields.positive("from") { occurrence = .from(number) }
        if let number = try fields.positive("every") { occurrence = .every(number) }
        try fields.finish()
    }
}
