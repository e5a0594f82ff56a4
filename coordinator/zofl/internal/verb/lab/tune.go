package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	clientobjective "github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/losses"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
)

// tuneFlags are the flags of `zofl tune`.
type tuneFlags struct {
	losses.Source
	out, plot       string
	model           string
	initial         modelfile.Choice
	force, asJSON   bool
	queries, rounds uint64
	fields          []string
	live            tuneLive
}

// Tune is `zofl tune`.
func Tune() *cobra.Command {
	f := tuneFlags{Source: losses.Source{Data: demo.Defaults()}}
	cmd := &cobra.Command{
		Use:   "tune PLAN [-- COMMAND [ARGUMENT...]]",
		Short: "Find mu, the step, P and the batch of a plan, or the step of a run",
		Long: `Tries mu, the step, P and the batch of the plan in the file PLAN on devices in this
process. It says what it tried and why it chose. --out stores the tuned plan.

The loss is built in, or that of a program in any language: docs/exec.md has the protocol. With
--run in place of PLAN it tunes the step of a run in progress, on its own devices. The run goes on
from the trial that ended lowest; every other one is rolled back.`,
		Example: `  zofl plan --run kitchen --dim 7850 --write kitchen.json
  zofl tune kitchen.json --queries 20000 --out tuned.json --plot tuned.svg
  zofl tune --run kitchen --url nats://127.0.0.1:4222 --rounds 50`,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.check(cmd, args)
			if err != nil {
				return err
			}
			if f.live.run != "" {
				return f.tuneRun(cmd)
			}
			return f.tune(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "store the tuned plan in this file")
	flags.BoolVar(&f.force, "force", false, "replace the files of --out and --plot")
	flags.StringVar(&f.plot, "plot", "", "store a plot of the losses by step in this file, an SVG")
	flags.StringVar(&f.model, "model", "", "store the model of the best trial here, .f32 or .npy")
	flags.Uint64Var(&f.queries, "queries", 0,
		"most loss evaluations of all devices; 0: those of some 400 rounds")
	flags.Uint64Var(&f.rounds, "rounds", 50, "rounds of a long trial; with --run of each trial")
	flags.StringSliceVar(&f.fields, "fields", tune.Fields(), "what to tune")
	f.Source.Flags(cmd)
	flags.IntVar(&f.Data.Clients, "devices", 0, "number of devices; 0: the plan's members")
	flags.Uint64Var(&f.Data.Seed, "seed", f.Data.Seed,
		"seed of the digits, of their shares and of the directions")
	f.initial.Flags(cmd)
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object instead of tables")
	f.live.flags(cmd)
	return cmd
}

// check returns an error if the command would ignore a flag or could not store the result.
// Otherwise it returns the arguments without the loss program.
func (f *tuneFlags) check(cmd *cobra.Command, args []string) ([]string, error) {
	if f.plot != "" && !strings.EqualFold(filepath.Ext(f.plot), ".svg") {
		return nil, cli.Usage(fmt.Errorf("--plot %s: name a file that ends in .svg", f.plot))
	}
	if err := checkNew("--plot", f.plot, f.force); err != nil {
		return nil, err
	}
	if f.model != "" {
		if err := vector.CheckName(f.model); err != nil {
			return nil, cli.Usage(fmt.Errorf("--model: %w", err))
		}
		if err := checkNew("--model", f.model, false); err != nil {
			return nil, err
		}
	}
	if f.live.run != "" {
		return nil, f.live.check(cmd, args)
	}
	if err := cli.Useless(cmd, "a plan in a file has no run: give --run", live...); err != nil {
		return nil, err
	}
	args, err := f.Source.Split(cmd, args)
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, cli.Usage(fmt.Errorf("%d files: name one plan; zofl plan --write makes it",
			len(args)))
	}
	if f.out == "" && f.plot == "" {
		return args, cli.Useless(cmd, "there is no --out or --plot to replace", "force")
	}
	return args, checkNew("--out", f.out, f.force)
}

// tune tunes the plan in a file.
func (f *tuneFlags) tune(cmd *cobra.Command, name string) error {
	p, err := cli.ReadPlan(cmd.Context(), name)
	if err != nil {
		return err
	}
	c := tune.Config{Plan: p, Queries: f.queries, Rounds: f.rounds, Fields: f.fields,
		Seed: f.Data.Seed, Checked: f.Asked.Stdio}
	if c.Initial, err = f.initial.ReadFinite(); err != nil {
		return err
	}
	ctx, stop, err := f.Source.Start(cmd, p.Dim)
	if err != nil {
		return err
	}
	defer stop()
	if c.Devices, err = f.devices(p); err == nil {
		err = haveClasses(p, c.Devices)
	}
	if err != nil {
		return cli.AsUsage(err)
	}
	if f.queries == 0 {
		c.Queries = tune.Budget(p, len(c.Devices))
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	bar := terminal.NewBar(os.Stderr, "query", c.Queries)
	c.Progress = f.follow(ctx, end, bar, c.Queries)
	r, err := tune.Run(ctx, c)
	bar.Finish()
	if errors.Is(err, fleet.ErrStop) {
		r.Reasons = append(r.Reasons, "The program ended the search: the rest was not tried.")
		err = nil
	}
	if err != nil {
		if r != nil && len(r.Trials) > 0 && !f.asJSON {
			printTrials(cmd.OutOrStdout(), r)
		}
		return cli.AsUsage(asFlag(err))
	}
	if err := f.storePlot(r); err != nil {
		return err
	}
	if f.model != "" && r.Params != nil {
		if err := vector.Write(f.model, r.Params); err != nil {
			return cli.FileFault("--model", f.model, err)
		}
	}
	if f.out != "" {
		if err := replacePlan(f.out, r.Plan, f.force); err != nil {
			return err
		}
	}
	if f.asJSON {
		return f.encode(cmd.OutOrStdout(), r, c.Queries)
	}
	printTuned(cmd.OutOrStdout(), r, c.Queries)
	f.next(cmd.OutOrStdout(), name, p, r)
	return nil
}

// devices returns the losses to tune on.
func (f *tuneFlags) devices(p *plan.Plan) ([]clientobjective.Objective, error) {
	f.Data.Clients = cmp.Or(f.Data.Clients, int(p.Members))
	if f.Data.Clients < 0 {
		return nil, cli.Usage(fmt.Errorf("--devices %d: give 1 or more", f.Data.Clients))
	}
	return f.Losses(p, f.Data.Clients, f.Data.Seed)
}

// haveClasses says why devices cannot train by the plan's classes.
func haveClasses(p *plan.Plan, devices []clientobjective.Objective) error {
	for _, o := range devices {
		has := 0
		if classed, ok := o.(clientobjective.Classed); ok {
			has = len(classed.ClassCounts())
		}
		remedy := fmt.Sprintf("these losses have %d classes: set classes=%d or classes=0", has, has)
		if has == 0 {
			remedy = "these losses are not told by class, as objectives in Go may be: set classes=0"
		}
		if p.Classes > 0 && has != int(p.Classes) {
			return &plan.Error{Field: "classes", Value: p.Classes, Remedy: remedy}
		}
	}
	return nil
}

// next prints which file has the tuned plan, or how to write one.
func (f *tuneFlags) next(out io.Writer, name string, p *plan.Plan, r *tune.Result) {
	settings := changes(p, r.Plan)
	switch {
	case f.out != "":
		fmt.Fprintf(out, "\nThe tuned plan is in %s.\n", f.out)
	case len(settings) == 0:
		fmt.Fprintf(out, "\nThe plan stays as it is.\n")
	default:
		fmt.Fprintf(out, "\nTo store the tuned plan:\n  zofl plan %s --set %s --write tuned.json\n",
			name, strings.Join(settings, " --set "))
	}
}

// changes returns the fields that differ, as field=value. A number for step alone would switch
// step_auto off, and with it the change of the step size over the rounds. The trials had step_auto
// on, so changes keeps it on.
func changes(before, after *plan.Plan) (settings []string) {
	for _, f := range plan.Fields() {
		var old, value string
		switch v := f.At(after).(type) {
		case *uint32:
			old, value = fmt.Sprint(*f.At(before).(*uint32)), fmt.Sprint(*v)
		case *uint64:
			old, value = fmt.Sprint(*f.At(before).(*uint64)), fmt.Sprint(*v)
		case *float32:
			old, value = fmt.Sprint(*f.At(before).(*float32)), fmt.Sprint(*v)
		}
		if old != value {
			settings = append(settings, f.Name+"="+value)
			if f.Name == "step" && after.StepAuto > 0 {
				settings = append(settings, "step_auto=on")
			}
		}
	}
	return settings
}

// replacePlan stores a plan in a file, which appears complete or not at all. If the file exists and
// replace is false, it returns an error.
func replacePlan(name string, p *plan.Plan, replace bool) error {
	if !replace {
		return cli.WritePlan("--out", name, p, false)
	}
	whole := name + ".zofl-new"
	if err := os.Remove(whole); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := cli.WritePlan("--out", whole, p, false); err != nil {
		return err
	}
	return os.Rename(whole, name)
}
