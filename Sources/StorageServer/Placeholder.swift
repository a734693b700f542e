enum StorageServerPlaceholder {}
