enum ManifestStorePlaceholder {}
