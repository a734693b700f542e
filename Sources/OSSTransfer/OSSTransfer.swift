@_exported public import ObjectTransfer
@_exported public import SyncModel
