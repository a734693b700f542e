// swift-tools-version: 6.2

import PackageDescription

// Programs that see of osssync what any app sees: the library's public interface.
let package = Package(
    name: "examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "osssync", path: "..")],
    targets: [
        "resumable-download", "resumable-upload", "download-manager", "photo-backup", "signed-urls",
    ].map {
        .executableTarget(
            name: $0,
            dependencies: ["OSSBucket", "OSSSync"].map { .product(name: $0, package: "osssync") },
            path: $0,
            exclude: ["README.md"] + ($0 == "resumable-upload" ? ["listener.py"] : [])
        )
    } + [
        // An app links no mirror.
        .executableTarget(
            name: "app",
            dependencies: [
                .product(name: "OSSTransfer", package: "osssync"),
                .product(name: "OSSTransferFoundation", package: "osssync"),
            ],
            path: "app",
            exclude: ["README.md"]
        )
    ]
)
