enum LocalStoragePlaceholder {}
