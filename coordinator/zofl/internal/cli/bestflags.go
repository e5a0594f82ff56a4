package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// BestFlags are the flags --best and --patience of commands that take a plan.
type BestFlags struct {
	metric   string
	patience uint32
}

// Flags adds the flags.
func (b *BestFlags) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.metric, "best", "",
		"remember the record with the best `METRIC`, or loss")
	f.Uint32Var(&b.patience, "patience", 0,
		"end the run after so many evaluations that were no better")
	Positive(f, "patience")
}

// Settings are the fields that the flags set, as FIELD=VALUE.
func (b *BestFlags) Settings() (list []string) {
	if b.metric != "" {
		list = append(list, "best="+b.metric)
	}
	if b.patience > 0 {
		list = append(list, fmt.Sprint("patience=", b.patience))
	}
	return list
}

// Set sets these fields of a plan, and what they need.
func (b *BestFlags) Set(p *plan.Plan) error {
	set, err := planfile.SetAll(p, b.Settings())
	if err == nil {
		preset.Measured(p, set...)
	}
	return err
}
