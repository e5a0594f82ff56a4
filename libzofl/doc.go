// Command libzofl is the client as a library for other languages: the network, TLS, the store and
// all methods are inside. README.md says how to build and use it.
//
// include/libzofl.h is written by hand. shim.c, whose functions the library exports, includes it,
// so the C compiler holds both together; it also keeps a forked child out of Go, where it would
// hang. The functions of export.go do the work, by package pull.
package main

// stamp is the version of a release; "": none.
var stamp string

// version returns the version that zofl_version reports.
func version() string {
	if stamp == "" {
		return "devel"
	}
	return stamp
}

func main() {} // never called: the linker wants it
