package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is built for a Raspberry Pi, and may take sizeMost bytes there.
const (
	program  = "examples/sensor"
	sizeMost = 9_000_000
)

// A target is a processor of a Raspberry Pi.
type target struct {
	name string
	env  []string
	ld   string // linker flags for small size
}

// On 32-bit ARM the linker pads each part of a program to 64 KiB, for kernels with pages of 64 KiB.
// The kernel of a Raspberry Pi has pages of 4 KiB.
var targets = []target{
	{"arm v6", []string{"GOOS=linux", "GOARCH=arm", "GOARM=6"}, " -R 0x1000"},
	{"arm v7", []string{"GOOS=linux", "GOARCH=arm", "GOARM=7"}, " -R 0x1000"},
	{"arm64", []string{"GOOS=linux", "GOARCH=arm64"}, ""},
}

// sparing flags restrict inlining to the packages that work on vectors, and to the packages that
// those use.
var sparing = []string{
	"-gcflags=all=-l", "-gcflags=math=", "-gcflags=math/bits=", "-gcflags=math/rand/...=",
	"-gcflags=encoding/binary=",
	"-gcflags=github.com/zofl/zofl/prng=", "-gcflags=github.com/zofl/zofl/mathx/...=",
	"-gcflags=github.com/zofl/zofl/client/replica=", "-gcflags=github.com/zofl/zofl/internal/...=",
}

// sizes builds the program for each target, with default flags and with flags for small size.
func sizes(l *lab, _ *options) (figures []figure, err error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	for i := range targets {
		t := &targets[i]
		for _, small := range []bool{false, true} {
			flags := flagsOf(t, small)
			size, err := sizeOf(l, filepath.Join(dir, program), flags, t)
			if err != nil {
				return nil, err
			}
			f := figure{What: program + ", linux/" + t.name, Value: float64(size),
				Unit: "bytes", Note: strings.Join(flags, " ")}
			if small {
				f.Most = sizeMost
			}
			figures = append(figures, f)
		}
	}
	return figures, nil
}

// flagsOf returns the flags of go build.
func flagsOf(t *target, small bool) []string {
	if !small {
		return []string{"-trimpath", "-ldflags=-s -w"}
	}
	return append([]string{"-trimpath", "-ldflags=-s -w" + t.ld}, sparing...)
}

func sizeOf(l *lab, dir string, flags []string, t *target) (int64, error) {
	path := filepath.Join(l.dir, "program")
	args := append([]string{"build", "-C", dir, "-o", path}, flags...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), t.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s for %s: %w\n%s", dir, t.name, err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
