struct SettingRow: Row {
    static var table: Table { .setting }

    let name: String
    let value: String

    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let name = try columns.text(row?.name, "its name", limit: ManifestLimits.settingName)
        columns.rename([UInt8](name.utf8))
        let limit = ManifestLimits.settingValue
        return SettingRow(
            name: name,
            value: try columns.text(row?.value, "its value", limit: limit)
        )
    }
}

extension ManifestStore {
    /// The value of a setting, nil if it was never set: the identity of the remote and of the
    /// directory, for example.
    package func setting(_ name: String) throws(ManifestError) -> String? {
        try withConnection { connection throws(ManifestError) in
            let row: SettingRow? = try connection.row(.selectSetting, [.text(name)])
            return row?.value
        }
    }

    /// Sets or, with nil, removes a setting.
    package func setSetting(_ name: String, _ value: String?) throws(ManifestError) {
        try setSettings([(name, value)])
    }

    /// Sets or removes several settings at once: all or none.
    package func setSettings(_ settings: [(name: String, value: String?)]) throws(ManifestError) {
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
        try transaction { connection throws(ManifestError) in
            try connection.run(.deleteSoundEntries)
            try connection.run(.deleteAllComparisons)
            try connection.run(.deleteAllDownloads)
            if !keepsUploads { try connection.run(.deleteAllUploads) }
            try connection.set(settings)
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
            try upsert(SettingRow(name: name, value: value))
        }
    }
}
