package history

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// pointOf returns the point of a round in an event.
func pointOf(e *report.Event, at time.Time) Point {
	p := Point{N: e.N, Round: e.Round, Time: at, Loss: finite(e.Loss), Seconds: e.Seconds,
		Attempt: e.Attempt, Contributors: e.Contributors, Asked: e.Asked, Late: e.Late,
		Declines: e.Declines, Step: e.Step, RoundStep: e.RoundStep,
		Perturbations: e.Perturbations, Epsilon: epsilonOf(e)}
	if e.Kind == report.PhaseDone {
		p.Phase = 1
	}
	return p
}

func epsilonOf(e *report.Event) float64 {
	if e.Privacy == nil || !(e.Privacy.Epsilon <= math.MaxFloat64) {
		return 0
	}
	return e.Privacy.Epsilon
}

// evaluationOf returns the metrics in an event, by their names. A metric without a name gets its
// number as name.
func evaluationOf(e *report.Evaluation, names []string) *Evaluation {
	v := &Evaluation{Devices: e.Count, Asked: e.Asked, Samples: e.Samples,
		Metrics: map[string]*float64{}}
	for i, x := range e.Metrics {
		name := fmt.Sprintf("metric %d", i+1)
		if i < len(names) {
			name = names[i]
		}
		v.Metrics[name] = finite(x)
	}
	return v
}

// markOf returns the mark of an event, and whether the history keeps a mark of such events.
func markOf(e *report.Event, at time.Time) (Mark, bool) {
	m := Mark{N: e.N, Round: e.Round, Time: at, Text: e.Reason}
	switch e.Kind {
	case report.RunPaused:
		if m.Kind = Paused; e.Diverged {
			m.Kind = Diverged
		}
	case report.RunResumed:
		m.Kind = Resumed
	case report.Changed:
		m.Kind, m.Fields = Changed, e.Fields
	case report.RolledBack:
		m.Kind, m.To = RolledBack, e.To
	case report.RunEnded:
		m.Kind, m.Text = Ended, e.End.Reason.String()
		if e.End.Text != "" {
			m.Text += ": " + e.End.Text
		}
	case report.DigestsDiffer:
		m.Kind, m.To, m.Text = Digests, e.Digests.N, strings.Join(e.Digests.Differ, ", ")
	case report.Adopted:
		m.Kind, m.To, m.Text = Adopted, e.Epoch, e.Record.String()
	case report.Surveyed:
		m.Kind, m.Survey, m.Fields, m.Text = Surveyed, e.Survey.Kind, e.Fields, e.Survey.Reason()
		if e.Survey.Value != 0 {
			m.Text = strconv.FormatFloat(float64(e.Survey.Value), 'g', 4, 32) + ", " + m.Text
		}
		m.Attempt, m.Contributors, m.Seconds = e.Attempt, e.Contributors, e.Seconds
		m.Epsilon, m.Warning = epsilonOf(e), e.Survey.Warning
		m.SignalToNoise, m.LossesFactor = e.Survey.SignalToNoise, e.Survey.LossesFactor
	case report.Unused:
		m.Kind, m.ID, m.Text = InVain, e.ID, e.ID+": "+e.Reason
	case report.Suspected:
		m.Kind, m.ID, m.Text = Suspect, e.ID, e.ID+": "+e.Reason
	case report.SameID:
		m.Kind, m.ID, m.Text = SameID, e.ID, e.ID+": two devices send under this id, and one's "+
			"answers are lost: give one of them another id"
	default:
		return m, false
	}
	return m, true
}

// began returns the mark of a coordinator that takes the lead.
func began(s *report.Status) Mark {
	return Mark{N: s.N, Round: s.Rounds, Time: inUTC(time.Now()), Kind: Began, To: s.Epoch}
}
