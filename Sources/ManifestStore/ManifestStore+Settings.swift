extension ManifestStore {
    /// The value of a setting, nil if it was never set: the identity of the remote and of the
    /// directory, for example.
    package func setting(_ name: String) throws(ManifestError) -> String? {
        try withConnection { connection throws(ManifestError) in
            var value: String?
            try connection.forEachRow(.selectSetting, [.text(name)]) {
                statement throws(ManifestError) in
                var row = RowReader(statement, table: .setting)
                row.rename(try row.text("its name", limit: ManifestLimits.settingName))
                value = try row.text("its value", limit: ManifestLimits.settingValue)
                try row.finish()
            }
            return value
        }
    }

    /// Sets or, with nil, removes a setting.
    package func setSetting(_ name: String, _ value: String?) throws(ManifestError) {
        try setSettings([(name, value)])
    }

    /// Sets or removes several settings at once: all or none.
    package func setSettings(_ settings: [(name: String, value: String?)]) throws(ManifestError) {
        try check(settings)
        try transaction { connection throws(ManifestError) in
            try connection.set(settings)
        }
    }

    /// Forgets what was mirrored and what was under way, and sets the settings of another remote,
    /// all or nothing: what was in common with one remote says nothing of another.
    ///
    /// With `keepsUploads`, the multipart uploads that were begun are still known: the service may
    /// be the same one by another name, and knows itself which uploads it has.
    package func beginAnew(
        _ settings: [(name: String, value: String?)],
        keepsUploads: Bool
    ) throws(ManifestError) {
        try check(settings)
        try transaction { connection throws(ManifestError) in
            try connection.run(.deleteAllEntries, [])
            try connection.run(.deleteAllComparisons, [])
            try connection.run(.deleteAllDownloads, [])
            if !keepsUploads { try connection.run(.deleteAllUploads, []) }
            try connection.set(settings)
        }
    }

    private func check(
        _ settings: [(name: String, value: String?)]
    ) throws(ManifestError) {
        for (name, value) in settings {
            try Requirement.length(name, "a setting's name", limit: ManifestLimits.settingName)
            try Requirement.length(value, "a setting", limit: ManifestLimits.settingValue)
        }
    }
}

extension Connection {
    func set(
        _ settings: [(name: String, value: String?)]
    ) throws(ManifestError) {
        for (name, value) in settings {
            guard let value else {
                try run(.deleteSetting, [.text(name)])
                continue
            }
            let row: [SQLValue] = [.text(name), .text(value)]
            try run(.upsertSetting, RowDigest.sealing(row, table: .setting))
        }
    }
}
