// Package android holds Zofl's library for Android: the tools that bind package
// [github.com/zofl/zofl/client/mobile] for Java and Kotlin, and the scripts that run them.
// The library's sources, in Kotlin, are in folder library; docs/android-build.md says how to
// build it.
//
//   - bind.sh makes what the library embeds, with Google's SDK and NDK.
//   - hostjvm.sh makes the same classes and native library for this machine's Java, without
//     SDK and NDK, for tests.
//
// The package has no code. Its import keeps the requirements of client/mobile in go.mod.
package android

import _ "github.com/zofl/zofl/client/mobile"
