internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Objects that a listing had and the store then did not find, from one run to the next.
///
/// In one run that is another writer's deletion. The same version in two of them is none: the store
/// writes the name in its listings in another way than it is read, or lists what is not there.
struct VanishedObjects: Equatable {
    private static let setting = "vanished.objects"
    private static let limit = 1_000

    private var marks: Set<String> = []

    init() {}

    init(_ manifest: ManifestStore) async throws(ManifestError) {
        let text = try await manifest.setting(Self.setting) ?? ""
        marks = Set(text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) })
    }

    func write(to manifest: ManifestStore) async throws(ManifestError) {
        let text = marks.sorted().joined(separator: " ")
        try await manifest.setSetting(Self.setting, text.isEmpty ? nil : text)
    }

    mutating func insert(_ object: RemoteObject) {
        guard marks.count < Self.limit else { return }
        marks.insert(Self.mark(object))
    }

    mutating func formUnion(_ other: VanishedObjects) {
        for mark in other.marks where marks.count < Self.limit { marks.insert(mark) }
    }

    func contains(_ object: RemoteObject) -> Bool {
        !marks.isEmpty && (marks.count >= Self.limit || marks.contains(Self.mark(object)))
    }

    /// Of the version: its key, tag and time.
    private static func mark(_ object: RemoteObject) -> String {
        let time = object.lastModified.map { String($0.nanosecondsSince1970) } ?? ""
        let tail = [UInt8]("\0\(object.etag.text)\0\(time)".utf8)
        return hexadecimalText(Digest.md5(object.key.bytes + tail))
    }
}
