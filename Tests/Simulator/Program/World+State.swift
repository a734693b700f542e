internal import SyncTestSupport

/// What happens to the state, the machine and the remote's name.
extension World {
    private static let manifestNames = ["manifest.db", "manifest.db-wal", "manifest.db-shm"]

    private func path(_ name: String) -> [UInt8] {
        [UInt8]((disk.stateDirectory + "/" + name).utf8)
    }

    func apply(_ change: StateChange) {
        switch change {
        case .setClock, .wait, .synchronizeDisk, .saveManifest: break
        default: forgetWaste()
        }
        switch change {
        case .deleteManifest:
            touchManifest()
            for name in Self.manifestNames { DiskEdits.remove(path(name)) }
        case .saveManifest:
            var saved: [String: [UInt8]] = [:]
            for name in Self.manifestNames.prefix(2) {
                saved[name] = DiskEdits.read(path(name))
            }
            savedManifest = saved.isEmpty ? nil : saved
        case .restoreManifest: restoreManifest()
        case .flipByte(let seed):
            touchManifest()
            spoil(path("manifest.db"), seed)
        case .truncateManifest:
            guard let bytes = DiskEdits.read(path("manifest.db")) else { return }
            touchManifest()
            let half = [UInt8](bytes.prefix(bytes.count / 2))
            DiskEdits.write(path("manifest.db"), half, truncates: false)
        case .deleteLog:
            touchManifest()
            manifestIsOld = true
            DiskEdits.remove(path("manifest.db-wal"))
            DiskEdits.remove(path("manifest.db-shm"))
        case .spoilPartial(let seed):
            let names = DiskTree.names(in: path("partial"))
            guard !names.isEmpty else { return }
            let name = names[Int(seed % UInt64(names.count))]
            spoil(path("partial") + [UInt8(ascii: "/")] + name, seed)
        case .deletePartials:
            for name in DiskTree.names(in: path("partial")) {
                DiskEdits.remove(path("partial") + [UInt8(ascii: "/")] + name)
            }
        case .setClock(let seconds):
            wallOffset = .seconds(seconds)
            clockWasWrong = clockWasWrong || abs(seconds) > 15 * 60
        case .wait(let seconds): scheduler.advance(by: .seconds(seconds))
        case .renameRemote: isRenamed.toggle()
        case .synchronizeDisk:
            DiskEdits.synchronizeAll(VirtualDisk.mirror)
        }
        DiskEdits.synchronize(disk.stateDirectory)
    }

    /// From now on a row may be of another time than the files.
    private func touchManifest() {
        manifestWasLost = true
        recordedHost = nil
    }

    private func restoreManifest() {
        // The state directory may be gone, or of a time before the copy.
        guard let savedManifest, DiskTree.status(path("manifest.db")) != nil else { return }
        touchManifest()
        manifestIsOld = true
        for name in Self.manifestNames { DiskEdits.remove(path(name)) }
        for (name, bytes) in savedManifest.sorted(by: { $0.key < $1.key }) {
            DiskEdits.write(path(name), bytes, truncates: true)
        }
    }

    /// Flips some bits of one byte.
    private func spoil(_ path: [UInt8], _ seed: UInt64) {
        guard var bytes = DiskEdits.read(path), !bytes.isEmpty else { return }
        var generator = SeededGenerator(randomSeed: seed)
        bytes[generator.below(bytes.count)] ^= UInt8(1 + generator.below(255))
        DiskEdits.write(path, bytes, truncates: false)
    }
}
