// Package android holds Zofl's Android example: the tools that bind package
// [github.com/zofl/zofl/client/mobile] for Java and Kotlin, and the scripts that run them.
// The app's sources are in core and app; README.md says how to build it.
//
//   - bind.sh makes app/libs/zofl.aar, with Google's SDK and NDK.
//   - hostjvm.sh makes the same classes and native library for this machine's Java, without
//     SDK and NDK, for tests.
//
// The package has no code. Its import keeps the requirements of the bound package in
// go.mod.
package android

import _ "github.com/zofl/zofl/client/mobile"
