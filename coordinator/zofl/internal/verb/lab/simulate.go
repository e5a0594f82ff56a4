package lab

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
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/losses"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/simulate"
	"github.com/zofl/zofl/plan"
)

// simulateFlags are the flags of `zofl simulate`.
type simulateFlags struct {
	losses.Source
	out, models     string
	force, asJSON   bool
	initial         modelfile.Choice
	rounds, queries uint64
	every           uint32
	seeds           int
	best            cli.BestFlags
	sweep           []string

	axes []simulate.Axis
}

// Simulate is `zofl simulate`.
func Simulate() *cobra.Command {
	f := simulateFlags{Source: losses.Source{Data: demo.Defaults()}}
	cmd := &cobra.Command{
		Use:   "simulate PLAN [-- COMMAND [ARGUMENT...]]",
		Short: "Run a plan on devices in this process, with several settings and seeds",
		Long: `Leads the plan in the file PLAN on devices in this process, with the code of real
coordinators and devices. --sweep tries each value of a field, --seeds several seeds of
each. A seed draws all that is random. --out keeps plots, tables, event files for
TensorBoard and plans in a directory.

The loss is built in, or that of a program in any language: docs/exec.md has the protocol.`,
		Example: `  zofl plan --run kitchen --dim 7850 --set rounds=200 --write kitchen.json
  zofl simulate kitchen.json --devices 50 --every 20 --out results
  zofl simulate kitchen.json --sweep step=1e-3,1e-2 --sweep perturbations=5,20 --seeds 3 \
    --out sweep
  zofl simulate kitchen.json --out results -- python3 loss.py`,
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
	flags.StringArrayVar(&f.sweep, "sweep", nil,
		"a field and its values, FIELD=VALUE,VALUE; repeatable")
	flags.IntVar(&f.seeds, "seeds", 1, "how many seeds to run each setting with")
	flags.Uint64Var(&f.Data.Seed, "seed", f.Data.Seed, "the first of the seeds")
	flags.IntVar(&f.Data.Clients, "devices", 0, "number of devices; 0: the plan's members")
	flags.Uint64Var(&f.rounds, "rounds", 0, "rounds of each run; 0: the plan's")
	flags.Uint32Var(&f.every, "every", 0, "records between evaluations; 0: the plan's eval_every")
	flags.Uint64Var(&f.queries, "queries", 0, "most loss evaluations of all devices of a run; 0: any")
	flags.StringVar(&f.models, "models", "", "store the model of each run here, as RUN.npy")
	f.best.Flags(cmd)
	f.Source.Flags(cmd)
	f.initial.Flags(cmd)
	flags.BoolVar(&f.asJSON, "json", false, "print a line of JSON for each round, in place of a table")
	return cmd
}

// plan checks the flags, reads the file with the plan, and returns the plan with the changes that
// the flags ask for.
func (f *simulateFlags) plan(cmd *cobra.Command, args []string) (*plan.Plan, error) {
	args, err := f.Source.Split(cmd, args)
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, cli.Usage(fmt.Errorf("%d files: name one plan; zofl plan --write makes it",
			len(args)))
	}
	if f.seeds < 1 {
		return nil, cli.Usage(fmt.Errorf("--seeds %d: give 1 or more", f.seeds))
	}
	if f.Objective != "digits" {
		if err := cli.Useless(cmd, "the loss "+f.Objective+" has no metrics", "every"); err != nil {
			return nil, err
		}
	}
	if f.out == "" {
		if err := cli.Useless(cmd, "there is no --out to replace", "force"); err != nil {
			return nil, err
		}
	} else if err := simulate.CheckDir(f.out, f.force); err != nil {
		return nil, cli.NewFileFault("--out", f.out, err)
	}
	if err := f.readAxes(cmd); err != nil {
		return nil, cli.Usage(fmt.Errorf("--sweep: %w", err))
	}
	p, err := cli.ReadPlan(cmd.Context(), args[0])
	if err != nil {
		return nil, err
	}
	if f.Data.Clients < 0 || f.Data.Clients > plan.MaxMembers {
		return nil, cli.Usage(fmt.Errorf("--devices %d: give 1 to %d, or 0 for the plan's members",
			f.Data.Clients, plan.MaxMembers))
	}
	return p, cli.AsUsage(f.shaped(p))
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
		if flag != "" && len(cli.Given(cmd, flag)) > 0 {
			return fmt.Errorf("%s is what --%s sets: give only one of both", a.Field, flag)
		}
		f.axes = append(f.axes, a)
	}
	return nil
}

// digits reports whether the flags choose the loss of digits. That loss has metrics.
func (f *simulateFlags) digits() bool { return !f.External() && f.Objective == "digits" }

// shaped makes the changes that flags ask for.
func (f *simulateFlags) shaped(p *plan.Plan) error {
	if f.Data.Clients > 0 {
		p.Members = uint32(f.Data.Clients)
	}
	if f.rounds > 0 {
		p.Rounds = f.rounds
	}
	if f.every > 0 {
		p.EvalEvery, p.EvalCount = f.every, max(p.EvalCount, 1)
	}
	best := f.best.Settings()
	if f.digits() && len(p.Metrics) == 0 && (p.EvalEvery > 0 || len(best) > 0) {
		p.Metrics = demo.Metrics()
	}
	return f.best.Set(p)
}

// simulate leads the runs, and shows them.
func (f *simulateFlags) simulate(cmd *cobra.Command, p *plan.Plan) error {
	c := &simulate.Config{Plan: p, Axes: f.axes, Devices: f.devices(), Queries: f.queries,
		Checked: f.Asked.Stdio} // the Python package compares gradients itself
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, f.Data.Seed+uint64(i))
	}
	var err error
	if c.Initial, err = f.initial.ReadFinite(); err != nil {
		return err
	}
	ctx, stop, err := f.Source.Start(cmd, p.Dim)
	if err != nil {
		return err
	}
	defer stop()
	c.Ready = f.Ready
	runs, err := simulate.Runs(c)
	if err != nil {
		return cli.Usage(err)
	}
	var dir *simulate.Dir
	if f.out != "" {
		if dir, err = simulate.NewDir(f.out, f.axes, metricsOf(runs)); err != nil {
			return cli.NewFileFault("--out", f.out, err)
		}
		c.Sinks = append(c.Sinks, dir)
	}
	if f.models != "" {
		models := simulate.Models(f.models)
		if err := models.Make(runs); err != nil {
			return cli.NewFileFault("--models", f.models, err)
		}
		c.Sinks = append(c.Sinks, models)
	}
	if follow := f.Follower(); follow != nil {
		c.Sinks = append(c.Sinks, simulate.NewTold(ctx, follow))
	} else if f.asJSON {
		c.Sinks = append(c.Sinks, simulate.NewLines(cmd.OutOrStdout()))
	}
	progress := newRunsBar(os.Stderr, runs)
	if !f.asJSON || !f.Asked.Stdio { // else the lines of JSON go to the same output
		c.Sinks = append(c.Sinks, progress)
	}
	err = asFlag(simulate.Lead(ctx, c, runs))
	progress.Finish()
	if dir != nil {
		err = errors.Join(err, dir.Close(runs))
	}
	return errors.Join(err, f.show(cmd.OutOrStdout(), runs, err), verdictOfRuns(runs, err))
}

// measures returns an error if the plan asks for metrics and the loss program computes none.
func (f *simulateFlags) measures(p *plan.Plan, o clientobjective.Objective) error {
	if p.EvalEvery == 0 || !f.External() {
		return nil
	}
	_, evaluates := o.(clientobjective.Evaluator)
	switch {
	case f.every > 0 && !evaluates:
		return fmt.Errorf("--every %d: the program did not say evaluate=1 in its hello: "+
			"have it answer evaluate, or leave out --every", f.every)
	case evaluates && len(p.Metrics) == 0:
		return fmt.Errorf("eval_every is %d and the plan names no metrics: name what the "+
			"program answers to evaluate, with zofl plan --set 'metrics=[\"accuracy\"]'", p.EvalEvery)
	}
	return nil
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

// devices returns a function that makes the losses of a run. It keeps the losses of the last run,
// because the next run may need the same ones.
func (f *simulateFlags) devices() func(*plan.Plan, uint64) ([]clientobjective.Objective, error) {
	type key struct {
		dim, seed uint64
		members   uint32
	}
	var last key
	var list []clientobjective.Objective
	return func(p *plan.Plan, seed uint64) ([]clientobjective.Objective, error) {
		if now := (key{p.Dim, seed, p.Members}); list == nil || now != last {
			made, err := f.Losses(p, int(p.Members), seed)
			if err != nil {
				return nil, err
			}
			list, last = made, now
		}
		f.Plan(p)
		if f.digits() && p.EvalEvery > 0 && !slices.Equal(p.Metrics, demo.Metrics()) {
			return nil, &plan.Error{Field: "metrics", Value: p.Metrics,
				Remedy: fmt.Sprintf("digits have the metrics %q, in this order: make the plan with "+
					`--set 'metrics=["loss","accuracy"]'`, demo.Metrics())}
		}
		if err := f.measures(p, list[0]); err != nil {
			return nil, err
		}
		return list, haveClasses(p, list)
	}
}

// show prints how the runs ended. With --json it prints one last line of JSON instead. failed is
// the reason why Lead did not lead all runs, or nil.
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

// verdictOfRuns returns an error if Lead led all runs and none of them came to its end.
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
