package results

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/tfevents"
)

// A scalar is a number of a point, under its name in other programs.
type scalar struct {
	name  string
	value float64
}

// scalars are what others are told of a point.
func scalars(p *history.Point) (list []scalar) {
	if p.IsRound() {
		if p.Loss != nil {
			list = append(list, scalar{"loss", *p.Loss})
		}
		list = append(list, scalar{"seconds", p.Seconds},
			scalar{"contributors", float64(p.Contributors)}, scalar{"asked", float64(p.Asked)},
			scalar{"late", float64(p.Late)}, scalar{"declines", float64(p.Declines)},
			scalar{"bytes_up", float64(p.BytesUp)}, scalar{"bytes_down", float64(p.BytesDown)},
			scalar{"queries", float64(p.Queries)}, scalar{"step", float64(p.Step)},
			scalar{"perturbations", float64(p.Perturbations)})
		if p.Epsilon > 0 {
			list = append(list, scalar{"epsilon", p.Epsilon})
		}
	}
	if p.Evaluation == nil {
		return list
	}
	for _, name := range sortedNames(p.Evaluation.Metrics) {
		if v := p.Evaluation.Metrics[name]; v != nil {
			list = append(list, scalar{"metrics/" + name, *v})
		}
	}
	return list
}

// TensorBoard writes the points of a run to an event file in DIR/RUN, in the place of an earlier
// one. A step is a record.
func (r *Run) TensorBoard(dir string) (err error) {
	dir = filepath.Join(dir, r.Plan.Run)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "events.out.tfevents.0.zofl"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w, err := tfevents.New(out, r.Points[0].Time)
	if err != nil {
		return err
	}
	for i := range r.Points {
		var list []tfevents.Scalar
		for _, s := range scalars(&r.Points[i]) {
			list = append(list, tfevents.Scalar{Tag: s.name, Value: s.value})
		}
		if err := w.Write(r.Points[i].Time, r.Points[i].N, list); err != nil {
			return err
		}
	}
	return nil
}
