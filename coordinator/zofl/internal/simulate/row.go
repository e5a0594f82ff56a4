package simulate

import (
	"encoding/json"
	"math"

	"github.com/zofl/zofl/fleet"
)

// A Number is a float64 whose JSON is null if it is not finite.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.finite() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

func (n Number) finite() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// A Row is a round of a run. A value "so far" counts from the run's first round.
type Row struct {
	Round         uint64 `json:"round"`
	Loss          Number `json:"loss"` // mean training loss of the contributors where the round began
	Contributors  uint32 `json:"contributors"`
	Step          Number `json:"step"`       // the plan's step
	RoundStep     Number `json:"round_step"` // eta, which follows from Step
	Mu            Number `json:"mu"`
	Perturbations uint32 `json:"perturbations"`
	Queries       uint64 `json:"queries"` // loss evaluations of all devices so far
	Up            Number `json:"up"`      // bytes that a device sent so far, their mean
	Down          Number `json:"down"`    // bytes that a device received so far, their mean
	Seconds       Number `json:"seconds"` // of rounds so far, without evaluations
	// Metrics has the plan's metrics after this round, by name; nil means that no device measured
	// them.
	Metrics map[string]Number `json:"metrics,omitempty"`
}

// rowOf returns the row of a round of the given number of devices. The earlier rounds took the
// given number of seconds.
func rowOf(r fleet.Round, devices int, earlier float64, metrics []string) Row {
	row := Row{Round: r.Round, Loss: Number(r.Loss), Contributors: r.Contributors,
		Step: single(r.Step), RoundStep: single(r.RoundStep), Mu: single(r.Mu),
		Perturbations: r.Perturbations, Queries: r.Queries,
		Up: Number(float64(r.Up) / float64(devices)), Down: Number(float64(r.Down) / float64(devices)),
		Seconds: Number(earlier + r.Seconds)}
	for i, v := range r.Metrics {
		if row.Metrics == nil {
			row.Metrics = make(map[string]Number)
		}
		row.Metrics[metrics[i]] = Number(v)
	}
	return row
}
