// swift-tools-version: 6.2

import PackageDescription

// An app as the documentation begins one: on Linux it links no C library but libcrypto.
let package = Package(
    name: "portable-app",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "osssync", path: "../../..", traits: [])],
    targets: [
        .executableTarget(
            name: "portable-app",
            dependencies: [.product(name: "OSSTransferFoundation", package: "osssync")],
            path: "Sources"
        )
    ]
)
