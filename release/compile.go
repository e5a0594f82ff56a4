package main

import (
	"context"
	"debug/buildinfo"
	"runtime/debug"
)

// A program is zofl for a target.
type program struct {
	target  target
	file    string
	info    *debug.BuildInfo // the modules that are in it
	notices []byte           // what their licenses want to be told
}

// linked is where the program keeps its version.
const linked = "github.com/zofl/zofl/coordinator/zofl/version.stamp"

// compile builds the program for a target. Nothing in it depends on where or when it is built.
func (b *build) compile(ctx context.Context, t target) (*program, error) {
	p := &program{target: t, file: b.in("bin", t.file(), t.program())}
	dir := b.in("src", "coordinator", "zofl")
	_, err := command(ctx, dir, append(b.env, t.env()...), "go", "build", "-trimpath",
		"-buildvcs=false", "-ldflags=-s -w -X "+linked+"="+b.version, "-o", p.file, ".")
	if err != nil {
		return nil, err
	}
	if p.info, err = buildinfo.ReadFile(p.file); err != nil {
		return nil, err
	}
	p.notices, err = b.collect(ctx, dir, p.info)
	return p, err
}
