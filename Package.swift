// swift-tools-version: 6.2

import PackageDescription

/// The settings of every Swift target.
let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        // Without what only a debugger needs, `.ci/run` builds in six sevenths of the time.
    ] + (Context.environment["OSSSYNC_CI"] == nil ? [] : [.unsafeFlags(["-gnone"])])

func systemLibrary(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func library(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target
{
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: swiftSettings)
}

/// A library that the trait links.
func system(_ name: String) -> Target.Dependency {
    .target(name: name, condition: .when(traits: ["SystemLibraries"]))
}

/// Apple's systems have URLSession and a processor's instructions for checksums: there an app links
/// no C library unless it asks for the trait. The manifest is read on the machine that builds.
#if os(Linux)
let defaultTraits: Set = ["SystemLibraries"]
#else
let defaultTraits: Set<String> = []
#endif

/// Apple's systems have CryptoKit.
let crypto = Target.Dependency.target(name: "CCrypto", condition: .when(platforms: [.linux]))

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

func tests(
    _ name: String,
    _ dependencies: [Target.Dependency],
    exclude: [String] = []
) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies,
        exclude: exclude,
        swiftSettings: swiftSettings
    )
}

let fuzzed: [Target.Dependency] = [
    "SyncModel", "SyncPlanner", "ObjectStorage", "ManifestStore", "ObjectTransfer", "SyncEngine",
]

/// `Tests/Fuzz/run` makes a program of the sources that are otherwise tests.
let fuzzing: Target =
    Context.environment["OSSSYNC_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests",
        dependencies: fuzzed + ["CSQLite", "SyncTestSupport"],
        path: "Tests/Fuzz",
        exclude: ["Corpus", "Runner", "run"],
        swiftSettings: swiftSettings
    )
    : .executableTarget(
        name: "Fuzz",
        dependencies: fuzzed + ["CSQLite"],
        path: "Tests/Fuzz",
        exclude: ["Corpus", "Replay", "run"],
        swiftSettings: swiftSettings
    )

let package = Package(
    name: "osssync",
    platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .visionOS(.v2), .watchOS(.v11)],
    products: [
        .executable(name: "osssync", targets: ["OSSSyncCLI"]),
        .executable(name: "osssync-server", targets: ["StorageServerCLI"]),
        .library(name: "OSSBucket", targets: ["OSSBucket"]),
        .library(name: "OSSSync", targets: ["OSSSync"]),
        .library(name: "OSSTransfer", targets: ["OSSTransfer"]),
        .library(name: "OSSTransferFoundation", targets: ["OSSTransferFoundation"]),
        .library(name: "OSSTransferTesting", targets: ["OSSTransferTesting"]),
    ],
    traits: [
        .default(enabledTraits: defaultTraits),
        .trait(
            name: "SystemLibraries",
            description: "Uses libcurl, expat, libsodium and ISA-L; all but OSSTransfer and "
                + "the libraries named after it need it."
        ),
    ],
    targets: [
        systemLibrary("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        systemLibrary("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
        systemLibrary("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev", brew: "openssl"),
        systemLibrary("CISAL", pkgConfig: "libisal", apt: "libisal-dev", brew: "isa-l"),
        systemLibrary("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev", brew: "libsodium"),
        systemLibrary("CExpat", pkgConfig: "expat", apt: "libexpat1-dev", brew: "expat"),
        systemLibrary(
            "CMicrohttpd",
            pkgConfig: "libmicrohttpd",
            apt: "libmicrohttpd-dev",
            brew: "libmicrohttpd"
        ),
        .target(name: "CSystem"),
        .target(name: "CChecksums"),
        library("CLibrary", []),

        library("SyncModel", [system("CISAL"), "CChecksums"]),
        library("SyncPlanner", ["SyncModel"]),
        library(
            "ObjectStorage",
            [
                "SyncModel", system("CCurl"), crypto, system("CExpat"), system("CSodium"),
                "CLibrary",
            ]
        ),
        library("LocalStorage", ["SyncModel", "CLibrary", "CSystem"]),
        library("ManifestStore", ["SyncModel", "CLibrary", "CSQLite"]),
        library("ObjectTransfer", ["SyncModel", "ObjectStorage", "LocalStorage", "CChecksums"]),
        library(
            "SyncEngine",
            [
                "SyncModel", "SyncPlanner", "ObjectStorage", "LocalStorage", "ManifestStore",
                "ObjectTransfer",
            ]
        ),
        library(
            "OSSTransfer",
            ["ObjectTransfer", "ObjectStorage", "LocalStorage", "SyncModel", "CLibrary"]
        ),
        library("OSSBucket", ["OSSTransfer", "ObjectTransfer", "ObjectStorage", "SyncModel"]),
        library("OSSTransferFoundation", ["OSSBucket", "OSSTransfer", "SyncModel"]),
        library("OSSTransferTesting", ["OSSBucket", "OSSTransfer", "ObjectStorage", "SyncModel"]),
        library(
            "OSSSync",
            [
                "OSSBucket", "OSSTransfer", "SyncEngine", "ObjectTransfer", "ObjectStorage",
                "LocalStorage", "SyncModel",
            ]
        ),
        program("OSSSyncCLI", ["OSSBucket", "OSSSync", "CLibrary", "CSystem"]),
        library(
            "StorageServer",
            ["SyncModel", "CMicrohttpd", "CCrypto", "CExpat", "CSQLite", "CLibrary", "CSystem"]
        ),
        program("StorageServerCLI", ["StorageServer", "CLibrary"]),

        .target(
            name: "SyncTestSupport",
            dependencies: ["SyncModel"],
            path: "Tests/SyncTestSupport",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "LeaseExploration",
            dependencies: ["LocalStorage", "SyncModel"],
            path: "Tests/LeaseExploration",
            swiftSettings: swiftSettings
        ),
        // A process that tests kill.
        .executableTarget(
            name: "TransferProgram",
            dependencies: ["OSSBucket", "OSSTransfer"],
            path: "Tests/TransferProgram",
            packageAccess: false,
            swiftSettings: swiftSettings
        ),
        // These define the C library's functions on files: only a program of its own may link them.
        .target(name: "CVirtualFiles", path: "Tests/VirtualFiles"),
        .target(
            name: "CVirtualFilesChecks",
            dependencies: ["CVirtualFiles", "CSQLite"],
            path: "Tests/VirtualFilesCheck/Checks"
        ),
        .executableTarget(
            name: "VirtualFilesCheck",
            dependencies: ["CVirtualFiles", "CVirtualFilesChecks"],
            path: "Tests/VirtualFilesCheck/Program",
            swiftSettings: swiftSettings
        ),
        tests("SyncModelTests", ["SyncModel", "SyncTestSupport"]),
        tests("SyncPlannerTests", ["SyncPlanner", "SyncTestSupport"]),
        tests("ObjectStorageTests", ["ObjectStorage", "SyncTestSupport"]),
        tests(
            "LocalStorageTests",
            ["LocalStorage", "CSystem", "LeaseExploration", "SyncTestSupport"]
        ),
        tests("ManifestStoreTests", ["ManifestStore", "SyncTestSupport"]),
        tests(
            "ObjectTransferTests",
            ["ObjectTransfer", "ObjectStorage", "StoreFixture", "SyncTestSupport"]
        ),
        tests(
            "SyncEngineTests",
            [
                "SyncEngine", "OSSTransfer", "ObjectTransfer", "ObjectStorage", "StorageServer",
                "StoreFixture", "SyncTestSupport",
            ]
        ),
        tests("StorageServerTests", ["StorageServer", "SyncTestSupport"]),
        .target(
            name: "StoreFixture",
            dependencies: ["OSSTransfer", "ObjectStorage", "StorageServer", "SyncModel"],
            path: "Tests/StoreFixture",
            swiftSettings: swiftSettings
        ),
        tests(
            "OSSTransferTests",
            [
                "OSSBucket", "OSSTransfer", "OSSTransferTesting", "ObjectStorage",
                "StorageServer", "StoreFixture", "SyncTestSupport", "TransferProgram",
            ]
        ),
        tests(
            "OSSTransferFoundationTests",
            [
                "OSSBucket", "OSSTransferFoundation", "OSSTransfer", "OSSTransferTesting",
                "StorageServer", "StoreFixture",
            ]
        ),
        tests("OSSSyncTests", ["OSSSync", "ObjectStorage", "StorageServer", "StoreFixture"]),
        tests(
            "OSSSyncCLITests",
            ["OSSSyncCLI", "OSSSync", "SyncEngine", "CSystem", "SyncTestSupport"],
            exclude: ["Golden"]
        ),
        fuzzing,
        tests("EndToEndTests", ["SyncTestSupport"]),
        tests("RepositoryTests", ["SyncTestSupport"]),
    ]
)

// The virtual disk takes the place of Linux's C library only.
#if os(Linux)
package.products.append(.executable(name: "osssync-simulator", targets: ["Simulator"]))
package.targets.append(
    .executableTarget(
        name: "Simulator",
        dependencies: [
            "SyncEngine", "SyncModel", "SyncPlanner", "ObjectStorage", "LocalStorage",
            "ManifestStore", "LeaseExploration", "SyncTestSupport", "CSQLite", "CSystem",
            "CVirtualFiles",
        ],
        path: "Tests/Simulator",
        exclude: ["run"],
        swiftSettings: swiftSettings
    )
)
#endif

// `Tests/Portable/run` builds what apps link without the trait, with its tests; the server that
// these use is a program of the other build.
if Context.environment["OSSSYNC_PORTABLE"] != nil {
    let portable = [
        "SyncModel", "ObjectStorage", "LocalStorage", "ObjectTransfer", "OSSTransfer",
        "OSSBucket", "OSSTransferFoundation", "OSSTransferTesting", "StoreFixture",
    ]
    let others = [
        "SyncTestSupport", "LeaseExploration", "CLibrary", "CSystem", "CChecksums",
        "TransferProgram",
    ]
    let kept = Set(portable + portable.map { $0 + "Tests" } + others)
    package.targets.removeAll { !kept.contains($0.name) && $0.type != .system }
    package.products.removeAll { !kept.contains($0.name) }
    package.targets.append(
        .target(
            name: "StorageServer",
            path: "Tests/Portable/StorageServer",
            swiftSettings: swiftSettings
        )
    )
}

// `Tests/Sanitizers/run` builds what it runs.
if let kind = Context.environment["OSSSYNC_SANITIZER"] {
    var others: Set = [
        "Simulator", "CVirtualFiles", "CVirtualFilesChecks", "VirtualFilesCheck",
        "EndToEndTests", "RepositoryTests",
        // It has no thread, and no word of unsafe memory.
        "SyncPlannerTests",
    ]
    // What is fuzzed has one thread.
    if kind == "thread" { others.insert("FuzzTests") }
    package.targets.removeAll { others.contains($0.name) }
    package.products.removeAll { $0.name == "osssync-simulator" }
}

// Tests of a few targets take a fraction of the time to build:
// `OSSSYNC_TESTS=SyncEngineTests,RepositoryTests swift build --build-tests`.
if let names = Context.environment["OSSSYNC_TESTS"] {
    let wanted = Set(names.split(separator: ",").map(String.init))
    package.targets.removeAll { target in
        (target.type == .test || target.name == "Simulator") && !wanted.contains(target.name)
    }
    package.products.removeAll { $0.name == "osssync-simulator" && !wanted.contains("Simulator") }
}

// `make build` makes both programs, and nothing else, in one go.
if Context.environment["OSSSYNC_PROGRAMS"] != nil {
    // What reads a command line and writes a report is not what a run waits for.
    let commandLine = package.targets.first { $0.name == "OSSSyncCLI" }
    commandLine?.swiftSettings?.append(.unsafeFlags(["-Osize"]))
    let programs = ["osssync", "osssync-server"]
    let others = ["OSSTransferFoundation", "OSSTransferTesting"]
    package.products.removeAll { !programs.contains($0.name) }
    package.targets.removeAll { target in
        target.type == .test || target.path?.hasPrefix("Tests/") == true
            || others.contains(target.name)
    }
}
