// Command pid tunes the controllers of a fleet of hot plates by experiments alone.
//
// Every device has its own plate, slightly different from the others, and one set of gains has to
// suit them all. A device can run an experiment (heat up, take a cold pot) and report how well it
// went, nothing more: it is a black box with seven knobs that takes ten minutes for each answer. An
// evolution strategy, FZooS and FedZO tune the gains over NATS, starting from the textbook rules
// for the data sheet's plate. The program compares them.
//
// Everything except the plates would be the same for a fleet in the field; see README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

// Options are the flags.
type Options struct {
	Devices int
	Rounds  uint64 // of CMA; the others get as many experiments
	Seed    uint64
	Out     string // file of the plot; empty: none
}

func main() {
	var o Options
	flag.IntVar(&o.Devices, "devices", 10, "hot plates")
	flag.Uint64Var(&o.Rounds, "rounds", 17, "rounds of CMA; the other methods get as many experiments")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of the plates, their readings and the directions")
	flag.StringVar(&o.Out, "out", "pid.svg",
		"file of the losses, .svg, with that of the plates beside it; empty: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pid:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o Options, w io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	report := &Report{Plates: Plates(o.Devices, o.Seed)}
	experiments := uint64(0)
	for _, m := range methods {
		plan, err := m.Plan(o.Devices, experiments, o.Seed)
		if err != nil {
			return err
		}
		if experiments == 0 { // the first method sets the budget for the others
			plan.Rounds = o.Rounds
			experiments = o.Rounds * perRound(plan)
		}
		outcome, err := Tune(ctx, plan, report.Plates, o.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if err := report.add(m.Name, outcome); err != nil {
			return err
		}
	}
	report.Print(w)
	if o.Out == "" {
		return nil
	}
	fmt.Fprintf(w, "\nplot: %s\n", o.Out)
	return report.WritePlots(o.Out)
}

func (o Options) check() error {
	switch {
	case o.Devices < 1:
		return fmt.Errorf("-devices %d: give at least 1", o.Devices)
	case o.Rounds < 1:
		return fmt.Errorf("-rounds %d: give at least 1", o.Rounds)
	case o.Out != "" && filepath.Ext(o.Out) != ".svg":
		return fmt.Errorf("-out %s: name a file that ends in .svg, or none", o.Out)
	}
	return nil
}
