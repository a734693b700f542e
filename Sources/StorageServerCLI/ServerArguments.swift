internal import StorageServer
internal import SyncModel

/// The options of `osssync-server`.
struct ServerArguments {
    static let help = """
        usage: osssync-server --root DIR [options]

        An OSS-compatible server for trying things out and for tests; not for production.

          --root DIR           where objects and metadata are kept
          --listen HOST:PORT   address to listen on (127.0.0.1:0: any free port)
          --bucket NAME        a bucket that exists from the start; may be repeated
          --versioned NAME     the same, and it keeps all versions of its objects
          --generated-keys NAME=COUNT
                               a bucket with so many objects, which can only be listed
          --credentials FILE   access keys (INI or JSON); without it one key is made up
                               and printed with the ready line
          --region R           region of the signatures (cn-hangzhou)
          --faults FILE        a fault script (docs/faults.md)
          --log FILE           one JSON line for each request
          --clock-offset S     seconds added to the clock
          --restore-polls N    HEADs that a restore of an archived object takes (0)
          --quiet              no ready line
          --help               this text

        """

    var root: String?
    var listen = "127.0.0.1:0"
    var buckets: [String] = []
    var versionedBuckets: [String] = []
    var generatedBuckets: [GeneratedBucket] = []
    var credentials: String?
    var region = "cn-hangzhou"
    var faults: String?
    var log: String?
    var clockOffset: Int64 = 0
    var restorePolls = 0
    var isQuiet = false
    var wantsHelp = false

    struct Failure: Error {
        let message: String
    }

    init(_ arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        func value(_ option: String) throws(Failure) -> String {
            guard let value = rest.popFirst() else {
                throw Failure(message: "\(option) needs a value.")
            }
            return value
        }
        func number(_ option: String) throws(Failure) -> Int64 {
            let text = try value(option)
            guard let number = Int64(text) else {
                throw Failure(message: "\(option) needs a whole number, not '\(text)'.")
            }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--root": root = try value(option)
            case "--listen": listen = try value(option)
            case "--bucket": buckets.append(try value(option))
            case "--versioned": versionedBuckets.append(try value(option))
            case "--generated-keys": generatedBuckets.append(try generated(value(option)))
            case "--credentials": credentials = try value(option)
            case "--region": region = try value(option)
            case "--faults": faults = try value(option)
            case "--log": log = try value(option)
            case "--clock-offset": clockOffset = try number(option)
            case "--restore-polls": restorePolls = Int(clamping: try number(option))
            case "--quiet", "-q": isQuiet = true
            case "--help", "-h": wantsHelp = true
            default:
                throw Failure(message: "Unknown option '\(displayText(option.utf8))'.")
            }
        }
    }

    private func generated(_ text: String) throws(Failure) -> GeneratedBucket {
        let pair = text.split(separator: "=", omittingEmptySubsequences: false)
        guard pair.count == 2, let count = Int(pair[1]),
            let bucket = GeneratedBucket(name: String(pair[0]), count: count)
        else {
            throw Failure(
                message: "--generated-keys needs NAME=COUNT with a count of up to "
                    + "\(GeneratedBucket.largestCount), not '\(displayText(text.utf8))'."
            )
        }
        return bucket
    }

    /// Host and port of `--listen`.
    func address() throws(Failure) -> (host: String, port: UInt16) {
        let pair = listen.split(separator: ":", omittingEmptySubsequences: false)
        guard pair.count == 2, !pair[0].isEmpty, let port = UInt16(pair[1]) else {
            throw Failure(message: "--listen needs HOST:PORT with an IPv4 address.")
        }
        return (String(pair[0]), port)
    }
}
