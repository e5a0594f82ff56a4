// Command browser serves a page whose tabs are devices of a run: they draw digits, and train one
// classifier with each other and with other programs. The command also leads the run, with a
// broker on this machine. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Options are the flags.
type Options struct {
	Listen    string
	Neighbors int
	Rounds    uint64
	Store     string // directory of the log; empty: a new run, that is forgotten
	Broker    string // WebSocket of a broker whose run somebody else leads; empty: lead one here
	Run       string // with Broker
}

func main() {
	var o Options
	flag.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "address of the page; port 0: a free one")
	flag.IntVar(&o.Neighbors, "neighbors", 3, "devices in this program that train with the tabs")
	flag.Uint64Var(&o.Rounds, "rounds", 2000, "rounds of the run")
	flag.StringVar(&o.Store, "store", "", "directory of the run's log; empty: a new run each time")
	flag.StringVar(&o.Broker, "broker", "",
		"ws:// or wss:// address of a broker with a run, as zofl serve --websocket has it; "+
			"empty: this program leads one")
	flag.StringVar(&o.Run, "run", "digits", "with -broker: name of the run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

func (o Options) check() error {
	switch {
	case o.Neighbors < 0:
		return fmt.Errorf("-neighbors %d: give 0 or more", o.Neighbors)
	case o.Rounds < 1:
		return fmt.Errorf("-rounds %d: give at least 1", o.Rounds)
	case o.Broker != "" && !strings.HasPrefix(o.Broker, "ws://") &&
		!strings.HasPrefix(o.Broker, "wss://"):
		return fmt.Errorf("-broker %s: give an address that begins with ws:// or wss://", o.Broker)
	}
	return nil
}

// run serves until the context is done.
func run(ctx context.Context, o Options, w io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	fmt.Fprintln(w, "compiling the device; the first time takes a minute")
	p, err := build(ctx)
	if err != nil {
		return err
	}
	s, err := open(ctx, o, p, w)
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(w, "device: %.1f MB, %.1f MB with gzip\n", float64(p.size)/1e6,
		float64(len(p.wasm))/1e6)
	fmt.Fprintf(w, "open http://%s in one or more tabs\n", s.host)
	if s.nats != "" {
		fmt.Fprintf(w, "more devices: zofl client --url %s --run %s --id NAME\n", s.nats, s.run)
	}
	return s.wait(ctx)
}
