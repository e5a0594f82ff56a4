// Command late compares what late work and asynchronous rounds give on simulated flaky phones, in
// accuracy at equal hours: see package testing/fleet/day. Every plan has the same phones, which
// come, go and lose their radio at the same moments.
//
//	go -C testing run ./cmd/late
//	go -C testing run ./cmd/late --devices 40 --length 1h --seeds 2
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/fleet/day"
)

func main() {
	day.Main(func(t *testing.T, args []string) error { return run(t, args, os.Stdout) })
}

// A fleet is the phones of a part of the table.
type fleet struct {
	name   string
	phones func() *day.Fleet
	plans  []string // settings over day.NewPlan
}

var fleets = []fleet{
	{"slow phones hold other digits", day.Phones, []string{
		"step=0.02", "step=0.02 late=8", "step=0.02 late=8 async=on",
		"step=0.1", "step=0.1 late=8", "step=0.1 late=8 async=on",
		"step=0.3", "step=0.3 late=8", "step=0.3 late=8 async=on",
		"step=1", "step=1 late=8", "step=1 late=8 async=on",
		"step=0.1 over_sample=4", "step=0.1 over_sample=4 late=8",
		"step=0.1 over_sample=4 late=8 async=on",
	}},
	{"all phones alike", alike, []string{
		"step=0.1", "step=0.1 late=8", "step=0.1 late=8 async=on",
	}},
}

// alike is a fleet in which no phone is slower than another, and speed says nothing of data.
func alike() *day.Fleet {
	f := day.Phones()
	f.Work.Sigma, f.Latency.Sigma, f.Biased = 0, 0, false
	return f
}

func run(t *testing.T, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("late", flag.ContinueOnError)
	devices := flags.Int("devices", 100, "phones")
	seeds := flags.Int("seeds", 3, "fleets of each kind, of seeds 1, 2, ...")
	length := flags.Duration("length", 3*time.Hour, "virtual time, from midnight")
	only := flags.String("only", "", "only plans whose settings contain this `text`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	fmt.Fprintf(out, "| phones | plan | rounds | counted | kB received by a phone | accuracy "+
		"after a third | at the end, by seed | mean |\n|---|---|---|---|---|---|---|---|\n")
	for _, f := range fleets {
		for _, settings := range f.plans {
			if !strings.Contains(settings, *only) {
				continue
			}
			r := row{devices: *devices}
			for seed := range *seeds {
				h, err := simulate(t, f, settings, uint64(seed+1), *devices, *length)
				if err != nil {
					return err
				}
				r.add(h)
			}
			fmt.Fprintf(out, "| %s | `%s` | %s |\n", f.name, settings, r.text())
		}
	}
	return nil
}

func simulate(t *testing.T, f fleet, settings string, seed uint64, devices int,
	length time.Duration) (*day.History, error) {
	plan, err := day.NewPlan(seed, devices)
	if err != nil {
		return nil, err
	}
	plan.Diverge = 0 // a plan that diverges stays in the table
	for _, s := range strings.Fields(settings) {
		name, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(plan, name, value); err != nil {
			return nil, err
		}
	}
	if err := plancheck.Validate(plan); err != nil {
		return nil, err
	}
	h, err := day.Simulate(t, day.Config{Seed: seed, Devices: devices, Length: length,
		Every: length / 3, Plan: plan, Fleet: f.phones()})
	if err == nil && len(h.Differ)+len(h.Faults) > 0 {
		err = fmt.Errorf("%s, seed %d: %d states differ, %d faults, the first of them %q", settings,
			seed, len(h.Differ), len(h.Faults), slices.Concat(h.Faults, []string{""})[0])
	}
	return h, err
}

// A row sums up the same plan on several fleets.
type row struct {
	devices           int
	rounds, counted   uint64
	received          uint64
	third, accuracies []float64
}

func (r *row) add(h *day.History) {
	r.rounds += h.Total.Rounds
	r.counted += h.Total.Counted
	r.received += h.Total.ReceivedBytes
	r.third = append(r.third, h.Hours[0].Accuracy)
	r.accuracies = append(r.accuracies, h.Total.Accuracy)
}

func (r *row) text() string {
	n := uint64(len(r.accuracies))
	return fmt.Sprintf("%d | %d | %d | %.1f%% | %s | %.1f%%", r.rounds/n, r.counted/n,
		r.received/n/uint64(r.devices)/1000, percent(mean(r.third)), list(r.accuracies),
		percent(mean(r.accuracies)))
}

func percent(v float64) float64 { return 100 * v }

func mean(v []float64) (sum float64) {
	for _, a := range v {
		sum += a
	}
	return sum / float64(len(v))
}

func list(v []float64) string {
	var texts []string
	for _, a := range v {
		texts = append(texts, fmt.Sprintf("%.1f", percent(a)))
	}
	return strings.Join(texts, ", ")
}
