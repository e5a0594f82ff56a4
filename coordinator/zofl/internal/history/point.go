package history

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Point is what is known about the round that record N committed. There is one point a record.
//
// Where devices evaluated the state after a record that is no round's, the point has N, Round,
// Time, Queries and Evaluation alone; see [Point.IsRound].
type Point struct {
	N     uint64    `json:"n"`     // its record
	Round uint64    `json:"round"` // the last round in the log up to N; a rollback takes it back
	Time  time.Time `json:"time"`  // of the coordinator's clock, in UTC
	// Phase is 1 in the first phase of a round of two. Its bytes and queries are in the point of the
	// second phase.
	Phase uint8 `json:"phase,omitempty"`

	// Loss is the weighted mean of the contributors' training losses; nil if it is not finite.
	Loss    *float64 `json:"loss"`
	Seconds float64  `json:"seconds"` // since the first announcement of record N

	Attempt      uint32 `json:"attempt,omitempty"` // from 0; the one that closed
	Contributors uint32 `json:"contributors"`
	Asked        uint32 `json:"asked,omitempty"` // devices, by the last attempt; 0: an open roster
	Late         uint32 `json:"late,omitempty"`  // of the contributors, those to earlier records
	Declines     uint32 `json:"declines,omitempty"`
	// Rejected counts the messages that the coordinator dropped since the point before, by cause;
	// causes without any are left out. See report.Counters.Drops.
	Rejected map[string]uint64 `json:"rejected,omitempty"`

	// BytesUp and BytesDown are the bytes that a device taking part in a round sends and receives at
	// its socket. They are computed as in plan/cost; they are not counted. TLS, TCP and IP are not in
	// them.
	BytesUp   uint64 `json:"bytes_up,omitempty"`
	BytesDown uint64 `json:"bytes_down,omitempty"`
	// Queries is how many losses a device has evaluated that took part in every round, from the first
	// that this history saw: as plan/cost prices the plan. Surveys are not in it.
	Queries uint64 `json:"queries,omitempty"`

	Step          float32 `json:"step"`              // eta
	Perturbations uint32  `json:"perturbations"`     // P
	Epsilon       float64 `json:"epsilon,omitempty"` // spent by here, of a device in every round

	Evaluation *Evaluation `json:"evaluation,omitempty"` // of the state after record N
}

// IsRound says whether record N is a round's.
func (p *Point) IsRound() bool { return p.Contributors > 0 }

// An Evaluation is the metrics that devices measured for a state.
type Evaluation struct {
	Devices uint32 `json:"devices"` // that reported
	Asked   uint32 `json:"asked,omitempty"`
	Samples uint64 `json:"samples"` // the weight of the means
	// Metrics are means weighted by samples, by the plan's names; nil where one is not finite.
	Metrics map[string]*float64 `json:"metrics"`
}

// A Kind says what a [Mark] marks.
type Kind string

// The kinds of marks.
const (
	Paused     Kind = "paused"         // Text says why
	Resumed    Kind = "resumed"        //
	Changed    Kind = "changed"        // Fields are the plan's fields that changed
	RolledBack Kind = "rolled back"    // to record To
	Ended      Kind = "ended"          // Text says why
	Diverged   Kind = "diverged"       // the run paused for it; Text says how
	Digests    Kind = "digests differ" // of the state after record To; Text says whose
	Adopted    Kind = "adopted"        // a coordinator of epoch To had written record N
	Surveyed   Kind = "survey"         // devices answered Survey; Text says what followed, and why
	Began      Kind = "began"          // a coordinator took the lead, in epoch To
	InVain     Kind = "in vain"        // work of member ID counts for nothing or little; see Text
	SameID     Kind = "same id"        // two devices send as member ID
	NoFall     Kind = "no fall"        // the loss has not fallen; Text says more
)

// A Mark is an event that is worth a mark in a chart.
type Mark struct {
	N      uint64    `json:"n"` // the last record when it happened
	Round  uint64    `json:"round"`
	Time   time.Time `json:"time"` // in UTC
	Kind   Kind      `json:"kind"`
	Text   string    `json:"text,omitempty"`
	To     uint64    `json:"to,omitempty"`
	Fields []string  `json:"fields,omitempty"`
	ID     string    `json:"id,omitempty"` // InVain, SameID; Text begins with it, too

	// Surveyed.
	Survey       string  `json:"survey,omitempty"` // what was asked in place of scalars
	Attempt      uint32  `json:"attempt,omitempty"`
	Contributors uint32  `json:"contributors,omitempty"`
	Seconds      float64 `json:"seconds,omitempty"`
	Epsilon      float64 `json:"epsilon,omitempty"`
}

// Words describes the mark on one line.
func (m *Mark) Words() string {
	text := string(m.Kind)
	switch m.Kind {
	case RolledBack:
		text += fmt.Sprintf(" to record %d", m.To)
	case Digests:
		text += fmt.Sprintf(" after record %d", m.To)
	case Began, Adopted:
		text += fmt.Sprintf(", epoch %d", m.To)
	case Surveyed:
		text += " of " + m.Survey
	}
	if len(m.Fields) > 0 && m.Kind != Surveyed { // whose name says it
		text += " " + strings.Join(m.Fields, ", ")
	}
	if m.Text != "" {
		text += ": " + m.Text
	}
	return text
}

// finite returns x with as few digits as distinguish it from other float32, or nil if it is a NaN
// or an infinity.
func finite(x float32) *float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil || math.IsNaN(d) || math.IsInf(d, 0) {
		return nil
	}
	return &d
}

// same says whether two marks are of one event.
func (m *Mark) same(o Mark) bool {
	return m.N == o.N && m.Kind == o.Kind && m.Time.Equal(o.Time) && m.Text == o.Text && m.To == o.To
}
