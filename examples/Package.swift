// swift-tools-version: 6.2

import PackageDescription

// Programs that see of osssync what any app sees: the library's public interface. Each has the
// smallest product that it needs.
let products = [
    "app": ["OSSTransferFoundation"],
    "download-manager": ["OSSTransfer"],
    "photo-backup": ["OSSSync"],
    "resumable-download": ["OSSTransfer"],
    "resumable-upload": ["OSSTransfer"],
    "signed-urls": ["OSSBucket", "OSSTransfer"],
]

let package = Package(
    name: "examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "osssync", path: "..")],
    targets: products.keys.sorted().map { name in
        .executableTarget(
            name: name,
            dependencies: products[name, default: []].map {
                .product(name: $0, package: "osssync")
            },
            path: name,
            exclude: ["README.md"] + (name == "resumable-upload" ? ["listener.py"] : [])
        )
    }
)
