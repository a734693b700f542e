package import SyncModel

/// One page of a listing is asked for by `token`, or by `startAfter` for the first one.
package struct ListRequest: Sendable {
    package var prefix: ObjectKey
    /// Only keys after this one; not used together with a token.
    package var startAfter: ObjectKey?
    package var token: ContinuationToken?
    package var delimiter: String?
    /// From 1 to 1,000.
    package var maximumKeys: Int

    package init(
        prefix: ObjectKey,
        startAfter: ObjectKey? = nil,
        token: ContinuationToken? = nil,
        delimiter: String? = nil,
        maximumKeys: Int = 1_000
    ) {
        self.prefix = prefix
        self.startAfter = startAfter
        self.token = token
        self.delimiter = delimiter
        self.maximumKeys = maximumKeys
    }
}

/// Keys are whole, prefix included, in the order of the server's answer.
package struct ListPage: Sendable {
    package var objects: [RemoteObject]
    package var commonPrefixes: [ObjectKey]
    /// Nil on the last page.
    package var next: ContinuationToken?

    package init(
        objects: [RemoteObject],
        commonPrefixes: [ObjectKey],
        next: ContinuationToken?
    ) {
        self.objects = objects
        self.commonPrefixes = commonPrefixes
        self.next = next
    }
}
