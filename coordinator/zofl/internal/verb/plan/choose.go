package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// knownFlags adds the flags that say what the author knows of the loss.
func (f *planFlags) knownFlags(flags *pflag.FlagSet) {
	flags.Uint64Var(&f.known.Evaluations, "evaluations", 0,
		"losses that a device can evaluate in the run: sets rounds")
	cli.Positive(flags, "evaluations")
	flags.Float64Var(&f.known.Seconds, "seconds", 0,
		"seconds that all losses of a device may take: sets rounds")
	flags.Float64Var(&f.known.LossSeconds, "loss-seconds", 0,
		"seconds that one loss takes: sets a deadline that a round can meet")
	flags.BoolVar(&f.known.Noise, "noise", false,
		"the loss differs from one evaluation to the next, also of the same data")
	flags.BoolVar(&f.known.Unlike, "unlike", false, "devices have unlike data, such as other labels")
}

// checkKnown returns an error if the flags of knownFlags say nothing, or contradict each other.
func (f *planFlags) checkKnown(cmd *cobra.Command) error {
	k := &f.known
	for _, s := range []struct {
		name  string
		value float64
	}{{"seconds", k.Seconds}, {"loss-seconds", k.LossSeconds}} {
		if cmd.Flags().Changed(s.name) && !(s.value > 0 && s.value <= math.MaxFloat64) {
			return cli.Usage(fmt.Errorf("--%s %v: give a finite number above 0", s.name, s.value))
		}
	}
	switch {
	case k.Evaluations == 0 && cmd.Flags().Changed("evaluations"):
		return cli.Usage(errors.New("--evaluations 0: give the number of losses, 1 or more"))
	case k.Seconds > 0 && k.LossSeconds == 0:
		return cli.Usage(fmt.Errorf("--seconds %v: say how long one loss takes, as in --loss-seconds "+
			"0.5: both give the number of losses", k.Seconds))
	}
	return nil
}

// suit makes the plan suit what the author knows.
func (f *planFlags) suit(p *plan.Plan, set []string) error {
	if (f.known.Evaluations > 0 || f.known.Seconds > 0) && slices.Contains(set, "rounds") {
		name := "--evaluations"
		if f.known.Seconds > 0 {
			name = "--seconds"
		}
		return cli.Usage(fmt.Errorf("%s and --set rounds=%d: both say when the run ends: give only one",
			name, p.Rounds))
	}
	return preset.Suit(p, f.known, set...)
}

// fresh returns a new plan: of the preset that the author named, or else of the one that suits what
// is known. If the author's fields exclude that one, it is the default.
func (f *planFlags) fresh() (*plan.Plan, error) {
	if f.dim == 0 && f.layers == "" && f.initial.File == "" {
		return nil, cli.Usage(errors.New("no plan: name a plan FILE, or give --dim for a new plan, " +
			"its layers with --segments, or a model with --initial"))
	}
	shape := plan.Plan{Dim: f.dim}
	if err := f.shape(&shape); err != nil {
		return nil, err
	}
	if f.preset != "" {
		return f.made(f.preset, &shape)
	}
	choice, err := f.choose(&shape)
	if err != nil {
		return nil, err
	}
	f.why = choice.Why
	p, err := f.made(choice.Preset, &shape)
	if fault := (*plan.Error)(nil); errors.As(err, &fault) && choice.Preset != preset.Default {
		if other, failed := f.made(preset.Default, &shape); failed == nil {
			what := "a field that is set"
			if slices.ContainsFunc(f.settings, sets(fault.Field)) {
				what = fmt.Sprintf("%s=%v", fault.Field, fault.Value)
			}
			f.why = choice.Preset + " would suit, and excludes " + what
			return other, nil
		}
		f.note = "" // of the other preset
	}
	return p, err
}

// choose returns the preset that suits a plan with these parameters.
func (f *planFlags) choose(shape *plan.Plan) (preset.Choice, error) {
	p, err := f.bare(preset.Default, shape)
	if err != nil {
		return preset.Choice{}, err
	}
	set, err := planfile.SetAll(p, f.settings)
	if err != nil {
		return preset.Choice{}, err
	}
	k := preset.KnownOf(p, set...)
	k.Evaluations, k.Seconds, k.LossSeconds = f.known.Evaluations, f.known.Seconds,
		f.known.LossSeconds
	k.Noise, k.Unlike, k.Liars = f.known.Noise, f.known.Unlike, f.liars > 0
	return preset.Choose(k), nil
}

// made returns a new plan of a preset with the fields that the flags set.
func (f *planFlags) made(name string, shape *plan.Plan) (*plan.Plan, error) {
	p, err := f.bare(name, shape)
	if err != nil {
		return nil, err
	}
	return p, f.fill(p, true)
}

// bare returns a new plan of a preset, with the parameters of shape.
func (f *planFlags) bare(name string, shape *plan.Plan) (*plan.Plan, error) {
	p, err := preset.Unbound(name, f.run, shape.Dim)
	if err != nil {
		return nil, err
	}
	p.ModelFields = shape.ModelFields
	return p, nil
}
