package report

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
)

// Best is the record with the best value of the plan's best.
type Best struct {
	Metric  string  `json:"metric"`
	Lowest  bool    `json:"lowest,omitempty"` // the lowest value is the best; else the highest
	N       uint64  `json:"n"`                // its record
	Round   uint64  `json:"round"`            // the last round up to that record
	Value   float64 `json:"value"`
	Devices uint32  `json:"devices"` // whose mean the value is
	Since   uint32  `json:"since"`   // evaluations since a value was better than all before
}

// BestOf returns the best record of those that a log keeps in mind, or nil if there is none.
func BestOf(b *runlog.Best) *Best {
	last := b.Last()
	if last == nil {
		return nil
	}
	return &Best{Metric: b.Metric, Lowest: b.Lowest, N: last.Record.N, Round: last.Round,
		Value: last.Value, Devices: last.Devices, Since: b.Since}
}

// String says which model is the best, such as "accuracy 0.953 after record 120 (round 119), no
// better in 3 evaluations".
func (b *Best) String() string {
	if b == nil {
		return "none yet"
	}
	text := fmt.Sprintf("%s %.4g after record %d (round %d)", b.Metric, b.Value, b.N, b.Round)
	switch b.Since {
	case 0:
		return text
	case 1:
		return text + ", no better in 1 evaluation"
	}
	return text + fmt.Sprintf(", no better in %d evaluations", b.Since)
}
