internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// `mounts` in `.osssync` of a mirrored directory: where other file systems began in its last runs,
/// whichever of its states they were of.
///
/// What is missing beneath one that is not mounted was not deleted. Each state knows those that it
/// has met by its manifest; the others, and the mirrors around and within, look here.
struct MountList: StateFile, Hashable {
    static let heading = "osssync-mounts 1"
    static let fileName = "mounts"

    let paths: [ObjectKey]

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(paths: try fields("paths", value?.paths))
    }

    /// Makes it what a run has found, and what other states know beside `known`.
    ///
    /// What cannot be written is of no harm to this state.
    static func note(
        _ found: [[UInt8]],
        known: [[UInt8]],
        keepsOthers: Bool,
        in directory: MirrorDirectory
    ) {
        let folder = try? directory.markerFile.folder(makes: false)
        let old = (try? folder?.read(fileName)).flatMap { $0 }.flatMap { MountList(content: $0) }
        guard old != nil || !found.isEmpty else { return }
        var paths = Set(found.map { ObjectKey($0) })
        if keepsOthers, let old {
            let own = Set(known.map { ObjectKey($0) })
            paths.formUnion(old.paths.filter { !own.contains($0) })
        }
        let new = MountList(paths: paths.sorted())
        if new != old { try? directory.writeForAllStates(fileName, new.content) }
    }

    /// Those of a directory that are not mounted now.
    static func unmounted(at path: String, _ folder: StateFolder?) -> [ObjectKey] {
        guard let content = try? folder?.read(fileName), let list = MountList(content: content)
        else { return [] }
        return list.paths.filter { !GivenPath.isMountPoint(path + "/" + $0.text) }
    }
}
