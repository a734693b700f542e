enum SyncTestSupportPlaceholder {}
