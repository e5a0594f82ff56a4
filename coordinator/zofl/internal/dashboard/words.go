package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A mark is something that happened, in words.
type mark struct {
	Time  time.Time `json:"time"`
	N     uint64    `json:"n"`
	Round uint64    `json:"round"`
	Text  string    `json:"text"`
	Level string    `json:"level"`           // info, warn, bad
	Chart bool      `json:"chart,omitempty"` // charts have a line there
}

// marked is a mark of the history in words.
func marked(m *history.Mark) mark {
	out := mark{Time: m.Time, N: m.N, Round: m.Round, Level: "info", Chart: true}
	switch m.Kind {
	case history.Paused:
		out.Text, out.Level = "paused: "+m.Text, "warn"
	case history.Diverged:
		out.Text, out.Level = m.Text, "bad"
	case history.NoFall:
		out.Text, out.Level = m.Text, "warn"
	case history.Resumed:
		out.Text = "resumed"
	case history.Changed:
		out.Text = "the plan changed: " + strings.Join(m.Fields, ", ")
	case history.RolledBack:
		out.Text, out.Level = fmt.Sprintf("rolled back to record %d", m.To), "warn"
	case history.Ended:
		out.Text = "ended: " + m.Text
	case history.Digests:
		out.Text, out.Level = fmt.Sprintf("digests differ after record %d", m.To), "bad"
		if m.Text != "" {
			out.Text += ": " + m.Text
		}
	case history.Adopted:
		out.Text = fmt.Sprintf("a coordinator of epoch %d had written a %s", m.To, m.Text)
	case history.Began:
		out.Text = fmt.Sprintf("a coordinator began, in epoch %d", m.To)
		out.Chart = m.Round > 0
	case history.Surveyed:
		out.Text = "devices were asked for " + m.Survey
		if m.Text != "" {
			out.Text += ": " + m.Text
		}
		out.Chart = false
	case history.InVain:
		out.Text, out.Level, out.Chart = "works in vain: "+m.Text, "warn", false
	case history.SameID:
		out.Text, out.Level, out.Chart = m.Text, "warn", false
	default:
		out.Text = strings.TrimSuffix(string(m.Kind)+": "+m.Text, ": ")
	}
	return out
}

// happening is an event of a device in words, and whether it is worth one. Thousands may join at
// once, so joins are not.
func happening(e *report.Event, at time.Time) (mark, bool) {
	m := mark{Time: at.UTC().Truncate(time.Millisecond), N: e.N, Round: e.Round, Level: "info"}
	switch e.Kind {
	case report.Lost:
		m.Text, m.Level = e.ID+" is silent", "warn"
	case report.Left:
		m.Text = e.ID + " left"
	case report.Returned:
		m.Text = e.ID + " is back"
	case report.Retired:
		m.Text = e.ID + " was retired"
	case report.SteppedOut:
		m.Text = fmt.Sprintf("%s stepped out for %.0f s: %s", e.ID, e.Seconds, e.Reason)
	case report.JoinRefused:
		m.Text, m.Level = fmt.Sprintf("%s may not join: %s", e.ID, e.Reason), "warn"
	case report.Refused:
		m.Text, m.Level = "refused: "+e.Reason, "warn"
	default:
		return m, false
	}
	return m, true
}
