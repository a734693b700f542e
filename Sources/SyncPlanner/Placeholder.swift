enum SyncPlannerPlaceholder {}
