enum ObjectStoragePlaceholder {}
