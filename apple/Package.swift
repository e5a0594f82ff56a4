// swift-tools-version:5.9
import PackageDescription

// The framework ZoflMobile is made by one command, on a Mac with Xcode, from the folder
// android of this repository:
//
//   go tool gomobile bind -target=ios,iossimulator -iosversion=15.0 -prefix=Zofl \
//     -o ../apple/ZoflMobile.xcframework github.com/zofl/zofl/client/mobile
//
// Its file name is the name of its module, which must not be Zofl, as the package's is.
let package = Package(
    name: "Zofl",
    platforms: [.iOS(.v15)],
    products: [.library(name: "Zofl", targets: ["Zofl"])],
    targets: [
        .binaryTarget(name: "ZoflMobile", path: "ZoflMobile.xcframework"),
        .target(
            name: "ZoflBridge", dependencies: ["ZoflMobile"],
            linkerSettings: [.linkedLibrary("resolv"), .linkedFramework("Security")]), // Go's needs
        .target(
            name: "Zofl", dependencies: ["ZoflBridge", "ZoflMobile"],
            resources: [.copy("PrivacyInfo.xcprivacy")]),
        .testTarget(name: "ZoflTests", dependencies: ["Zofl", "ZoflMobile"]),
    ]
)
