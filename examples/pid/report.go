package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A Report has the results of the methods on the same plates.
type Report struct {
	Plates []Plate
	Runs   []Run
}

// A Run is the result of one method.
type Run struct {
	Name    string
	Outcome *Outcome
	Losses  []float64 // of the fleet after round 0, 1, ...
	Final   Gains
}

func (r *Report) add(name string, o *Outcome) error {
	losses, err := o.Losses(r.Plates)
	if err != nil {
		return err
	}
	final, err := o.Final()
	if err != nil {
		return err
	}
	r.Runs = append(r.Runs, Run{name, o, losses, final})
	return nil
}

// Print writes the losses against the experiments, the costs, and the gains.
func (r *Report) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, run := range r.Runs {
		o := run.Outcome
		fmt.Fprintf(w, "%s, %d devices: mean loss of the fleet, in K\n", run.Name, len(r.Plates))
		fmt.Fprintln(t, "round\texperiments\tloss\tworst device\t")
		for i, p := range o.Points {
			g, err := GainsOf(p.X)
			if err != nil {
				panic("pid: internal error: " + err.Error()) // Losses converted the same points before
			}
			fmt.Fprintf(t, "%d\t%d\t%.2f\t%.2f\t\n", p.Round, p.Round*o.PerRound, run.Losses[i], r.worst(g))
		}
		t.Flush()
		fmt.Fprintf(w, "a device: %d experiments, %.0f bytes up and %.0f down a round; all "+
			"models %x; %.1f s\n\n",
			o.Experiments, o.Up, o.Down, o.Digests[0][:8], o.Seconds)
	}
	r.printGains(w)
}

// worst returns the largest loss of any device.
func (r *Report) worst(g Gains) (worst float64) {
	for i := range r.Plates {
		worst = max(worst, FleetLoss(r.Plates[i:i+1], g))
	}
	return worst
}

// printGains prints a row of gains for each knob.
func (r *Report) printGains(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	start := SIMC(Nominal)
	fmt.Fprint(t, "gain\tSIMC\t")
	for _, run := range r.Runs {
		fmt.Fprintf(t, "%s\t", run.Name)
	}
	fmt.Fprintln(t)
	for _, k := range knobs {
		fmt.Fprintf(t, "%s\t%.3g\t", k.name, *k.of(&start))
		for _, run := range r.Runs {
			fmt.Fprintf(t, "%.3g\t", *k.of(&run.Final))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
