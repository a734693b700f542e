internal import CLibrary
internal import Dispatch
package import SyncModel
internal import Synchronization

/// Reports what changes beneath a mirrored directory, as it changes.
///
/// 1. A directory is watched first and read then: what is made in it meanwhile is in either the
///    reports or the names.
/// 2. A directory that is made or moved in is watched with all beneath it, and is itself the
///    change: nothing in it is missed.
/// 3. What cannot be followed is a ``Change/loss(_:)``: the caller looks at everything, and begins
///    anew.
///
/// Not guaranteed: a report of each change. Files that were opened before their directory was
/// watched, changes by other machines and writes through memory maps go without one.
package final class DirectoryChanges: Sendable {
    package enum Change: Sendable, Hashable {
        /// Of a file, or of a directory with all that it has.
        case changed([UInt8])
        /// A directory was deleted, or moved away.
        case removedDirectory([UInt8])
        case loss(Loss)
    }

    /// Why there are changes that are not reported.
    package enum Loss: Sendable, Hashable {
        /// More changed than the system keeps reports of.
        case overflow
        /// What is left out may be something else now.
        case rules
        /// The mirrored directory was moved, deleted or unmounted.
        case moved
        /// A new directory cannot be watched.
        case obstacle
    }

    /// Why a part of the directory is not watched, or nothing.
    package enum Obstacle: Sendable, Hashable {
        /// The system's limit by this name is reached.
        case limit(String)
        /// Other machines write there, and the system does not report that; empty for the root.
        case network(path: [UInt8])
        case unsupported(LocalError)
    }

    private struct State {
        var tree = WatchedDirectories()
        /// The watch of the state directory, of which only the rules' file counts.
        var stateWatch: Int32?
        var buffer = [UInt8](repeating: 0, count: SystemCalls.reportBufferSize)
        var obstacle: Obstacle?
    }

    /// Reading changes of these files is reading other rules.
    package struct RulesFiles: Sendable {
        let shared: [UInt8]
        let own: [UInt8]
        let tags: Set<[UInt8]>

        /// `shared` is in the mirrored directory, `own` in its state; `tags` are in any directory.
        package init(shared: String, own: String, tags: DirectoryTags = DirectoryTags()) {
            self.shared = [UInt8](shared.utf8)
            self.own = [UInt8](own.utf8)
            let cache = tags.recognizesCaches ? [DirectoryTags.cacheName] : []
            self.tags = Set((tags.names + cache).map { [UInt8]($0.utf8) })
        }

        func contain(_ name: [UInt8], in prefix: [UInt8]) -> Bool {
            prefix.isEmpty && name == shared || tags.contains(name)
        }
    }

    private let directory: MirrorDirectory
    private let rules: RulesFiles
    private let names: NamePolicy
    private let isExcluded: DirectoryWalk.Exclusion
    private let onChange: @Sendable (Change) -> Void
    private let queue: Int32
    private let state = Mutex(State())
    private let source = Mutex<(any DispatchSourceRead)?>(nil)

    /// Begins: returns once everything is watched that can be.
    ///
    /// `onChange` is called from a thread of its own, until the value is gone.
    package init(
        in directory: MirrorDirectory,
        rules: RulesFiles,
        names: NamePolicy = .skip,
        leavingOut isExcluded: @escaping DirectoryWalk.Exclusion,
        onChange: @escaping @Sendable (Change) -> Void
    ) {
        self.directory = directory
        self.rules = rules
        self.names = names
        self.isExcluded = isExcluded
        self.onChange = onChange
        let opened = Result { () throws(LocalError) in try directory.calls.changeQueue() }
        switch opened {
        case .success(let descriptor): queue = descriptor
        case .failure(let error):
            queue = -1
            state.withLock { $0.obstacle = Self.obstacle(error, "fs.inotify.max_user_instances") }
            return
        }
        let descriptor = queue
        let isWatching = state.withLock { state in
            // Runs write there all the time. Without this watch, other rules count an hour later.
            state.stateWatch = try? directory.calls.watch(
                directory.state.directory.descriptor,
                in: queue,
                eachWrite: false
            )
            watch([], in: nil, &state)
            if case .limit? = state.obstacle { _ = state.tree.removeAll() }
            return state.tree.count > 0
        }
        guard isWatching else {
            // The watches end with it: other programs need some, too.
            SystemCalls.close(descriptor)
            return
        }
        source.withLock { held in
            let label = DispatchQueue(label: "osssync.changes")
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: label)
            source.setEventHandler { [weak self] in self?.read() }
            source.setCancelHandler { SystemCalls.close(descriptor) }
            source.activate()
            held = source
        }
    }

    deinit {
        source.withLock { $0?.cancel() }
    }

    /// Ends: when it returns, no directory is watched any more, and others can be in their place.
    package func stop() {
        source.withLock { source in
            // Without it, the queue is closed.
            guard source != nil else { return }
            state.withLock { state in
                let watches = state.tree.removeAll() + [state.stateWatch].compactMap(\.self)
                for watch in watches { SystemCalls.unwatch(watch, in: queue) }
                state.stateWatch = nil
            }
            source?.cancel()
            source = nil
        }
    }

    /// How many directories are watched.
    package var count: Int { state.withLock { $0.tree.count } }

    /// Why not all are.
    package var obstacle: Obstacle? { state.withLock { $0.obstacle } }

    private static func obstacle(_ error: LocalError, _ limit: String) -> Obstacle {
        switch error.errno {
        case ENOSPC, EMFILE: .limit(limit)
        default: .unsupported(error)
        }
    }
}

// MARK: - Watching

extension DirectoryChanges {
    private struct Place {
        let prefix: [UInt8]
        let name: [UInt8]
        let parent: Int32?
    }

    /// Watches the directory called `name` in a watched one, and all beneath it.
    private func watch(_ name: [UInt8], in parent: Int32?, _ state: inout State) {
        var places = [Place(prefix: [], name: name, parent: parent)]
        if let parent {
            guard let prefix = state.tree.prefix(of: parent) else { return }
            places = [Place(prefix: prefix, name: name, parent: parent)]
        }
        while let place = places.popLast() {
            let path = place.prefix + place.name
            // What is gone again is not a loss, and what cannot be read is told by a run.
            guard let opened = open(path) else { continue }
            if (try? directory.calls.isNetworkFileSystem(opened.descriptor)) == true {
                state.obstacle = state.obstacle ?? .network(path: path)
                continue
            }
            // As no walk enters it.
            if place.parent != nil, directory.calls.pseudoFileSystem(opened.descriptor) != nil {
                continue
            }
            let watch: Int32
            do throws(LocalError) {
                watch = try directory.calls.watch(
                    opened.descriptor,
                    in: queue,
                    eachWrite: true
                )
            } catch {
                if error.errno == EACCES { continue }
                state.obstacle = Self.obstacle(error, "fs.inotify.max_user_watches")
                return
            }
            if let parent = place.parent, let old = state.tree.watch(of: place.name, in: parent),
                old != watch
            {
                forget(old, &state)
            }
            let permissions = try? opened.status().permissions
            guard state.tree.add(watch, place.name, in: place.parent, permissions),
                let names = try? DirectoryNames(of: opened)
            else { continue }
            if place.parent != nil, names.mayBeState, IdentityFile.isState(opened) {
                forget(watch, &state)
                continue
            }
            let prefix = path.isEmpty ? [] : path + [UInt8(ascii: "/")]
            for element in names.elements where element.isDirectory {
                let name = [UInt8](names.bytes(of: element))
                guard isMirrored(name, in: prefix, isDirectory: true) else { continue }
                places.append(Place(prefix: prefix, name: name, parent: watch))
            }
        }
    }

    private func open(_ path: [UInt8]) -> OpenDirectory? {
        if path.isEmpty { return directory.root }
        guard
            let path = RelativePath(escapedPlace: path) ?? (try? RelativePath(key: ObjectKey(path)))
        else { return nil }
        return try? directory.root.directory(beneath: path)
    }

    private func isMirrored(_ name: [UInt8], in prefix: [UInt8], isDirectory: Bool) -> Bool {
        let path = prefix + name
        if names == .escape, EscapedName.holds(path: path) {
            return isDirectory || RelativePath.escapedKey(ofPath: path) != nil
        }
        return !RelativePath.isReserved(name) && isValidUTF8(name) && !isExcluded(path, isDirectory)
    }

    private func forget(_ watch: Int32, _ state: inout State) {
        for ended in state.tree.remove(watch) { SystemCalls.unwatch(ended, in: queue) }
    }
}

// MARK: - Reports

extension DirectoryChanges {
    /// Reads until there is nothing at the moment.
    private func read() {
        state.withLock { state in
            do throws(LocalError) {
                while true {
                    let reports = try directory.calls.reports(of: queue, buffer: &state.buffer)
                    if reports.isEmpty { return }
                    for report in reports { handle(report, &state) }
                }
            } catch {
                _ = state.tree.removeAll()
                onChange(.loss(.overflow))
            }
        }
    }

    /// Of a directory, only permissions count: whatever unpacks a tree sets the times of all.
    private func noteAttributes(
        ofDirectory name: [UInt8],
        in parent: Int32,
        _ prefix: [UInt8],
        _ state: inout State
    ) {
        guard isMirrored(name, in: prefix, isDirectory: true),
            !EscapedName.holds(path: prefix + name)
        else { return }
        if let known = state.tree.watch(of: name, in: parent) {
            let permissions = try? open(prefix + name)?.status().permissions
            guard state.tree.note(permissions, of: known) else { return }
        } else {
            // Perhaps it can be read from now on.
            add(name, in: parent, &state)
            guard state.tree.watch(of: name, in: parent) != nil else { return }
        }
        onChange(.changed(prefix + name))
    }

    /// Watches a directory that was not watched.
    private func add(_ name: [UInt8], in parent: Int32, _ state: inout State) {
        let before = state.obstacle
        watch(name, in: parent, &state)
        if state.obstacle != before { onChange(.loss(.obstacle)) }
    }

    private func handle(_ report: ChangeReport, _ state: inout State) {
        if report.isOverflow { return onChange(.loss(.overflow)) }
        if report.watch == state.stateWatch {
            if report.name == rules.own { onChange(.loss(.rules)) }
            return
        }
        guard let prefix = state.tree.prefix(of: report.watch) else { return }
        guard let name = report.name else {
            guard report.isEnd || report.isMoved else { return }
            if state.tree.isRoot(report.watch) { onChange(.loss(.moved)) }
            if report.isEnd { _ = state.tree.remove(report.watch) }
            return
        }
        let isDirectory = report.isOfDirectory
        if isDirectory, report.isOfAttributes {
            return noteAttributes(ofDirectory: name, in: report.watch, prefix, &state)
        }
        if isDirectory, let old = state.tree.watch(of: name, in: report.watch) {
            forget(old, &state)
        }
        guard isMirrored(name, in: prefix, isDirectory: isDirectory) else { return }
        if !isDirectory, rules.contain(name, in: prefix) { return onChange(.loss(.rules)) }
        // Another one may have the name of one that is gone.
        if isDirectory, report.isAdded || report.isRemoved {
            add(name, in: report.watch, &state)
        }
        // No path of a run leads to such a directory.
        if isDirectory, EscapedName.holds(path: prefix + name) { return onChange(.loss(.moved)) }
        let isGone = isDirectory && report.isRemoved
        onChange(isGone ? .removedDirectory(prefix + name) : .changed(prefix + name))
    }
}
