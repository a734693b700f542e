/// What becomes of contents that the disk did not take.
///
/// A system that could not write a file's pages may forget that they were ever to be written: a
/// second `fsync` succeeds and has done nothing.
extension World {
    private var partials: String { disk.stateDirectory + "/partial/" }

    /// The partial files that the call was about are not on the disk, whatever later calls say.
    func failedToSynchronize(_ call: VirtualDisk.Call) {
        let place = call.place
        if call.name == "syncfs" {
            disk.unseen {
                for name in DiskTree.names(in: [UInt8](partials.utf8)) {
                    doubted.insert(partials + String(decoding: name, as: UTF8.self))
                }
            }
        } else if place.hasPrefix(partials) {
            unwritten.insert(place)
        }
    }

    /// No such file gets a name for others to see.
    func judgeName(_ call: VirtualDisk.Call, _ run: RunState) {
        guard !unwritten.isEmpty || !doubted.isEmpty else { return }
        let place = call.place
        // A file knows what it lost, and tells once.
        if call.kind == .sync { doubted.remove(place) }
        guard call.kind == .name, unwritten.contains(place) || doubted.contains(place) else {
            return
        }
        if call.name.hasPrefix("unlink") {
            unwritten.remove(place)
            doubted.remove(place)
        } else if call.name.hasPrefix("rename") || call.name.hasPrefix("link") {
            report(.truthfulManifest, "'\(place)' got its name, and the disk did not take it")
        }
    }
}
