// Command pid tunes the controllers of a fleet of hot plates by experiments alone.
//
// Every device has a plate of its own, a little different from all others, and one
// set of gains is to suit them all. A device can run an experiment (heat up, take a
// cold pot) and say how well it went, and nothing else: a black box with seven knobs,
// ten minutes for each answer. FZooS and FedZO tune them over NATS from what the
// rules of the trade say of the data sheet's plate, and the program shows both.
//
// Everything but the plates is what a fleet in the field would run; see README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Options are the flags.
type Options struct {
	Devices int
	Rounds  uint64 // of FZooS; FedZO has as many experiments
	Seed    uint64
	Out     string // file of the plot, empty: none
}

func main() {
	var o Options
	flag.IntVar(&o.Devices, "devices", 10, "hot plates")
	flag.Uint64Var(&o.Rounds, "rounds", 12, "rounds of FZooS; FedZO has as many experiments")
	flag.Uint64Var(&o.Seed, "seed", 1, "of the plates, their readings, and all that is drawn")
	flag.StringVar(&o.Out, "out", "pid.png", "file of the plot, .png or .svg; empty: none")
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
		if experiments == 0 { // the first method, which the others have to keep to
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
	return report.WritePlot(o.Out)
}

func (o Options) check() error {
	switch {
	case o.Devices < 1:
		return fmt.Errorf("-devices %d: give at least 1", o.Devices)
	case o.Rounds < 1:
		return fmt.Errorf("-rounds %d: give at least 1", o.Rounds)
	case o.Out != "" && format(o.Out) == "":
		return fmt.Errorf("-out %s: name a file that ends in .png or .svg, or none", o.Out)
	}
	return nil
}
