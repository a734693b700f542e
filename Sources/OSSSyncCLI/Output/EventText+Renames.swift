internal import OSSSync

extension EventText {
    /// What became of an item of an earlier run.
    static func past(_ item: PastItem) -> String {
        let reason = item.message.map { ": " + $0 } ?? ""
        let key = item.displayKey
        guard item.state == ItemState.done.rawValue, let action = ItemAction(rawValue: item.action)
        else {
            let isConflict = item.action == ItemAction.conflict.rawValue
            let isSkipped = item.state == ItemState.skipped.rawValue
            let state = isSkipped ? item.state : "\(item.state) \(item.action)"
            return "\(isSkipped && isConflict ? item.action : state): \(key)\(reason)"
        }
        let what = action == .conflict ? "conflict copy" : action.past ?? item.action
        return rename(action, key, item.message) ?? "\(what): \(key)\(reason)"
    }

    /// The line of a file or object that has another name now; nil for anything else.
    static func rename(_ action: ItemAction, _ key: String, _ message: String?) -> String? {
        newName(message).map {
            "renamed \(action == .copyLocal ? "here" : "in the bucket"): \(key) \($0)"
        }
    }

    /// "to 'b'" or "from 'a'", if a message says that.
    static func newName(_ message: String?) -> String? {
        guard let message, message.hasPrefix("renamed ") else { return nil }
        return String(message.dropFirst("renamed ".count))
    }
}
