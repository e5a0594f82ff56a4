package main

import "strings"

// A recipe says which program to build, and with which options.
type recipe struct {
	name  string
	dir   string   // of its module
	stamp string   // the variable that keeps its version
	lean  []string // more flags, which make it smaller

	library bool // it is a library, for programs in other languages
}

// zofl is the program of the archives, packages, wheels and images.
var zofl = &recipe{
	name: "zofl", dir: "coordinator/zofl",
	stamp: "github.com/zofl/zofl/coordinator/zofl/version.stamp",
}

// sensor is the agent of Raspberry Pis, for its Debian package alone. The recipe switches
// inlining off, except in the packages that work on vectors. Without inlining the program is a
// tenth smaller, and rounds are no slower.
var sensor = &recipe{
	name: "zofl-sensor", dir: "examples/sensor", stamp: "main.stamp",
	lean: []string{"-gcflags=all=-l", "-gcflags=math=", "-gcflags=math/bits=",
		"-gcflags=math/rand/...=", "-gcflags=encoding/binary=",
		"-gcflags=github.com/zofl/zofl/prng=", "-gcflags=github.com/zofl/zofl/mathx/...=",
		"-gcflags=github.com/zofl/zofl/client/replica=",
		"-gcflags=github.com/zofl/zofl/internal/...="},
}

// libzofl is the client as a library.
var libzofl = &recipe{
	name: "libzofl", dir: "libzofl", stamp: "main.stamp", library: true,
	lean: []string{"-buildmode=c-shared", "-tags=netgo,osusergo"}, // see libzofl/build.sh
}

// env returns the environment of go build for a target.
func (r *recipe) env(t target) []string {
	if r.library {
		return append(t.env(), "CGO_ENABLED=1", "CC="+t.cc)
	}
	return t.env()
}

// file is the name of a program's file for a target.
func (r *recipe) file(t target) string {
	switch {
	case r.library:
		return r.name + ".so"
	case t.os == "windows":
		return r.name + ".exe"
	}
	return r.name
}

// flags are the flags of go build for a target and a version.
func (r *recipe) flags(t target, version string) []string {
	linker := "-ldflags=-s -w -X " + r.stamp + "=" + version
	if r.library {
		linker += " -buildid=" // it hashes the path of the C compiler's output
	} else if r.lean != nil && t.arch == "arm" {
		linker = strings.Replace(linker, "-s -w", "-s -w -R 0x1000", 1) // pages of a Pi's kernel
	}
	return append([]string{"-trimpath", "-buildvcs=false", linker}, r.lean...)
}
