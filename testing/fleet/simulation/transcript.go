package simulation

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/frame"
)

// A transcript is the history of a simulation, one event a line. The lines of one event are ordered
// by time and party, because parties act concurrently.
type transcript struct {
	out   io.Writer // nil: the lines are discarded
	began time.Time
	step  int
	lines []line
}

type line struct {
	at    time.Time
	order int // position of the party; -1 for the scheduler
	aside int // 1: of a goroutine beside the party's others, whose lines come first
	text  string
}

// note adds a line about a process, or about the scheduler if p is nil. The caller holds the
// world's lock. note ignores the actions of a crashed process.
func (w *world) note(p *process, format string, args ...any) {
	t := &w.script
	if t.out == nil || p != nil && p.dead && !strings.HasPrefix(format, "crashes") {
		return
	}
	l := line{at: time.Now(), order: -1, text: fmt.Sprintf(format, args...)}
	if p != nil {
		l.order, l.text = p.order, p.String()+" "+l.text
	}
	t.lines = append(t.lines, l)
}

// aside says that the last line is of a goroutine beside the party's others: a device takes the
// first steps of secure aggregation while it computes.
func (t *transcript) aside() {
	if n := len(t.lines); n > 0 {
		t.lines[n-1].aside = 1
	}
}

// flush writes the lines of one event of the scheduler.
func (t *transcript) flush() {
	if t.out == nil {
		return
	}
	slices.SortStableFunc(t.lines, func(a, b line) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order),
			cmp.Compare(a.aside, b.aside))
	})
	for _, l := range t.lines {
		indent := "    "
		if l.order < 0 {
			indent = ""
		}
		fmt.Fprintf(t.out, "%4d %11v %s%s\n",
			t.step, l.at.Sub(t.began).Round(time.Microsecond), indent, l.text)
	}
	t.lines = t.lines[:0]
}

// describe formats a message as text only when the text is printed.
type describe struct {
	w *world
	m *bus.Message
}

func (d describe) String() string {
	kind, _ := d.w.kind(d.m)
	text := frame.Describe(kind, d.m.Data)
	if d.w.scenario.Plan.DPClip > 0 {
		return tips.ReplaceAllString(text, "") // noise is another one each time
	}
	return text
}

var tips = regexp.MustCompile(` tip=\S+`)

// kind returns the kind of a message and the device that the message concerns. The kind of an
// answer follows from its inbox, which stores the request. The caller holds the world's lock.
func (w *world) kind(m *bus.Message) (frame.Kind, string) {
	if in := w.net.inboxes[m.Subject]; in != nil {
		return frame.Of(in.subject, true)
	}
	return frame.Of(m.Subject, false)
}
