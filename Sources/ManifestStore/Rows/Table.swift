/// The tables whose rows carry a checksum, by their names.
enum Table: String, CaseIterable, Sendable {
    case setting
    case entry
    case sentParts = "sent_parts"
    case comparison
    case download
    case downloadRange = "download_range"
    case downloadSeal = "download_seal"
    case upload
    case uploadPart = "upload_part"
    case run
    case runItem = "run_item"
    case plannedDeletion = "planned_deletion"

    /// The names of a table's columns, in their order.
    struct Columns {
        private static let checksum = "row_check"

        private(set) var all: [String] = []
        /// Those that name a row.
        private(set) var key: [String] = []

        /// Those of a ``Row`` and its checksum, which come first.
        var ofRow: [String] {
            Array(all.prefix((all.firstIndex(of: Self.checksum) ?? all.count) + 1))
        }

        /// Takes the statement that makes the table, in which each column has a line of its own.
        ///
        /// By bytes: a first run would spend a twentieth of its instructions on characters.
        init(of definition: String) {
            let lines = definition.utf8.split(separator: UInt8(ascii: "\n"))
            for line in lines.dropFirst().dropLast() {
                let words = line.split { byte in
                    switch byte {
                    case UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")"),
                        UInt8(ascii: ","):
                        true
                    default: false
                    }
                }.map { String(Substring($0)) }
                guard let name = words.first else { continue }
                if name == "PRIMARY" {
                    key = Array(words.dropFirst(2))
                } else {
                    all.append(name)
                    if words.contains("PRIMARY") { key = [name] }
                }
            }
        }
    }
}
