package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// A pass is one of the builds whose results release compares.
type pass struct {
	name string
	cold bool // with an empty cache: everything is compiled again
}

// release makes the files of a release in every pass, and moves the files to out if all passes
// made the same bytes.
func (s *source) release(ctx context.Context, out string, chosen []target, all []pass) error {
	// The work directory is next to out, so that release can move files without a copy. Each pass
	// has a directory of its own name.
	work, err := os.MkdirTemp(filepath.Dir(out), "_release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var first []byte
	for _, p := range all {
		b := &build{source: s, targets: chosen, work: filepath.Join(work, p.name),
			log: os.Stderr, cold: p.cold}
		sums, err := b.make(ctx)
		if err != nil {
			return err
		}
		if first == nil {
			first = sums
		}
		if !bytes.Equal(first, sums) {
			return fmt.Errorf("two builds differ:\n%s\n%s", first, sums)
		}
	}
	if err := os.Rename(filepath.Join(work, all[0].name, "dist"), out); err != nil {
		return err
	}
	_, err = fmt.Printf("%s%d builds of %s with these hashes are in %s\n", first, len(all),
		s.version, out)
	return err
}

// A build makes all files of a release once.
type build struct {
	*source
	targets []target
	work    string // a directory of its own
	cold    bool
	log     io.Writer
	env     []string
	share   []entry // of /usr/share: pages for man, completions
}

// in returns the path of a file in the build's directory.
func (b *build) in(names ...string) string {
	return filepath.Join(append([]string{b.work}, names...)...)
}

// dist returns the path of a file of the release.
func (b *build) dist(format string, values ...any) string {
	return b.in("dist", fmt.Sprintf(format, values...))
}

// make builds everything, and returns the lines of SHA256SUMS.
func (b *build) make(ctx context.Context) ([]byte, error) {
	if err := os.MkdirAll(b.in("dist"), 0o755); err != nil {
		return nil, err
	}
	b.env = []string{"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=",
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", b.at.Unix())}
	if b.cold {
		b.env = append(b.env, "GOCACHE="+b.in("cache"))
	}
	if err := b.copyTo(b.in("src")); err != nil {
		return nil, err
	}
	if err := link(b.in("src"), b.files); err != nil {
		return nil, err
	}
	if err := b.hatch(ctx, "sdist"); err != nil {
		return nil, err
	}
	if err := b.manual(ctx); err != nil {
		return nil, fmt.Errorf("manual: %w", err)
	}
	var programs []*program
	for _, t := range b.targets {
		fmt.Fprintf(b.log, "%s: %v\n", filepath.Base(b.work), t)
		p, err := b.program(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", t, err)
		}
		programs = append(programs, p)
	}
	if err := b.image(programs); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	return b.sums()
}

// program builds the program for a target, and the files of the release for this target.
func (b *build) program(ctx context.Context, t target) (*program, error) {
	p, err := b.compile(ctx, zofl, t)
	if err != nil {
		return nil, err
	}
	for _, do := range []func(*program) error{b.archive, b.bill, b.pack} {
		if err := do(p); err != nil {
			return nil, err
		}
	}
	if err := b.sensor(ctx, t); err != nil {
		return nil, fmt.Errorf("%s: %w", sensor.name, err)
	}
	if err := b.library(ctx, t); err != nil {
		return nil, fmt.Errorf("%s: %w", libzofl.name, err)
	}
	return p, b.wheel(ctx, p)
}

// sensor builds the sensors' agent for a target that has packages.
func (b *build) sensor(ctx context.Context, t target) error {
	if t.deb == "" {
		return nil
	}
	p, err := b.compile(ctx, sensor, t)
	if err != nil {
		return err
	}
	if err := b.bill(p); err != nil {
		return err
	}
	return b.pack(p)
}

// library builds the client as a library, for a target that it is for.
func (b *build) library(ctx context.Context, t target) error {
	if t.cc == "" || b.noLibraries {
		return nil
	}
	if _, err := exec.LookPath(t.cc); err != nil {
		return fmt.Errorf("%w: install it, or give -libraries=false", err)
	}
	p, err := b.compile(ctx, libzofl, t)
	if err != nil {
		return err
	}
	if err := b.bill(p); err != nil {
		return err
	}
	return b.archiveLibrary(p)
}
