package import SyncModel

/// The media type of an object by its key's suffix, for those who open it in a browser.
package enum ContentType {
    /// `application/octet-stream` for what is not in the table.
    package static func guess(for key: ObjectKey) -> String {
        let name = key.bytes.suffix(64)
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot + 1 < name.endIndex,
            !name[dot...].contains(UInt8(ascii: "/"))
        else { return fallback }
        let suffix = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        return types[suffix] ?? fallback
    }

    private static let fallback = "application/octet-stream"

    private static let types: [String: String] = [
        "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif", "bmp": "image/bmp",
        "css": "text/css", "csv": "text/csv", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "m4a": "audio/mp4",
        "m4v": "video/mp4", "md": "text/markdown", "mkv": "video/x-matroska",
        "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "ogg": "audio/ogg",
        "opus": "audio/opus", "pdf": "application/pdf", "png": "image/png",
        "sh": "application/x-sh", "svg": "image/svg+xml", "tar": "application/x-tar",
        "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain", "wav": "audio/wav",
        "webm": "video/webm",
        "webp": "image/webp", "xml": "application/xml", "zip": "application/zip",
        "zst": "application/zstd",
    ]
}
