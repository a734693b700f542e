internal import CSQLite
internal import CVirtualFiles

/// What kind of disk a history is played on.
enum DiskSettings {
    static func apply(_ setup: Setup) {
        virtual_files_set_inode_reuse(setup.reusesInodes)
        virtual_files_set_fsync_names(setup.syncsNames)
        virtual_files_set_directory_order(setup.directoryOrder)
        virtual_files_set_time_step(setup.timeStep ?? 1)
        if setup.has(.rights) || setup.has(.unreadable) {
            virtual_files_set_rights(WideState.otherGroup)
            virtual_files_set_umask(0o022)
        }
        limit(setup)
        // SQLite's own numbers begin anew with the entropy that was just set.
        sqlite3_randomness(0, nil)
    }

    static func limit(_ setup: Setup) {
        virtual_files_set_capacity(setup.capacity ?? -1, -1)
    }

    static func liftLimits() {
        virtual_files_set_capacity(-1, -1)
    }
}
