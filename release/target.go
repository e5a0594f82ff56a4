package main

import (
	"fmt"
	"slices"
	"strings"
)

// A target is the platform of a program.
type target struct {
	os, arch string
	arm      string // GOARM
	deb      string // Debian's name; "": no package
	image    bool   // whether the image has it
	cc       string // the C compiler for libraries; "": there is none for it
}

// targets are all targets of a release. Debian's armhf has the program for ARM v6, which every
// Raspberry Pi runs.
var targets = []target{
	{os: "linux", arch: "amd64", deb: "amd64", image: true,
		cc: "x86_64-linux-gnu-gcc"},
	{os: "linux", arch: "arm64", deb: "arm64", image: true,
		cc: "aarch64-linux-gnu-gcc"},
	{os: "linux", arch: "arm", arm: "7", image: true, cc: "arm-linux-gnueabihf-gcc"},
	{os: "linux", arch: "arm", arm: "6", deb: "armhf", image: true},
	{os: "darwin", arch: "amd64"},
	{os: "darwin", arch: "arm64"},
	{os: "windows", arch: "amd64"},
	{os: "windows", arch: "arm64"},
}

// String returns the name of the target on the command line.
func (t target) String() string {
	if t.arm != "" {
		return t.os + "/armv" + t.arm
	}
	return t.os + "/" + t.arch
}

// file returns the target's name as a part of file names.
func (t target) file() string { return strings.ReplaceAll(t.String(), "/", "_") }

// env returns the environment of go build for the target, independent of the environment of this
// process. The programs run on the oldest processors of each kind.
func (t target) env() []string {
	env := []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFIPS140=off"}
	if t.arm != "" {
		env = append(env, "GOARM="+t.arm)
	}
	return env
}

func names(list []target) (all []string) {
	for _, t := range list {
		all = append(all, t.String())
	}
	return all
}

// choose returns the targets named in list, or all targets if list is empty.
func choose(list string) (chosen []target, err error) {
	if list == "" {
		return targets, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(names(targets), name)
		if i < 0 {
			return nil, fmt.Errorf("-platforms: %q: choose of %s", name,
				strings.Join(names(targets), ","))
		}
		if !slices.Contains(chosen, targets[i]) {
			chosen = append(chosen, targets[i])
		}
	}
	return chosen, nil
}
