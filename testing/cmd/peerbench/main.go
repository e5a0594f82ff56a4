// Peerbench measures how fast numpy and torch generate normals, and torch's own x += a*z,
// compared with the kernels of package prng. All results are ratios to a math/rand/v2
// NormFloat64 loop.
//
//	go -C testing run ./cmd/peerbench [-rounds 15] [-python python3,/path/to/another/python]
//
// A Python process answers one request per round, and this process measures its own loops between
// two requests. So neither process disturbs the other, and a ratio compares measurements close in
// time. A round keeps the fastest of several calls, and the table shows the medians of the rounds.
// If an interpreter or a package is missing, peerbench leaves its rows out and prints the command
// that installs it. An interrupt ends peerbench. Peerbench exits with status 1 if it cannot measure
// at all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peerbench:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("peerbench", flag.ExitOnError)
	rounds := flags.Int("rounds", 15, "rounds; each measures everything once, for 20 ms or more")
	pythons := flags.String("python", "python3", "interpreters, with commas between them")
	flags.Parse(args)
	if flags.NArg() > 0 || *rounds < 1 {
		return errors.New("want -rounds of at least 1 and no argument")
	}
	fmt.Fprintf(out, "%s %s/%s, %d cores\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	peers := startAll(ctx, out, strings.Split(*pythons, ","))
	defer func() {
		for _, p := range peers {
			p.close()
		}
	}()
	t := &table{}
	for range *rounds {
		if err := round(ctx, t, peers); err != nil {
			return err
		}
	}
	return t.print(out)
}

// startAll starts the interpreters that exist, and reports what is missing.
func startAll(ctx context.Context, out io.Writer, names []string) (peers []*peer) {
	for _, name := range names {
		p, err := start(ctx, name)
		if err != nil {
			fmt.Fprintf(out, "%s is left out: %v; %s\n", name, err, install)
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", name, p.hello.Versions)
		for _, missing := range p.hello.Missing {
			fmt.Fprintf(out, "%s has no %s: %s\n", name, missing, install)
		}
		peers = append(peers, p)
	}
	return peers
}

// round measures all loops once. For each interpreter, round also measures the yardstick.
func round(ctx context.Context, t *table, peers []*peer) error {
	all := ours()
	t.add("", all, all[0].Speed)
	for _, p := range peers {
		speeds, err := p.measure()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		t.add(p.name, speeds, yardstick().Speed)
	}
	return ctx.Err()
}
