// Package plan has the command that writes plans, explains them, and prints their cost.
package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// planFlags are the flags of `zofl plan`.
type planFlags struct {
	preset, run, write, secret string
	layers                     string
	dim                        uint64
	settings                   []string
	best                       cli.BestFlags
	idLen                      int
	asJSON, fields             bool
	trust                      bool // secure=sum without a secret
	flat, explain              bool
	epsilon                    float64 // what all rounds may spend; 0: anything
	liars                      uint32  // that the plan must hold against
	initial                    modelfile.Choice
	known                      preset.Known // of the flags that say what the author knows

	note   string     // values of the plan that differ from the preset's
	why    string     // why it has this preset; empty: the author named it
	fitted string     // which noise was found for epsilon
	begins *beginning // the file that the run begins with; nil: the plan says where it begins
}

// helpWidth is the longest line of the help, in columns.
const helpWidth = 98

// Command is `zofl plan`.
func Command() *cobra.Command {
	f := planFlags{}
	cmd := &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Write a plan, explain it, and say what a round costs",
		Long: `Reads the plan FILE, or starts a new plan from a preset; sets fields; checks the plan;
says what it does and what a round costs. --write stores it as JSON. Without --preset a new plan
gets the one that suits what is known of the loss, and the line "why" says why.

With --initial FILE the run begins with your model, and trains the tensors that --train names.
With --secret only devices have the model: give each the key file, not over the broker.

` + cli.Wrapped("Sections of --fields: "+strings.Join(sectionNames(), ", "), helpWidth),
		Example: `  zofl plan --run kitchen --dim 7850 --set members=3 --write kitchen.json
  zofl plan --run gains --dim 6 --evaluations 300 --set members=1 --write gains.json
  zofl plan kitchen.json --set quorum=2 --explain
  zofl plan --run digits --segments relu:784x64,64x10 --write digits.json
  zofl plan --run adapt --initial model.safetensors --train 'head.*' --write adapt.json
  zofl plan --fields rounds`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			if f.fields {
				return printFields(cmd.OutOrStdout(), strings.Join(args, " "), f.asJSON)
			}
			p, err := f.plan(cmd.Context(), args)
			if err != nil {
				return cli.AsUsage(err)
			}
			return f.show(cmd.OutOrStdout(), p)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.preset, "preset", "",
		"zofl, cma, decomfl or another of docs/methods.md; default: what suits")
	cli.Choices(cmd, "preset", preset.Names()...)
	flags.StringVar(&f.run, "run", "run", "name of the run, in a new plan")
	flags.Uint64Var(&f.dim, "dim", 0, "number of parameters, in a new plan")
	cli.Positive(flags, "dim")
	f.knownFlags(flags)
	flags.StringArrayVar(&f.settings, "set", nil, "set a field, FIELD=VALUE; repeatable")
	f.best.Flags(cmd)
	flags.StringVar(&f.layers, "segments", "",
		"layers of a network, with random first weights: relu:784x64,64x10")
	flags.StringVar(&f.initial.File, "initial", "",
		"begin at this model: .f32, .npy, .npz, .safetensors or .onnx")
	f.initial.TrainFlag(cmd)
	flags.Float64Var(&f.epsilon, "epsilon", 0,
		"find the least dp_noise with which all rounds spend no more")
	flags.Uint32Var(&f.liars, "liars", 0,
		"set what holds best against so many lying devices, and price it")
	cli.Positive(flags, "liars")
	flags.StringVar(&f.secret, "secret", "",
		"make the run private: its key is in this file, which is made if new")
	flags.BoolVar(&f.trust, "trust-coordinator", false,
		"secure=sum without --secret: the coordinator is trusted")
	flags.StringVar(&f.write, "write", "", "store the plan in this file, which must not exist yet")
	flags.IntVar(&f.idLen, "id-length", 8, "characters in a device's id, to count bytes")
	flags.BoolVar(&f.asJSON, "json", false,
		"print the plan and its cost, or the fields, as one JSON object")
	flags.BoolVar(&f.fields, "fields", false,
		"list all fields of a plan, or those of the section given for FILE")
	flags.BoolVar(&f.explain, "explain", false,
		"say all: what each section does, the equations, what a round costs")
	flags.BoolVar(&f.flat, "flat", false,
		"with --write, store all fields, not only what differs from the preset")
	return cmd
}

// check returns an error if the command would ignore a flag or an argument.
func (f *planFlags) check(cmd *cobra.Command, args []string) error {
	newPlan := []string{"preset", "run", "dim", "noise", "unlike"}
	other := cli.Given(cmd, append(newPlan, "set", "best", "patience", "segments", "initial", "train",
		"epsilon", "liars", "secret", "trust-coordinator", "write", "flat", "explain", "id-length",
		"evaluations", "seconds", "loss-seconds")...)
	switch {
	case len(args) > 1:
		return cli.Usage(fmt.Errorf("%d files: name one plan", len(args)))
	case f.fields && len(other) > 0:
		return cli.Usage(fmt.Errorf("%s: --fields lists the fields of any plan: leave out "+
			"one of the two", strings.Join(other, ", ")))
	case f.fields:
		return nil
	case f.flat && f.write == "":
		return cli.Usage(errors.New("--flat says how --write stores the plan: give --write FILE too"))
	case f.explain && f.asJSON:
		return cli.Usage(errors.New("--explain and --json: give only one"))
	case len(args) == 1 && isNumber(args[0]) && (f.known.Noise || f.known.Unlike):
		return cli.Usage(fmt.Errorf("%s: --noise and --unlike take no value: leave it out", args[0]))
	case len(args) == 1 && len(cli.Given(cmd, newPlan...)) > 0:
		return cli.Usage(fmt.Errorf("%s and %s: these flags begin a new plan, and the file is one: "+
			"leave out either; --set changes fields of the file's plan", args[0],
			strings.Join(cli.Given(cmd, newPlan...), ", ")))
	case f.dim == 0 && cmd.Flags().Changed("dim"):
		return cli.Usage(errors.New("--dim 0: give the number of parameters, 1 or more"))
	case f.trust && f.secret != "":
		return cli.Usage(errors.New("--trust-coordinator and --secret: with a secret devices need not " +
			"trust the coordinator: give only one"))
	case f.liars == 0 && cmd.Flags().Changed("liars"):
		return cli.Usage(errors.New("--liars 0: give the number of devices that may lie, 1 or more"))
	case f.layers != "" && f.initial.File != "":
		return cli.Usage(errors.New("--segments and --initial: a file has its own tensors: give only " +
			"one"))
	case cmd.Flags().Changed("segments") && slices.ContainsFunc(f.settings, sets("segments")):
		return cli.Usage(errors.New("--segments and --set segments: give only one"))
	case f.idLen < 1 || f.idLen > plan.MaxName:
		return cli.Usage(fmt.Errorf("--id-length %d: give 1 to %d", f.idLen, plan.MaxName))
	}
	return f.checkKnown(cmd)
}

// isNumber returns whether an argument is a number, and so hardly the name of a file.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// sets returns whether a setting is of a field.
func sets(field string) func(setting string) bool {
	return func(s string) bool { return strings.HasPrefix(s, field+"=") }
}

// plan returns the plan that the flags describe, after checking it.
func (f *planFlags) plan(ctx context.Context, args []string) (p *plan.Plan, err error) {
	if len(args) == 1 {
		p, err = f.stored(ctx, args[0])
	} else {
		p, err = f.fresh()
	}
	if err != nil || f.secret == "" {
		return p, err
	}
	return p, keepSecret(ctx, p, f.secret)
}

// stored returns the plan of a file, with what the flags change.
func (f *planFlags) stored(ctx context.Context, file string) (*plan.Plan, error) {
	p, err := cli.ReadPlan(ctx, file)
	if err != nil {
		return nil, err
	}
	if err := f.shape(p); err != nil {
		return nil, err
	}
	return p, f.fill(p, false)
}

// shape sets what the flags say of the parameters.
func (f *planFlags) shape(p *plan.Plan) error {
	if f.layers != "" {
		if err := planfile.SetLayers(p, f.layers); err != nil {
			return err
		}
	}
	return f.begin(p)
}

// fill sets the fields that the flags name, and those that follow from them, and checks the plan.
func (f *planFlags) fill(p *plan.Plan, isNew bool) error {
	set, err := planfile.SetAll(p, append(f.settings, f.best.Settings()...))
	if err != nil {
		return err
	}
	if p.Distribution == plan.LowRank {
		if err := f.matrices(p); err != nil {
			return err
		}
	}
	if isNew {
		preset.Few(p, set...)
		preset.Overture(p, 0, set...)
	}
	if err := f.suit(p, set); err != nil {
		return err
	}
	if err := f.budget(p, set); err != nil {
		return err
	}
	if f.liars > 0 {
		if set, err = preset.Liars(p, f.liars, set...); err != nil {
			return err
		}
	}
	preset.Measured(p, set...)
	f.note = preset.Fit(p, set...)
	if isNew {
		f.guard(p, set)
	}
	if f.secret != "" { // before keepSecret makes a key
		return plancheck.Validate(asPrivate(p))
	}
	if err := plancheck.Validate(p); err != nil {
		return err
	}
	return f.trusts(p, isNew || slices.Contains(set, "secure"))
}

// guard sets the plan's bounds on the influence of devices and of the coordinator. The bounds of a
// private run differ, and the plan has no secret yet at this point.
func (f *planFlags) guard(p *plan.Plan, set []string) {
	if f.secret == "" {
		preset.Guard(p, set...)
		return
	}
	private := asPrivate(p)
	preset.Guard(private, set...)
	private.RunKey, private.KeyCheck = p.RunKey, p.KeyCheck
	*p = *private
}

// show writes the plan to its file, explains it, and prints its cost.
func (f *planFlags) show(out io.Writer, p *plan.Plan) error {
	if f.write != "" {
		if err := cli.WritePlan("--write", f.write, p, f.flat); err != nil {
			return err
		}
	}
	// By round 1000 announcements are as long as they ever get.
	in := cost.Input{Round: 1000, IDLen: f.idLen}
	if f.asJSON {
		return json.NewEncoder(out).Encode(f.description(p, in))
	}
	say := f.short
	if f.explain {
		say = f.long
	}
	if err := say(out, p, in); err != nil {
		return err
	}
	if f.note != "" {
		fmt.Fprintf(out, "\nNote: %s\n", cli.Wrapped(f.note, cli.TextWidth))
	}
	if f.liars > 0 {
		fmt.Fprintf(out, "\nLiars: %s\n", cli.Wrapped(f.against(p), cli.TextWidth))
	}
	for _, text := range warnings(p) {
		word := "Warning"
		if text == plancheck.ZeroStart { // for a linear model a start at zero is right
			word = "Note"
		}
		fmt.Fprintf(out, "\n%s: %s\n", word, cli.Wrapped(text, cli.TextWidth))
	}
	return nil
}

// warnings returns texts about what a plan may lack, and about the risks of its preset for a model.
func warnings(p *plan.Plan) []string {
	return append(plancheck.Warnings(p), preset.Warnings(p)...)
}
