#if SystemLibraries
internal import CCurl

/// The headers of a request as libcurl's list of lines, in memory that one request after another
/// uses: a list that libcurl makes takes two allocations for each header.
///
/// Safe, because the memory lives as long as this object, and only the transport's thread uses it.
@safe final class CurlHeaders {
    /// The lines, each with a NUL at its end.
    private var text: UnsafeMutableRawPointer
    private var textCapacity = 1_024
    private var textCount = 0
    private var lines: UnsafeMutablePointer<curl_slist>
    private var lineCapacity = 16
    private var lineCount = 0

    init() {
        unsafe text = .allocate(byteCount: textCapacity, alignment: 1)
        unsafe lines = .allocate(capacity: lineCapacity)
    }

    deinit {
        unsafe text.deallocate()
        unsafe lines.deallocate()
    }

    /// The list, which is valid until the next one is made; nil if it is empty.
    ///
    /// To a request with a body libcurl adds no `Expect`, which would be a pause before it, and no
    /// `Content-Type`, as it does for forms.
    func list(
        _ headers: [(name: String, value: String)],
        hasBody: Bool
    ) -> UnsafeMutablePointer<curl_slist>? {
        let length = headers.reduce(32) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
        reserve(length, lineCount: headers.count + 2)
        if hasBody {
            add("Expect", ":", "")
            let type = "content-type"
            // By its length first: a lower-case copy of each name would cost more than the rest.
            if !headers.contains(where: {
                $0.name.utf8.count == type.utf8.count && $0.name.lowercased() == type
            }) {
                add("Content-Type", ":", "")
            }
        }
        for (name, value) in headers { add(name, value.isEmpty ? ";" : ": ", value) }
        return lineCount > 0 ? unsafe lines : nil
    }

    /// Forgets the old lines and makes room for new ones.
    private func reserve(_ length: Int, lineCount: Int) {
        textCount = 0
        self.lineCount = 0
        if length > textCapacity {
            unsafe text.deallocate()
            textCapacity = length * 2
            unsafe text = .allocate(byteCount: textCapacity, alignment: 1)
        }
        if lineCount > lineCapacity {
            unsafe lines.deallocate()
            lineCapacity = lineCount * 2
            unsafe lines = .allocate(capacity: lineCapacity)
        }
    }

    private func add(_ name: String, _ separator: String, _ value: String) {
        let start = unsafe (text + textCount).assumingMemoryBound(to: CChar.self)
        unsafe lines[lineCount] = curl_slist(data: start, next: nil)
        if lineCount > 0 { unsafe lines[lineCount - 1].next = lines + lineCount }
        lineCount += 1
        write(name)
        write(separator)
        write(value)
        unsafe text.storeBytes(of: 0, toByteOffset: textCount, as: UInt8.self)
        textCount += 1
    }

    private func write(_ part: String) {
        var part = part
        let place = unsafe text + textCount
        textCount += part.withUTF8 { bytes in
            if let source = bytes.baseAddress {
                unsafe place.copyMemory(from: source, byteCount: bytes.count)
            }
            return bytes.count
        }
    }
}
#endif
