internal import SyncModel

/// An amount of bytes as the messages of all layers have it, such as `12.3 MiB`.
package func sizeText(_ bytes: Int64) -> String { SyncModel.sizeText(bytes) }
