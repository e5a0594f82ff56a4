package dashboard

import (
	"fmt"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A mark is an event of the run in words, for the page.
type mark struct {
	Time  time.Time `json:"time"`
	N     uint64    `json:"n"`
	Round uint64    `json:"round"`
	Text  string    `json:"text"`
	Level string    `json:"level"`           // info, warn, bad
	Chart bool      `json:"chart,omitempty"` // charts have a line there
}

// marked returns a mark of the history in words.
func marked(m *history.Mark) mark {
	out := mark{Time: m.Time, N: m.N, Round: m.Round, Text: m.Words(), Level: "info", Chart: true}
	switch m.Kind {
	case history.Paused, history.RolledBack, history.NoFall:
		out.Level = "warn"
	case history.Diverged, history.Digests:
		out.Level = "bad"
	case history.Began:
		out.Chart = m.Round > 0
	case history.Surveyed, history.Tagged:
		out.Chart = false
	}
	if m.Kind.OfDevice() {
		out.Level, out.Chart = "warn", false
	}
	return out
}

// happening returns an event of a device in words, and whether the page should show it. The page
// does not show joins, because thousands of devices may join at once.
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
