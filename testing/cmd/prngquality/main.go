// Prngquality measures the directions of scheme 1. It measures the map from words to normals
// exactly, over all words. It measures the generators of the words on samples, in the order in
// which a training run uses them.
//
//	go -C testing run ./cmd/prngquality [-n 1e9] [-key K] [-only exact,cache,normal,neighbors,signs]
//	go -C testing run ./cmd/prngquality [-key K] stream | dieharder -a -g 200
//
// The report is a table for docs/prng.md. Progress goes to the standard error. An interrupt ends
// prngquality. Prngquality exits with status 1 if a figure is outside its bound.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintln(os.Stderr, "prngquality:", err)
		os.Exit(1)
	}
}

// part is a section of the report.
type part struct {
	name string
	run  func(ctx context.Context, s sampling, r *report) error
}

var parts = []part{
	{"exact", exact},
	{"cache", caches},
	{"normal", normals},
	{"neighbors", neighbors},
	{"signs", signBits},
}

func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("prngquality", flag.ExitOnError)
	n := flags.Float64("n", 1e9, "samples")
	only := flags.String("only", "exact,cache,normal,neighbors,signs", "parts of the report")
	key := flags.String("key", defaultKey, "run key of the sample")
	flags.Parse(args)
	if flags.Arg(0) == "stream" {
		return sampling{key: *key}.stream(ctx, os.Stdout)
	}
	if flags.NArg() > 0 || *n < 1e6 {
		return errors.New("want -n of at least 1e6 and no argument but stream")
	}
	r := &report{out: os.Stdout}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		p := find(name)
		if p == nil {
			return fmt.Errorf("no part %q", name)
		}
		r.section(name)
		if err := p.run(ctx, sampling{*key, uint64(*n)}, r); err != nil {
			return err
		}
	}
	if r.outside > 0 {
		return fmt.Errorf("%d figures are outside their bounds", r.outside)
	}
	return nil
}

func find(name string) *part {
	for i := range parts {
		if parts[i].name == name {
			return &parts[i]
		}
	}
	return nil
}
