package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
	"github.com/zofl/zofl/wire/preset"
)

// planFlags are what `zofl plan` is asked.
type planFlags struct {
	preset, run, write, secret string
	dim                        uint64
	settings                   []string
	idLen                      int
	asJSON, fields             bool
}

func planCommand() *cobra.Command {
	f := planFlags{}
	cmd := &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Write, explain and price a plan",
		Long: `Reads the plan FILE, or starts from a preset, sets fields, checks the result,
explains it, and says what a round of it costs a device: loss evaluations,
memory, and bytes on the wire. With --write the plan is stored as JSON.

With --secret the run is private: directions derive from the 32 bytes in FILE, made
if it does not exist, and the plan has a check of them only. Give FILE to every
device, on a way that is not the run's; the coordinator needs none. It then leads
rounds, but has no model: it cannot evaluate, export, snapshot or witness.`,
		Example: `  zofl plan --preset decomfl --run kitchen --dim 7850
  zofl plan --preset decomfl --run kitchen --dim 7850 --set steps=5 --write kitchen.json
  zofl plan kitchen.json --set rule=momentum --set beta=0.9
  zofl plan --preset zofedht --run kitchen --dim 7850 --secret kitchen.key --write kitchen.json
  zofl plan --fields`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if f.fields {
				printFields(out)
				return nil
			}
			p, err := f.plan(args)
			if err != nil {
				return asUsage(err)
			}
			return f.show(out, p)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.preset, "preset", "decomfl", "method, where no FILE is given: "+
		strings.Join(preset.Names(), ", "))
	fs.StringVar(&f.run, "run", "run", "name of the run, where no FILE is given")
	fs.Uint64Var(&f.dim, "dim", 0, "number of parameters, where no FILE is given")
	fs.StringArrayVar(&f.settings, "set", nil, "field=value, repeatable")
	fs.StringVar(&f.secret, "secret", "", "make the run private, its key in this file")
	fs.StringVar(&f.write, "write", "", "store the plan in this file, which must not exist")
	fs.IntVar(&f.idLen, "id-length", 8, "characters of a device's id, for the bytes")
	fs.BoolVar(&f.asJSON, "json", false, "print plan and price as one JSON object")
	fs.BoolVar(&f.fields, "fields", false, "list the fields that a plan has")
	return cmd
}

// plan returns the plan that the flags describe, checked.
func (f *planFlags) plan(args []string) (*wire.Plan, error) {
	p, err := f.start(args)
	if err != nil {
		return nil, err
	}
	for _, s := range f.settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, &wire.PlanError{Field: "set", Value: s, Remedy: "write it as field=value"}
		}
		if err := p.Set(name, value); err != nil {
			return nil, err
		}
	}
	if err := plancheck.Validate(p); err != nil || f.secret == "" {
		return p, err
	}
	if err := canBePrivate(p); err != nil { // before there is a key for it
		return p, err
	}
	return p, keepSecret(p, f.secret)
}

func (f *planFlags) start(args []string) (*wire.Plan, error) {
	switch len(args) {
	case 0:
		if f.dim == 0 {
			return nil, usageError{errors.New("give a plan FILE, or --dim for a new plan")}
		}
		return preset.New(f.preset, f.run, f.dim)
	case 1:
		file, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer file.Close()
		p, err := wire.ReadPlan(file)
		return p, plancheck.Explain(err)
	}
	return nil, usageError{fmt.Errorf("one plan at a time, got %d files", len(args))}
}

// show writes the plan to its file, explains it, and prices it.
func (f *planFlags) show(out io.Writer, p *wire.Plan) error {
	if f.write != "" {
		if err := writePlan(f.write, p); err != nil {
			return err
		}
	}
	// A round late enough that announcements carry what they ever do.
	cost := p.Cost(wire.CostInput{Round: 1000, IDLen: f.idLen})
	if f.asJSON {
		return json.NewEncoder(out).Encode(struct {
			Plan *wire.Plan `json:"plan"`
			Cost wire.Cost  `json:"cost"`
		}{p, cost})
	}
	if err := explain(out, p); err != nil {
		return err
	}
	price(out, p, cost)
	return nil
}

// writePlan stores a plan and never overwrites one: the run key in it is the
// run's.
func writePlan(name string, p *wire.Plan) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(b, '\n'))
	return errors.Join(err, file.Close())
}
