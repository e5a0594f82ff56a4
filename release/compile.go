package main

import (
	"context"
	"debug/buildinfo"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// A program is the result of building a recipe for a target.
type program struct {
	*recipe
	target  target
	file    string
	info    *debug.BuildInfo // the modules that are in it
	notices []byte           // what their licenses want to be told
}

// compile builds a program for a target. The bytes of the program do not depend on where or when
// compile builds it.
func (b *build) compile(ctx context.Context, r *recipe, t target) (*program, error) {
	p := &program{recipe: r, target: t, file: b.in("bin", t.file(), r.file(t))}
	dir := b.in("src", filepath.FromSlash(r.dir))
	args := append([]string{"build"}, r.flags(t, b.version)...)
	env := slices.Concat(b.env, r.env(t))
	_, err := command(ctx, dir, env, "go", append(args, "-o", p.file, ".")...)
	if err != nil {
		return nil, err
	}
	if p.info, err = buildinfo.ReadFile(p.file); err != nil {
		return nil, err
	}
	p.notices, err = b.tool(ctx, "notices", append([]string{dir}, r.env(t)...)...)
	return p, err
}

// tool runs a program of the sources that helps to make a release.
func (b *build) tool(ctx context.Context, name string, args ...string) ([]byte, error) {
	args = append([]string{"run", "-trimpath", "-ldflags=-X " + zofl.stamp + "=" + b.version,
		"./internal/" + name}, args...)
	return command(ctx, b.in("src", "coordinator", "zofl"), b.env, "go", args...)
}
