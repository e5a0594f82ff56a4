package results

import (
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/tfevents"
)

// scalars are the values of a point that zofl exports to TensorBoard and MLflow.
func scalars(p *history.Point) (list []tfevents.Scalar) {
	if p.IsRound() {
		for _, f := range history.Figures {
			if v := f.Of(p); !math.IsNaN(v) {
				list = append(list, tfevents.Scalar{Tag: f.Name, Value: v})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Reported)) {
		r, name := p.Reported[name], strings.ReplaceAll(name, "/", ".") // a slash makes a folder
		list = append(list, tfevents.Scalar{Tag: "reported/" + name, Value: r.Median})
		if r.Reporters > 1 {
			list = append(list, tfevents.Scalar{Tag: "reported_min/" + name, Value: r.Min},
				tfevents.Scalar{Tag: "reported_max/" + name, Value: r.Max})
		}
	}
	if p.Evaluation == nil {
		return list
	}
	for _, name := range slices.Sorted(maps.Keys(p.Evaluation.Metrics)) {
		if v := p.Metric(name); v != nil {
			list = append(list, tfevents.Scalar{Tag: "metrics/" + name, Value: *v})
		}
	}
	return list
}

// TensorBoard writes the points of a run to an event file in DIR/RUN, and replaces an earlier event
// file. A step in TensorBoard is a record.
func (r *Run) TensorBoard(dir string) (err error) {
	w, err := tfevents.Create(filepath.Join(dir, r.Plan.Run), r.Points[0].Time)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for i := range r.Points {
		p := &r.Points[i]
		if err := w.Add(p.Time, p.N, scalars(p)); err != nil {
			return err
		}
	}
	return nil
}
