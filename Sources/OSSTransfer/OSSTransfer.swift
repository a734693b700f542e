@_exported public import ObjectTransfer

@_exported public import struct SyncModel.ObjectProperties
@_exported public import struct SyncModel.StoreTime
