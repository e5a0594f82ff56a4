package logs

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A line is a record in the form that `zofl log` prints.
type line struct {
	N             uint64           `json:"n"`
	Kind          string           `json:"kind"`
	Epoch         uint64           `json:"epoch"`
	Hash          string           `json:"hash"`
	Bytes         int              `json:"bytes"`
	Round         uint64           `json:"round,omitempty"`
	Phase         uint8            `json:"phase,omitempty"`
	Attempt       uint32           `json:"attempt,omitempty"`
	RoundStep     float32          `json:"round_step,omitempty"`
	Factor        float32          `json:"factor,omitempty"` // on server_step; 0: none
	Perturbations uint32           `json:"perturbations,omitempty"`
	Contributors  uint32           `json:"contributors,omitempty"`
	Population    uint32           `json:"population,omitempty"`
	Slots         []uint32         `json:"slots,omitempty"`
	Terms         []logTerm        `json:"terms,omitempty"`
	Object        string           `json:"object,omitempty"`   // digest of the round's vector
	Elements      uint64           `json:"elements,omitempty"` // length of the vector
	Change        *planfile.Change `json:"change,omitempty"`
	To            uint64           `json:"to,omitempty"`
	Reason        string           `json:"reason,omitempty"`
	Text          string           `json:"text,omitempty"`
	Plan          *planfile.Plan   `json:"plan,omitempty"`
	Privacy       *dp.Budget       `json:"privacy,omitempty"` // spent by here, of a device
}

// A logTerm holds scalars for the directions of record n-back. All devices share the directions, or
// they belong to one slot. Weight is the weight of the slot's device, if weights differ.
type logTerm struct {
	Back    uint64    `json:"back,omitempty"`
	Slot    *uint32   `json:"slot,omitempty"`
	Weight  uint32    `json:"weight,omitempty"`
	Scalars []float32 `json:"scalars"`
}

// termsOf returns the terms of a round, and their number of scalars.
func termsOf(r *wire.Round, plan *plan.Plan) (terms []logTerm, scalars int) {
	for i, t := range r.Terms {
		out := logTerm{Back: t.Back}
		if i < len(r.Weights) {
			out.Weight = r.Weights[i]
		}
		if t.Source != prng.Shared {
			slot := t.Source - 1
			out.Slot = &slot
		}
		out.Scalars = plan.TermPrecision().Read(t.Scalars, int(plan.Steps), int(r.Perturbations))
		terms, scalars = append(terms, out), scalars+len(out.Scalars)
	}
	return terms, scalars
}

// round sets the fields of a round's line, and returns these fields as text.
func (l *line) round(r *wire.Round, plan *plan.Plan) string {
	l.Round, l.Phase, l.Attempt = r.Round, r.Phase, r.Attempt
	l.RoundStep, l.Factor, l.Perturbations = r.StepSize, r.Factor, r.Perturbations
	l.Contributors, l.Population, l.Slots = r.Contributors, r.Population, r.Slots
	text := fmt.Sprintf("round=%d attempt=%d round_step=%v contributors=%d",
		l.Round, l.Attempt, l.RoundStep, l.Contributors)
	if len(r.Object) > 0 {
		l.Object, l.Elements = r.Object.String(), plan.Object(r.Phase)
		text += fmt.Sprintf(" object=%s elements=%d", l.Object, l.Elements)
	} else {
		var scalars int
		l.Terms, scalars = termsOf(r, plan)
		text += fmt.Sprintf(" terms=%d scalars=%d", len(l.Terms), scalars)
	}
	if l.Factor > 0 {
		text += fmt.Sprintf(" factor=%v", l.Factor)
	}
	if l.Phase > 0 {
		text += fmt.Sprintf(" phase=%d", l.Phase)
	}
	if slots := contributors(r); len(slots) > 0 {
		text += fmt.Sprintf(" slots=%d", slots)
	}
	return text
}

// contributors returns the slots of the contributors, if the record names them.
func contributors(r *wire.Round) []uint32 {
	slots := slices.Clone(r.Slots)
	for _, t := range r.Terms {
		if t.Source != prng.Shared {
			slots = append(slots, t.Source-1)
		}
	}
	return slots
}

// changed returns the fields that a change sets, as FIELD=VALUE separated by spaces. In a change, a
// step or mu of 0 means that devices shall find it.
func changed(c *plan.Change) (string, error) {
	values, err := planfile.Changed(c)
	var fields []string
	for _, v := range values {
		if name := v.Field.Name; v.JSON == "0" && (name == "step" || name == "mu") {
			v.JSON = "auto"
		}
		fields = append(fields, v.Field.Name+"="+v.JSON)
	}
	return strings.Join(fields, " "), err
}

// body sets the line's fields for the record's kind, and returns these fields as text.
func (l *line) body(r *wire.Record, plan *plan.Plan) (text string, err error) {
	switch r.Kind {
	case wire.KindPlan:
		l.Plan = (*planfile.Plan)(r.Plan)
		text = fmt.Sprintf("run=%s preset=%s dim=%d", r.Plan.Run, r.Plan.Preset, r.Plan.Dim)
	case wire.KindRound:
		text = l.round(r.Round, plan)
	case wire.KindChange:
		l.Change = (*planfile.Change)(r.Change)
		text, err = changed(r.Change)
	case wire.KindRollback:
		l.To = r.To
		text = fmt.Sprintf("to=%d", r.To)
	case wire.KindEnd:
		l.Reason, l.Text = r.End.Reason.String(), r.End.Text
		text = fmt.Sprintf("reason=%s %s", l.Reason, l.Text)
	}
	return text, err
}

func printRecord(out io.Writer, record []byte, plan *plan.Plan, asJSON bool) error {
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return cli.Classify(err)
	}
	l := line{
		N: r.N, Kind: r.Kind.String(), Epoch: r.Epoch,
		Hash: wire.HashRecord(record).String(), Bytes: len(record), Privacy: dp.Spent(plan, r.N),
	}
	text, err := l.body(&r, plan)
	switch {
	case err != nil:
		return err
	case asJSON:
		return json.NewEncoder(out).Encode(l)
	}
	if l.Privacy != nil {
		text += fmt.Sprintf(" epsilon=%.3g", l.Privacy.Epsilon)
	}
	_, err = fmt.Fprintf(out, "%d %s epoch=%d hash=%s bytes=%d %s\n",
		l.N, l.Kind, l.Epoch, l.Hash, l.Bytes, terminal.Plain(text))
	return err
}
