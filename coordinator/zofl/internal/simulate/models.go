package simulate

import (
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// Models is a [Sink] that stores the model of each run in a directory, as RUN.npy. It comes before
// a sink that tells of the file.
type Models string

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
	return vector.Write(r.Outcome.Model, r.Params)
}
