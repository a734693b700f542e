package import SyncModel

/// Parts by ascending number.
package struct ListPartsPage: Sendable {
    package var parts: [UploadedPart]
    /// The last number of this page; nil on the last page.
    package var next: PartNumber?

    package init(parts: [UploadedPart], next: PartNumber?) {
        self.parts = parts
        self.next = next
    }
}
