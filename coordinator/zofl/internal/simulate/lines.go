package simulate

import (
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/tfevents"
)

// A head holds the first fields of each JSON line.
type head struct {
	Event    string            `json:"event"` // "begin", "round" or "end"
	Run      string            `json:"run"`
	Seed     uint64            `json:"seed"`
	Settings map[string]string `json:"settings"`
}

func headOf(event string, r *Run) head {
	h := head{Event: event, Run: r.Name, Seed: r.Seed, Settings: make(map[string]string)}
	for _, s := range r.Settings {
		h.Settings[s.Field] = s.Value
	}
	return h
}

// A beginLine says that a run begins.
type beginLine struct {
	head
	Number  int    `json:"number"` // from 1
	Of      int    `json:"of"`     // runs
	Devices int    `json:"devices"`
	Rounds  uint64 `json:"rounds"` // that the plan has
}

func begun(r *Run) beginLine {
	return beginLine{headOf("begin", r), r.Number, r.Of, r.Devices, r.Plan.Rounds}
}

// A rowLine is a round.
type rowLine struct {
	head
	Row
}

func roundLine(r *Run, row Row) rowLine { return rowLine{headOf("round", r), row} }

// An endLine is how a run ended.
type endLine struct {
	head
	*Outcome
	Error string `json:"error,omitempty"`
}

func lineOf(r *Run) endLine {
	line := endLine{head: headOf("end", r), Outcome: &r.Outcome}
	if r.Outcome.Err != nil {
		line.Error = r.Outcome.Err.Error()
	}
	return line
}

// Lines is a [Sink] that writes a line of JSON for each thing that happens.
type Lines struct{ out *json.Encoder }

// NewLines returns Lines that writes to out.
func NewLines(out io.Writer) *Lines { return &Lines{json.NewEncoder(out)} }

// Begin implements [Sink].
func (l *Lines) Begin(r *Run) error { return l.out.Encode(begun(r)) }

// Round implements [Sink].
func (l *Lines) Round(r *Run, row Row) error { return l.out.Encode(roundLine(r, row)) }

// End implements [Sink].
func (l *Lines) End(r *Run) error { return l.out.Encode(lineOf(r)) }

// scalars are the values of a round that Dir writes for TensorBoard.
func scalars(row Row) []tfevents.Scalar {
	list := []tfevents.Scalar{{Tag: "loss", Value: float64(row.Loss)},
		{Tag: "plan/step", Value: float64(row.Step)}, {Tag: "plan/mu", Value: float64(row.Mu)},
		{Tag: "plan/round_step", Value: float64(row.RoundStep)},
		{Tag: "plan/perturbations", Value: float64(row.Perturbations)},
		{Tag: "cost/contributors", Value: float64(row.Contributors)},
		{Tag: "cost/queries", Value: float64(row.Queries)},
		{Tag: "cost/up", Value: float64(row.Up)}, {Tag: "cost/down", Value: float64(row.Down)},
		{Tag: "cost/seconds", Value: float64(row.Seconds)}}
	for _, name := range slices.Sorted(maps.Keys(row.Metrics)) {
		list = append(list, tfevents.Scalar{Tag: "metrics/" + name,
			Value: float64(row.Metrics[name])})
	}
	return list
}
