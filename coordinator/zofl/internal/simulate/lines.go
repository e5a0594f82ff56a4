package simulate

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

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

// A rowLine is a round.
type rowLine struct {
	head
	Row
}

func roundLine(r *Run, row Row) rowLine { return rowLine{headOf("round", r), row} }

// An endLine is how a run ended.
type endLine struct {
	head
	Rounds  uint64            `json:"rounds"` // that were run
	First   Number            `json:"loss_first"`
	Loss    Number            `json:"loss"`
	Metrics map[string]Number `json:"metrics,omitempty"`
	Queries uint64            `json:"queries"`
	Up      Number            `json:"up"`
	Down    Number            `json:"down"`
	Seconds Number            `json:"seconds"`
	Ended   string            `json:"ended"`
	Error   string            `json:"error,omitempty"`
	Warning string            `json:"warning,omitempty"`
	Found   []Found           `json:"found,omitempty"`
}

func lineOf(r *Run) endLine {
	o := r.Outcome
	line := endLine{headOf("end", r), o.Rounds, o.First, o.Loss, o.Metrics, o.Queries, o.Up, o.Down,
		o.Seconds, o.Ended, "", o.Warning, o.Found}
	if o.Err != nil {
		line.Error = o.Err.Error()
	}
	return line
}

// Lines is a [Sink] that writes a line of JSON for each thing that happens.
type Lines struct{ out *json.Encoder }

// NewLines returns Lines that writes to out.
func NewLines(out io.Writer) *Lines { return &Lines{json.NewEncoder(out)} }

// Begin implements [Sink].
func (l *Lines) Begin(r *Run) error {
	return l.out.Encode(beginLine{headOf("begin", r), r.Number, r.Of, r.Devices, r.Plan.Rounds})
}

// Round implements [Sink].
func (l *Lines) Round(r *Run, row Row) error { return l.out.Encode(roundLine(r, row)) }

// End implements [Sink].
func (l *Lines) End(r *Run) error { return l.out.Encode(lineOf(r)) }

// events is the event file of a run, for TensorBoard.
type events struct {
	file *os.File
	out  *tfevents.Writer
}

// newEvents makes the directory of a run, with its file. TensorBoard shows the files of one
// directory as one run.
func newEvents(dir string) (*events, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, "events.out.tfevents.0.zofl"))
	if err != nil {
		return nil, err
	}
	out, err := tfevents.New(file, time.Now())
	return &events{file, out}, err
}

func (e *events) write(row Row) error {
	scalars := []tfevents.Scalar{{Tag: "loss", Value: float64(row.Loss)},
		{Tag: "plan/step", Value: float64(row.Step)}, {Tag: "plan/mu", Value: float64(row.Mu)},
		{Tag: "plan/perturbations", Value: float64(row.Perturbations)},
		{Tag: "cost/contributors", Value: float64(row.Contributors)},
		{Tag: "cost/queries", Value: float64(row.Queries)},
		{Tag: "cost/up", Value: float64(row.Up)}, {Tag: "cost/down", Value: float64(row.Down)},
		{Tag: "cost/seconds", Value: float64(row.Seconds)}}
	for _, name := range sortedNames(row.Metrics) {
		scalars = append(scalars, tfevents.Scalar{Tag: "metrics/" + name,
			Value: float64(row.Metrics[name])})
	}
	return e.out.Write(time.Now(), row.Round, scalars)
}

func (e *events) close() error { return e.file.Close() }

func sortedNames(metrics map[string]Number) (names []string) {
	for name := range metrics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
