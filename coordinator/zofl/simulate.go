package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	clientobjective "github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/simulate"
	"github.com/zofl/zofl/wire"
)

// simulateFlags are the flags of `zofl simulate`.
type simulateFlags struct {
	out, objective string
	force, asJSON  bool
	initial        initialChoice
	rounds         uint64
	every          uint32
	seeds          int
	sweep          []string
	data           demo.Config // devices, data, split and the first seed

	axes []simulate.Axis
}

func simulateCommand() *cobra.Command {
	f := simulateFlags{data: demo.Defaults()}
	cmd := &cobra.Command{
		Use:   "simulate PLAN",
		Short: "Run a plan on devices in this process, with several settings and seeds",
		Long: `Leads the plan in the file PLAN on devices in this process, with the code of real
coordinators and devices, over a network in memory. With --sweep it does so with each value
of a field, and with --seeds for several seeds each. It prints how each setting ended.

With --out it keeps the history of each run in a directory: runs.csv, history.csv,
history.jsonl, event files for TensorBoard, plots, and the plan of each run. Ctrl-C ends the
run in progress and keeps what was done.

A seed draws the run key, and with that all directions, minibatches and seeded first
parameters; with --objective digits also the digits and their shares. So runs of one seed
differ by their settings only.`,
		Example: `  zofl plan --run kitchen --dim 7850 --set rounds=200 --write kitchen.json
  zofl simulate kitchen.json --devices 50 --every 20 --out results
  zofl simulate kitchen.json --sweep step=1e-3,1e-2 --sweep perturbations=5,20 --seeds 3 \
    --out sweep`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.plan(cmd, args)
			if err != nil {
				return err
			}
			return f.simulate(cmd, p)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "keep all histories in this directory")
	flags.BoolVar(&f.force, "force", false, "replace the results of an earlier simulation in --out")
	flags.StringArrayVar(&f.sweep, "sweep", nil, "a field and its values, FIELD=VALUE,VALUE; "+
		"repeatable: all combinations are run")
	flags.IntVar(&f.seeds, "seeds", 1, "how many seeds to run each setting with")
	flags.Uint64Var(&f.data.Seed, "seed", f.data.Seed, "the first of the seeds")
	flags.IntVar(&f.data.Clients, "devices", 0, "number of devices; 0: the plan's members")
	flags.Uint64Var(&f.rounds, "rounds", 0, "rounds of each run; 0: the plan's")
	flags.Uint32Var(&f.every, "every", 0, "measure the metrics after every so many records, "+
		"mostly rounds, and after the last: eval_every; 0: as the plan says")
	flags.StringVar(&f.objective, "objective", "digits", "the loss: "+objective.Names())
	flags.StringVar(&f.data.Data, "data", "",
		"directory of the four MNIST files (IDX, gzipped or not); default: drawn digits")
	flags.StringVar(&f.data.Split, "split", f.data.Split,
		"how digits are shared out: iid, shards or dirichlet")
	f.initial.flags(cmd)
	flags.BoolVar(&f.asJSON, "json", false, "print a line of JSON for each round, in place of a table")
	return cmd
}

// plan checks the flags, and returns the plan that they make of the file.
func (f *simulateFlags) plan(cmd *cobra.Command, args []string) (*wire.Plan, error) {
	if len(args) != 1 {
		return nil, usageError{fmt.Errorf("%d files: name one plan; zofl plan --write makes it",
			len(args))}
	}
	if f.seeds < 1 {
		return nil, usageError{fmt.Errorf("--seeds %d: give 1 or more", f.seeds)}
	}
	if f.objective != "digits" {
		if err := useless(cmd, "only --objective digits has data", "data", "split"); err != nil {
			return nil, err
		}
		if err := useless(cmd, "the loss "+f.objective+" has no metrics", "every"); err != nil {
			return nil, err
		}
	}
	if f.out == "" {
		if err := useless(cmd, "there is no --out to replace", "force"); err != nil {
			return nil, err
		}
	} else if err := simulate.CheckDir(f.out, f.force); err != nil {
		return nil, usageError{fmt.Errorf("--out: %w", err)}
	}
	if err := f.readAxes(cmd); err != nil {
		return nil, usageError{fmt.Errorf("--sweep: %w", err)}
	}
	p, err := readPlanFile(args[0])
	if err != nil {
		return nil, err
	}
	if f.data.Clients < 0 || f.data.Clients > wire.MaxMembers {
		return nil, usageError{fmt.Errorf("--devices %d: give 1 to %d, or 0 for the plan's members",
			f.data.Clients, wire.MaxMembers)}
	}
	return f.shaped(cmd, p), nil
}

// readAxes reads the fields to sweep.
func (f *simulateFlags) readAxes(cmd *cobra.Command) error {
	for _, text := range f.sweep {
		a, err := simulate.ParseAxis(text)
		if err != nil {
			return err
		}
		for _, other := range f.axes {
			if other.Field == a.Field {
				return fmt.Errorf("%s is there twice: give all its values at once", a.Field)
			}
		}
		flag := map[string]string{"members": "devices", "rounds": "rounds",
			"eval_every": "every"}[a.Field]
		if flag != "" && len(given(cmd, flag)) > 0 {
			return fmt.Errorf("%s is what --%s sets: give only one of both", a.Field, flag)
		}
		f.axes = append(f.axes, a)
	}
	return nil
}

// shaped returns the plan with what flags say.
func (f *simulateFlags) shaped(cmd *cobra.Command, p *wire.Plan) *wire.Plan {
	if f.data.Clients > 0 {
		p.Members = uint32(f.data.Clients)
	}
	if f.rounds > 0 {
		p.Rounds = f.rounds
	}
	if f.every > 0 {
		p.EvalEvery, p.EvalCount = f.every, max(p.EvalCount, 1)
	}
	if f.objective == "digits" && len(p.Metrics) == 0 && p.EvalEvery > 0 {
		p.Metrics = demo.Metrics()
	}
	return p
}

// simulate leads the runs, and shows them.
func (f *simulateFlags) simulate(cmd *cobra.Command, p *wire.Plan) error {
	c := &simulate.Config{Plan: p, Axes: f.axes, Devices: f.devices()}
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, f.data.Seed+uint64(i))
	}
	var err error
	if c.Initial, err = f.initial.read(); err != nil {
		return err
	}
	runs, err := simulate.Runs(c)
	if err != nil {
		return usageError{err}
	}
	var dir *simulate.Dir
	if f.out != "" {
		if dir, err = simulate.NewDir(f.out, f.axes, metricsOf(runs)); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		c.Sinks = append(c.Sinks, dir)
	}
	if f.asJSON {
		c.Sinks = append(c.Sinks, simulate.NewLines(cmd.OutOrStdout()))
	}
	progress := newRunsBar(os.Stderr, runs)
	c.Sinks = append(c.Sinks, progress)
	err = simulate.Lead(cmd.Context(), c, runs)
	progress.finish()
	if dir != nil {
		err = errors.Join(err, dir.Close(runs))
	}
	return errors.Join(err, f.show(cmd.OutOrStdout(), runs, err), verdictOfRuns(runs, err))
}

// metricsOf returns the names of all metrics of runs.
func metricsOf(runs []*simulate.Run) (names []string) {
	for _, r := range runs {
		for _, name := range r.Plan.Metrics {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// devices returns what makes the losses of a run. Those of the last run are kept: the next may have
// the same.
func (f *simulateFlags) devices() func(*wire.Plan, uint64) ([]clientobjective.Objective, error) {
	type key struct {
		dim, seed uint64
		members   uint32
	}
	var last key
	var list []clientobjective.Objective
	return func(p *wire.Plan, seed uint64) ([]clientobjective.Objective, error) {
		if now := (key{p.Dim, seed, p.Members}); list == nil || now != last {
			made, err := f.losses(p, seed)
			if err != nil {
				return nil, err
			}
			list, last = made, now
		}
		if f.objective == "digits" && p.EvalEvery > 0 && !slices.Equal(p.Metrics, demo.Metrics()) {
			return nil, &wire.PlanError{Field: "metrics", Value: p.Metrics,
				Remedy: fmt.Sprintf("digits have the metrics %q, in this order", demo.Metrics())}
		}
		return list, haveClasses(p, list)
	}
}

// losses returns the losses of the devices of a run.
func (f *simulateFlags) losses(p *wire.Plan, seed uint64) (list []clientobjective.Objective,
	err error) {
	data := f.data
	data.Clients, data.Seed = int(p.Members), seed
	if f.objective == "digits" {
		return demo.Losses(data, p.Dim)
	}
	return builtIn(f.objective, data.Clients, p.Dim)
}

// show prints how the runs ended, unless that went out in lines of JSON. failed is why not all runs
// were led.
func (f *simulateFlags) show(out io.Writer, runs []*simulate.Run, failed error) error {
	best := simulate.Best(runs)
	plan := ""
	if best != nil && f.out != "" {
		plan = simulate.PlanName(f.out, best)
	}
	if !f.asJSON {
		printRuns(out, f.axes, runs)
		if best != nil && len(simulate.Groups(runs)) > 1 {
			fmt.Fprintf(out, "\nThe lowest loss at the end is that of %s.\n", best.Label())
		}
		if f.out != "" {
			fmt.Fprintf(out, "\nThe histories are in %s; tensorboard --logdir %s shows them too.\n",
				f.out, f.out)
		}
		return nil
	}
	line := struct {
		Event string `json:"event"`
		Runs  int    `json:"runs"` // that came to their end
		Of    int    `json:"of"`
		Out   string `json:"out,omitempty"`
		Best  string `json:"best,omitempty"` // the run of the first seed with the best settings
		Plan  string `json:"plan,omitempty"` // its file
		Error string `json:"error,omitempty"`
	}{Event: "done", Of: len(runs), Out: f.out, Plan: plan}
	for _, r := range runs {
		if r.Outcome.Done() {
			line.Runs++
		}
	}
	if best != nil {
		line.Best = best.Name
	}
	if failed != nil {
		line.Error = failed.Error()
	}
	return json.NewEncoder(out).Encode(line)
}

// verdictOfRuns returns an error if all runs were led and none came to its end.
func verdictOfRuns(runs []*simulate.Run, failed error) error {
	last := error(nil)
	for _, r := range runs {
		if r.Outcome.Done() {
			return nil
		}
		last = r.Outcome.Err
	}
	if failed != nil || errors.Is(last, context.Canceled) {
		return nil
	}
	return fmt.Errorf("no run came to its end: %w", last)
}
