package terminal

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"
)

// A Meter computes how fast a run goes, and smooths the training loss. The zero value is ready to
// use.
type Meter struct {
	Rounds  uint64   // at which the run ends; 0: at no number
	Metrics []string // names of what devices measure

	round    uint64
	last     time.Time // when it ended; zero: there was none
	seconds  average   // a round
	latest   float64   // the last loss
	losses   int
	loss     average
	values   []float32
	took, of uint32 // contributors of those asked
}

// The last lossHalf losses have half the weight of the average loss. The last rateHalf durations
// have half the weight of the average duration.
const (
	lossHalf = 10
	rateHalf = 20
)

// An average is a mean in which older values count less: each new value multiplies the weight of
// all older values by a factor below 1.
type average struct{ sum, weight float64 }

func (a *average) add(v, half float64) {
	keep := math.Exp2(-1 / half)
	a.sum, a.weight = a.sum*keep+v*(1-keep), a.weight*keep+(1-keep)
}

func (a *average) value() float64 { return a.sum / a.weight }

// Round notes that a round ended at a time. After a rollback the round may be lower than the one
// before.
func (m *Meter) Round(round uint64, at time.Time) {
	if m.last.IsZero() {
		m.round, m.last = round, at
	}
	if round == m.round {
		return
	}
	if round > m.round {
		m.seconds.add(at.Sub(m.last).Seconds()/float64(round-m.round), rateHalf)
	}
	m.round, m.last = round, at
}

// Lost notes the training loss of a round.
func (m *Meter) Lost(loss float64) {
	if m.latest = loss; !math.IsInf(loss, 0) && !math.IsNaN(loss) {
		m.loss.add(loss, lossHalf)
	}
	m.losses++
}

// Took notes how many devices contributed to a round, and how many were asked; 0 means unknown.
func (m *Meter) Took(contributors, asked uint32) { m.took, m.of = contributors, asked }

// Evaluated notes the metrics that devices measured, in the order of Metrics.
func (m *Meter) Evaluated(values []float32) { m.values = values }

// Rate returns the average number of rounds a second, with more weight on the last rounds; 0 if the
// number is unknown.
func (m *Meter) Rate() float64 {
	if m.seconds.weight == 0 || m.seconds.value() <= 0 {
		return 0
	}
	return 1 / m.seconds.value()
}

// Left returns the remaining time of the run at the rate of [Meter.Rate]; 0 if the time is unknown.
func (m *Meter) Left() time.Duration {
	if m.seconds.weight == 0 || m.Rounds <= m.round {
		return 0
	}
	left := float64(m.Rounds-m.round) * m.seconds.value()
	if left > math.MaxInt64/float64(time.Second) {
		return 0
	}
	return time.Duration(left * float64(time.Second))
}

// Smoothed returns the smoothed loss, and whether it says more than the last loss.
func (m *Meter) Smoothed() (loss float64, ok bool) {
	return m.loss.value(), m.losses > 1 && m.loss.weight > 0
}

// Attrs returns the same as String, for a logger, as keys and values.
func (m *Meter) Attrs() []any {
	list := []any{"round", m.round}
	if m.Rounds > 0 {
		list = append(list, "of", m.Rounds)
	}
	if m.losses > 0 {
		list = append(list, "loss", short(m.latest))
	}
	if v, ok := m.Smoothed(); ok {
		list = append(list, "smoothed", short(v))
	}
	var metrics []any
	for i, v := range m.values {
		metrics = append(metrics, m.name(i), short(float64(v)))
	}
	if len(metrics) > 0 { // a metric may have the name of another key
		list = append(list, slog.Group("metrics", metrics...))
	}
	if m.took > 0 {
		list = append(list, "contributors", m.took)
	}
	if m.of > 0 {
		list = append(list, "asked", m.of)
	}
	if rate := m.Rate(); rate > 0 {
		list = append(list, "rounds/s", many(rate))
	}
	if left := m.Left(); left > 0 {
		list = append(list, "left", Brief(left.Seconds()))
	}
	return list
}

func (m *Meter) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "round %d", m.round)
	if m.Rounds > 0 {
		fmt.Fprintf(&b, " of %d", m.Rounds)
	}
	if rate := m.Rate(); rate > 0 {
		fmt.Fprintf(&b, ", %s a second", many(rate))
	}
	if m.losses > 0 {
		fmt.Fprintf(&b, "   loss %s", short(m.latest))
	}
	if v, ok := m.Smoothed(); ok {
		fmt.Fprintf(&b, "   smoothed %s", short(v))
	}
	for i, v := range m.values {
		name := m.name(i)
		if name == "loss" { // not that of training
			name = "evaluated loss"
		}
		fmt.Fprintf(&b, "   %s %s", name, short(float64(v)))
	}
	switch {
	case m.of > 0:
		fmt.Fprintf(&b, "   %d of %d devices", m.took, m.of)
	case m.took > 0:
		fmt.Fprintf(&b, "   %s", Count(m.took, "device"))
	}
	if left := m.Left(); left > 0 {
		fmt.Fprintf(&b, "   %s left", Brief(left.Seconds()))
	}
	return b.String()
}

// name returns the name of a metric.
func (m *Meter) name(i int) string {
	if i < len(m.Metrics) {
		return m.Metrics[i]
	}
	return fmt.Sprint("metric", i+1)
}

// short writes a number with four digits.
func short(v float64) string { return fmt.Sprintf("%.4g", v) }

// many writes a number as short does, but without an exponent: replays of logs reach large numbers.
func many(v float64) string {
	if v < 1000 {
		return short(v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Brief writes a duration with few digits.
func Brief(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(time.Second / 10).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
}

// A Pace limits how often something is done: at first at once, and then whenever Every has passed.
type Pace struct {
	Every time.Duration
	next  time.Time
}

// Due says whether to do it at the given time.
func (p *Pace) Due(at time.Time) bool {
	if at.Before(p.next) {
		return false
	}
	p.next = at.Add(p.Every)
	return true
}
