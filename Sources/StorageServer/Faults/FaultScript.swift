/// How a server is told to misbehave: rules in order, of which every matching one applies.
///
/// `docs/faults.md` has the JSON form.
package struct FaultScript: Sendable {
    package var rules: [FaultRule]

    package init(rules: [FaultRule]) {
        self.rules = rules
    }

    /// True if some request may have to wait for the next script.
    var holds: Bool {
        rules.contains { rule in
            rule.effects.contains { effect in
                switch effect {
                case .hold, .holdBody: true
                default: false
                }
            }
        }
    }
}

package struct FaultRule: Sendable {
    package var match: FaultMatch
    package var effects: [FaultEffect]
}

/// Which requests a rule is for; what is nil matches everything.
package struct FaultMatch: Sendable {
    /// The documentation's name, such as `GetObject`.
    package var operation: String?
    package var bucket: String?
    package var key: String?
    package var keyPrefix: String?
    package var partNumber: Int?
    /// The first byte of the `Range` header.
    package var rangeStart: Int64?
    package var occurrence = FaultOccurrence.every(1)
    /// Counts for every key and part by itself instead of for the rule.
    package var countsEachKey = false
    /// Only requests beyond so many a second: that many are let through at once, and as many in
    /// each second after that.
    package var above: Int?
}

/// Which of the matching requests, counted from 1.
package enum FaultOccurrence: Sendable, Hashable {
    case only(Int)
    case first(Int)
    case from(Int)
    case every(Int)

    func includes(_ count: Int) -> Bool {
        switch self {
        case .only(let number): count == number
        case .first(let number): count <= number
        case .from(let number): count >= number
        case .every(let number): count % number == 0
        }
    }
}

/// How a connection ends.
package enum CloseKind: String, Sendable, Hashable {
    case fin
    case rst
}

/// When, in the course of a request, an effect takes place.
package enum FaultMoment: String, Sendable, Hashable {
    /// Nothing was done.
    case before
    /// The operation was carried out.
    case after
}

package enum ListingFault: String, Sendable, Hashable {
    /// The page's token leads to the same page.
    case tokenLoop
    /// Truncated, without a token.
    case missingToken
    case outOfOrder
    /// The last entry of the page is there twice.
    case duplicate
    /// The page starts again with the last entry of the page before.
    case overlap
    /// No entries, and complete.
    case empty
    /// No entries, truncated, with a token that goes on.
    case emptyTruncated
    /// Complete, although it is not.
    case endsEarly
    /// A key that does not begin with the prefix.
    case outsidePrefix
}

/// How a store treats the checksums that S3 keeps with objects.
package enum ChecksumFault: String, Sendable, Hashable {
    /// As if they were not in the request.
    case ignored
    /// They are kept and answered without being compared.
    case believed
}

package enum FaultEffect: Sendable {
    /// Answers with an error document instead.
    case fail(FaultFailure)
    case delay(seconds: Double)
    /// Answers once the script was replaced; other effects of the request take place then.
    case hold
    /// Stops sending after so many bytes until the script was replaced.
    case holdBody(at: Int64)
    /// No answer at all.
    case close(FaultMoment, CloseKind)
    /// The body ends, against its announced length, after so many bytes.
    case cutBody(at: Int64, CloseKind)
    case stallBody(at: Int64, seconds: Double)
    case slowBody(bytesPerSecond: Int)
    case flipByte(at: Int64)
    /// The body ends after so many bytes, and so does its announced length.
    case truncateBody(at: Int64)
    case replaceBody([UInt8])
    case rewriteStatus(Int)
    case setHeader(name: String, value: String)
    case addHeader(name: String, value: String)
    case removeHeader(name: String)
    /// The connection ends after so many bytes of the request's body.
    case cutUpload(at: Int64, CloseKind)
    case stallUpload(at: Int64, seconds: Double)
    /// Another writer replaces the object, before it is looked up (0) or once so many bytes of its
    /// old content were sent; with as many bytes as before unless `size` says otherwise.
    case replaceObject(at: Int64, size: Int64?)
    case deleteObject(at: Int64)
    /// Another client aborts the upload before the request is carried out.
    case abortUpload
    case ignoreRange
    case listing(ListingFault)
    case checksums(ChecksumFault)
}

/// An error answer.
package struct FaultFailure: Sendable {
    package var status: Int
    package var code: String
    package var message = "A fault script asked for this."
    package var ec = "0000-00000000"
    package var headers: [(name: String, value: String)] = []
    package var moment = FaultMoment.before

    var error: ServiceError {
        var error = ServiceError(status, code, message, ec: ec)
        error.headers = headers
        return error
    }
}
