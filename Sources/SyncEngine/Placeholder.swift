enum SyncEnginePlaceholder {}
