// Command day simulates a day of flaky phones and prints its history, an hour a line: see
// package testing/fleet/day.
//
//	go -C testing run ./cmd/day
//	go -C testing run ./cmd/day --devices 60 --length 2h --every 10m --json
//
// Runs with the same seed have the same phones, which come, go and lose their radio at the same
// moments, whatever the plan. So the command compares plans, such as plans with late work, at equal
// hours.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/fleet/day"
)

func main() {
	day.Main(func(t *testing.T, args []string) error { return run(t, args, os.Stdout) })
}

func run(t *testing.T, args []string, out io.Writer) error {
	cfg := day.Config{}
	var set []string
	flags := flag.NewFlagSet("day", flag.ContinueOnError)
	flags.Uint64Var(&cfg.Seed, "seed", 1, "of the phones and all that happens to them")
	flags.IntVar(&cfg.Devices, "devices", 500, "phones")
	flags.DurationVar(&cfg.Length, "length", 24*time.Hour, "virtual time, from midnight")
	flags.DurationVar(&cfg.Every, "every", time.Hour, "virtual time of a line")
	flags.Func("set", "`field=value` of the plan; may be repeated", func(v string) error {
		set = append(set, v)
		return nil
	})
	alike := flags.Bool("alike", false,
		"no phone is slower than another, and speed says nothing of data")
	asJSON := flags.Bool("json", false, "print the history as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	plan, err := day.NewPlan(cfg.Seed, cfg.Devices)
	if err != nil {
		return err
	}
	if _, err := planfile.SetAll(plan, set); err != nil {
		return err
	}
	if err := plancheck.Validate(plan); err != nil {
		return err
	}
	cfg.Plan = plan
	if *alike {
		cfg.Fleet = day.Phones()
		cfg.Fleet.Work.Sigma, cfg.Fleet.Latency.Sigma, cfg.Fleet.Biased = 0, 0, false
	}
	began := time.Now()
	h, err := day.Simulate(t, cfg)
	if err != nil {
		return err
	}
	if *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(h)
	}
	print(out, h)
	_, err = fmt.Fprintf(out, "%v of wall time\n", time.Since(began).Round(100*time.Millisecond))
	return err
}

// print writes a history as a table.
func print(out io.Writer, h *day.History) {
	fmt.Fprintf(out, "%8s %7s %6s %8s %7s %8s %5s %9s %8s %8s %6s %8s\n", "end", "present",
		"rounds", "attempts", "counted", "declines", "late", "duplicate", "sent kB", "recv kB",
		"loss", "accuracy")
	line := func(name string, x *day.Hour) {
		fmt.Fprintf(out, "%8s %7.1f %6d %8d %7d %8d %5d %9d %8d %8d %6.3f %7.1f%%\n", name,
			x.Present, x.Rounds, x.Attempts, x.Counted, x.Declines, x.Late, x.Duplicates,
			x.SentBytes/1000, x.ReceivedBytes/1000, x.Loss, 100*x.Accuracy)
	}
	for i := range h.Hours {
		line(clock(h.Hours[i].End), &h.Hours[i])
	}
	line("all", &h.Total)
	fmt.Fprintf(out, "%d replies reached the coordinator, %d messages were lost on the way\n",
		h.Arrived, h.Lost)
	fmt.Fprintf(out, "%d states of phones compared with the log's, %d differ\n", h.States,
		len(h.Differ))
	fmt.Fprintf(out, "%d pauses, %v in all; at the end the run is %v %s\n", h.Pauses, h.PausedFor,
		h.FinalState, h.FinalReason)
	for _, f := range h.Faults {
		fmt.Fprintln(out, f)
	}
}

// clock writes a time of the day.
func clock(at time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(at.Hours()), int(at.Minutes())%60)
}
