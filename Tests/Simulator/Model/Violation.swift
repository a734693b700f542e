/// A promise of `docs/semantics.md` that was not kept.
struct Violation: Error, CustomStringConvertible {
    enum Promise: String {
        case oldOrNew = "old or new"
        case noDeletionOnDoubt = "no deletion on doubt"
        case userData = "what you changed is yours"
        case othersData = "what others wrote is theirs"
        case truthfulManifest = "the manifest never lies"
        case boundedWaste = "interruption costs little"
        case outside = "nothing outside DIR"
        case convergence = "a quiet run converges"
        case termination = "every run ends"
        case boundedResources = "bounded descriptors"
        case safeOutput = "output is safe"
        case truthfulSummary = "the summary tells the truth"
        case remoteSide = "objects are old or new, uploads are not left"
        case singleWriter = "one run at a time"
        case sameAsOneRun = "all tasks together do what one run does"
        case allShards = "no deletion before every shard is complete"
        case hidden = "what you hide is not sent"
        case trash = "a deletion can be taken back"
        case limits = "a limited run stays within its paths"
        case damage = "what is damaged replaces nothing"
        case freed = "what was freed is kept in the bucket"
        case rights = "nobody may read more than before"
        case encrypted = "encrypted is encrypted"
        case determinism = "a seed is the whole input"
    }

    let promise: Promise
    let what: String

    var description: String { "\(promise.rawValue): \(what)" }
}
