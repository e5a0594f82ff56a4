package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/plan"
)

// Target is the file that `zofl export` writes: plain numbers, or a copy of a model file.
type Target struct {
	out  string
	like string // model file; empty: plain numbers
	flag string // the flag that names like
}

// TargetOf returns the file to write. Without --like, if out has the format of the file of
// --initial, the target is a copy of that file with new parameters.
func TargetOf(out, like string, initial *Choice) (t Target, err error) {
	t = Target{out, like, "--like"}
	if like == "" && initial.File != "" && tensors.CheckName(initial.File) == nil &&
		tensors.Format(initial.File) == tensors.Format(out) {
		t.like, t.flag = initial.File, "--initial"
	}
	switch {
	case out == "":
		return t, errors.New("--out is missing: name a file that ends in .f32 or .npy, or with --like " +
			"FILE as FILE does")
	case t.like == "" && isModel(out):
		return t, fmt.Errorf("--out %s: only a copy of a model has names for the parameters: give one "+
			"that ends so as --like FILE, or as --initial if the run began with it", out)
	case t.like == "":
		return t, vector.CheckName(out)
	case tensors.Format(t.like) != tensors.Format(out):
		return t, fmt.Errorf("--like %s: the copy is such a file, too: end --out so", t.like)
	}
	return t, nil
}

// Open opens the file to copy and checks its tensors, so that a fault shows before minutes of
// replay. Open returns nil if the target is plain numbers.
func (t *Target) Open(train []string) (*Model, error) {
	if t.like == "" {
		return nil, nil
	}
	return openModel(t.flag, t.like, train)
}

// fits returns an error unless the model's tensors can hold the parameters of a plan.
func (t *Target) fits(m *Model, p *plan.Plan) error {
	if m.Selection.Len != p.Dim {
		return cli.Usage(fmt.Errorf("%s %s: run %s has %d parameters, and these tensors %d: choose "+
			"others with --train", t.flag, t.like, p.Run, p.Dim, m.Selection.Len))
	}
	segments := NonEmpty(Segments(m.Selection))
	if t.flag == "--initial" || len(segments) == 0 || len(p.Segments) == 0 {
		return nil // the plan's digest has shown that they fit, or there are no names to compare
	}
	for i, s := range segments {
		if len(segments) != len(p.Segments) || s.Name != p.Segments[i].Name ||
			s.Len != p.Segments[i].Len {
			return cli.Usage(fmt.Errorf("%s %s: its tensor %d would be segment %s of %d parameters, "+
				"which run %s does not have there: choose others with --train", t.flag, t.like, i+1,
				s.Name, s.Len, p.Run))
		}
	}
	return nil
}

// Write stores the parameters x of a run in the target, and the statistics by which the run scales
// its columns, if it has any, beside it.
func (t *Target) Write(m *Model, x []float32, p *plan.Plan) error {
	if len(p.Stats) > 0 {
		if err := writeStats(t.out+StatsEnding, p.Stats); err != nil {
			return err
		}
	}
	if m == nil {
		return vector.Write(t.out, x)
	}
	if err := t.fits(m, p); err != nil {
		return err
	}
	return m.Write(t.out, x)
}

// StatsEnding ends the name of the file with the statistics of a model, after the model's name.
const StatsEnding = ".stats.json"

func writeStats(name string, columns []plan.Column) error {
	return vector.Create(name, func(file *os.File) error {
		return json.NewEncoder(file).Encode(columns)
	})
}
