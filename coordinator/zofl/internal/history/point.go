package history

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Point describes the round that record N committed. Each record has at most one point.
//
// If record N is not a round's but devices evaluated the state after it, the point has only N,
// Round, Time, Queries and Evaluation, and perhaps Reported; see [Point.IsRound].
type Point struct {
	N     uint64    `json:"n"`     // its record
	Round uint64    `json:"round"` // the last round in the log up to N; a rollback takes it back
	Time  time.Time `json:"time"`  // of the coordinator's clock, in UTC
	// Phase is 1 in the first phase of a round of two phases. The point of the second phase has the
	// bytes and queries of both.
	Phase uint8 `json:"phase,omitempty"`

	// Loss is the weighted mean of the contributors' training losses; nil if it is not finite.
	Loss    *float64 `json:"loss"`
	Seconds float64  `json:"seconds"` // since the first announcement of record N

	Attempt      uint32 `json:"attempt,omitempty"` // that closed the round, from 0
	Contributors uint32 `json:"contributors"`
	Asked        uint32 `json:"asked,omitempty"` // devices, by the last attempt; 0: an open roster
	Late         uint32 `json:"late,omitempty"`  // contributed to earlier records
	Declines     uint32 `json:"declines,omitempty"`
	// Rejected counts the messages that the coordinator dropped since the point before, by cause. It
	// has no entries of 0. See report.Counters.Drops.
	Rejected map[string]uint64 `json:"rejected,omitempty"`

	// BytesUp and BytesDown are the bytes that a device taking part in a round sends and receives at
	// its socket. Package plan/cost computes these bytes from the plan; nobody counts them. They do
	// not include TLS, TCP and IP.
	BytesUp   uint64 `json:"bytes_up,omitempty"`
	BytesDown uint64 `json:"bytes_down,omitempty"`
	// Queries is how many losses a device has evaluated that took part in every round since the first
	// round in this history. Package plan/cost computes the number from the plan. Queries does not
	// include surveys.
	Queries uint64 `json:"queries,omitempty"`

	Step          float32 `json:"step"`              // the plan's step
	RoundStep     float32 `json:"round_step"`        // eta, which follows from Step
	Perturbations uint32  `json:"perturbations"`     // P
	Epsilon       float64 `json:"epsilon,omitempty"` // spent by a device in every round

	Evaluation *Evaluation `json:"evaluation,omitempty"` // of the state after record N

	// Reported are numbers of the apps' own, by name, since the point before.
	Reported map[string]Reported `json:"reported,omitempty"`
	// Best says that the plan's best was better for this state than for all before.
	Best bool `json:"best,omitempty"`
}

// IsRound says whether record N committed a round.
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
	InVain     Kind = "in vain"        // contributions of member ID come too late; see Text
	Suspect    Kind = "suspect"        // contributions of member ID stand out; see Text
	SameID     Kind = "same id"        // two devices send as member ID
	NoFall     Kind = "no fall"        // the loss has not fallen; Text says more
	Tagged     Kind = "tagged"         // Fields are the run's tags from now on, see [TagsOf]
)

// OfDevice says whether marks of the kind are about one device, so that charts do not show them.
func (k Kind) OfDevice() bool { return k == InVain || k == Suspect || k == SameID }

// A Mark is an event that charts show at its round.
type Mark struct {
	N      uint64    `json:"n"` // the last record when it happened
	Round  uint64    `json:"round"`
	Time   time.Time `json:"time"` // in UTC
	Kind   Kind      `json:"kind"`
	Text   string    `json:"text,omitempty"`
	To     uint64    `json:"to,omitempty"`
	Fields []string  `json:"fields,omitempty"`
	ID     string    `json:"id,omitempty"` // InVain, Suspect, SameID; Text begins with it, too

	// The fields below are set only if Kind is Surveyed.
	Survey       string  `json:"survey,omitempty"` // what was asked in place of scalars
	Attempt      uint32  `json:"attempt,omitempty"`
	Contributors uint32  `json:"contributors,omitempty"`
	Seconds      float64 `json:"seconds,omitempty"`
	Epsilon      float64 `json:"epsilon,omitempty"`
	Signal
	Warning string `json:"warning,omitempty"` // why the value may cost far more losses
}

// A Signal says how much of a difference at the mu that devices found is a slope's.
type Signal struct {
	// SignalToNoise is a slope's part of a difference over its error; 100: that or more; 0: unknown.
	SignalToNoise float64 `json:"signal_to_noise,omitempty"`
	// LossesFactor, 1 + 1/SignalToNoise^2, is how many times the losses the error takes.
	LossesFactor float64 `json:"losses_factor,omitempty"`
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
	if len(m.Fields) > 0 && m.Kind != Surveyed { // the survey's name says the fields
		text += " " + strings.Join(m.Fields, ", ")
	}
	if m.Text != "" {
		text += ": " + m.Text
	}
	return text
}

// finite returns x rounded to the fewest decimal digits that distinguish it from other float32
// values. finite returns nil if x is a NaN or an infinity.
func finite(x float32) *float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil || math.IsNaN(d) || math.IsInf(d, 0) {
		return nil
	}
	return &d
}

// same says whether two marks describe the same event.
func (m *Mark) same(o Mark) bool {
	return m.N == o.N && m.Kind == o.Kind && m.Time.Equal(o.Time) && m.Text == o.Text && m.To == o.To
}
