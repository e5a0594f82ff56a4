package simulate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// Models is a [Sink] that stores the model of each run in a directory, as RUN.npy, and the best
// one, if the plan says what is best, as RUN.best.npy. It comes before a sink that tells of the
// files.
type Models string

// Make makes the directory, and returns an error if it has the model of one of the runs.
func (m Models) Make(runs []*Run) error {
	for _, r := range runs {
		name := filepath.Join(string(m), r.Name+".npy")
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s: %w: name a new directory", filepath.Base(name), fs.ErrExist)
		}
	}
	return os.MkdirAll(string(m), 0o755)
}

// Begin implements [Sink].
func (Models) Begin(*Run) error { return nil }

// Round implements [Sink].
func (Models) Round(*Run, Row) error { return nil }

// End implements [Sink].
func (m Models) End(r *Run) error {
	if r.Params == nil { // the run never began
		return nil
	}
	r.Outcome.Model = filepath.Join(string(m), r.Name+".npy")
	err := vector.Write(r.Outcome.Model, r.Params)
	if err == nil && r.BestParams != nil {
		r.Outcome.BestModel = filepath.Join(string(m), r.Name+".best.npy")
		err = vector.Write(r.Outcome.BestModel, r.BestParams)
	}
	return err
}
