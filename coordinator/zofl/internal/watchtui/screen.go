package watchtui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// screen draws the run: its state, its curves, its events, its devices, and the keys.
func (m *Model) screen() string {
	rows := m.header()
	rest := m.height - len(rows) - 1
	switch {
	case m.help:
		rows = append(rows, helpRows()...)
	case m.status == nil:
	default:
		if !m.fleet.whole {
			marks := m.happened(max(1, min(rest/6, 6)))
			spare := rest - len(marks) - tableHead - max(1, m.fleet.rows.Members)
			rows = append(rows, m.curves(max(5, rest*2/5, min(spare, rest/2)))...)
			rows = append(rows, marks...)
		}
		rows = append(rows, m.fleet.table(m.width, m.height-len(rows)-1)...)
	}
	for len(rows) < m.height-1 {
		rows = append(rows, "")
	}
	rows = append(rows[:max(0, m.height-1)], m.footer())
	for i, r := range rows {
		if rows[i] = within(r, m.width); !m.colors {
			rows[i] = ansi.Strip(rows[i])
		}
	}
	return strings.Join(rows, "\n")
}

// stateLooks are the styles of a coordinator's states.
var stateLooks = map[string]lipgloss.Style{"open": good, "waiting": notable, "paused": notable,
	"ended": strong, "deposed": bad}

// header describes the state of the run.
func (m *Model) header() (rows []string) {
	title := strong.Render(terminal.Plain(m.run))
	s := m.status
	if s != nil {
		title += stateLooks[s.State].Render("  " + terminal.Plain(s.State))
		if s.End != "" {
			title += ": " + terminal.Plain(s.End)
		}
	}
	rows = append(rows, title)
	if m.away != nil {
		rows = append(rows, bad.Render("away, asking again: "+terminal.Plain(m.away.Error())))
	}
	if s == nil {
		if m.away == nil {
			rows = append(rows, faint.Render("asking ..."))
		}
		return rows
	}
	whys := []string{s.Reason, s.LogError, s.CatchUpError, s.ObjectError}
	if s.Waits != "" {
		whys = append(whys, "waits for devices: "+s.Waits)
	}
	whys = append(whys, s.Warnings()...)
	for _, why := range whys {
		if why != "" {
			rows = append(rows, notable.Render(terminal.Plain(why)))
		}
	}
	var parts []string
	if m.track.round() != nil {
		parts = strings.Split(m.track.meter.String(), "   ")
	}
	parts = append(parts, m.roundParts()...)
	rows = append(rows, wrapped(parts, m.width)...)
	if rejects := m.rejects(); len(rejects) > 1 {
		rows = append(rows, wrapped(rejects, m.width)...)
	}
	return append(rows, "")
}

// roundParts returns the facts about the last round and the open round that the meter's text leaves
// out.
func (m *Model) roundParts() (parts []string) {
	add := func(format string, args ...any) {
		parts = append(parts, fmt.Sprintf(format, args...))
	}
	if p := m.track.round(); p != nil {
		add("%d late", p.Late)
		parts = append(parts, terminal.Count(p.Declines, "decline"))
	}
	s := m.status
	if s.End == "" {
		add("%d of %d present", s.Present, s.Members)
	}
	if asks := s.Asks(); asks != "" {
		add("asks for %s", terminal.Plain(asks))
	} else if s.Asked > 0 {
		add("open round: %d of %d", s.Contributions, s.Asked)
	}
	if p := s.Participation; p != nil {
		add("of a device %d to %d contributions", p.Fewest, p.Most)
	}
	if s.Best != nil {
		add("best %s", terminal.Plain(s.Best.String()))
	}
	if b := s.Privacy; b != nil {
		spent := "epsilon " + number(b.Epsilon)
		if s.Planned != nil {
			spent += " of " + number(s.Planned.Epsilon)
		}
		add("%s", spent)
	}
	return parts
}

// rejects returns texts with the numbers of dropped and refused messages, by reason.
func (m *Model) rejects() []string {
	parts := []string{"rejected:"}
	for _, d := range m.status.Counters.Drops() {
		if d.Count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", d.Count, d.Cause))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(m.status.TurnedAway)) {
		parts = append(parts, notable.Render(fmt.Sprintf("%s turned away: %d",
			terminal.Plain(kind), m.status.TurnedAway[kind])))
	}
	for _, b := range m.status.Banned {
		parts = append(parts, notable.Render(terminal.Plain(b.ID)+" banned"))
	}
	return parts
}

// curves draws the curve of the loss, and the curve of a metric beside it.
func (m *Model) curves(height int) []string {
	loss := chart{title: "loss", look: line1, curve: m.track.losses()}
	m.place(&loss)
	if len(m.track.names) == 0 {
		return loss.rows(m.width, height)
	}
	name := m.track.names[m.metric%len(m.track.names)]
	metric := chart{title: name, look: line2, curve: m.track.measured(name)}
	if n := len(m.track.names); n > 1 {
		metric.title += fmt.Sprintf("  (m: %d of %d)", m.metric%n+1, n)
	}
	m.place(&metric)
	half := m.width / 2
	left, right := loss.rows(half-1, height), metric.rows(m.width-half, height)
	for i := range left {
		left[i] += " " + right[i]
	}
	return left
}

// place sets the texts below a chart, with its first and last record, and the marks on its axis.
func (m *Model) place(c *chart) {
	if n := len(c.curve.n); n > 0 {
		c.left = fmt.Sprintf("record %.0f", c.curve.n[0])
		c.right = fmt.Sprintf("%.0f", c.curve.n[n-1])
	}
	for i := range m.track.marks {
		switch m.track.marks[i].Kind {
		case history.Surveyed, history.Began:
		default:
			if !m.track.marks[i].Kind.OfDevice() {
				c.marks = append(c.marks, float64(m.track.marks[i].N))
			}
		}
	}
}

// happened returns rows with the last marks, the newest first.
func (m *Model) happened(most int) (rows []string) {
	marks := m.track.marks
	for i := len(marks) - 1; i >= 0 && len(rows) < most; i-- {
		rows = append(rows, markRow(&marks[i]))
	}
	return rows
}

func markRow(k *history.Mark) string {
	look := plain
	if k.Kind == history.Diverged || k.Kind == history.Digests {
		look = bad
	}
	at := fmt.Sprintf("▲ %s  round %-6d ", k.Time.Format("15:04:05"), k.Round)
	return faint.Render(at) + look.Render(terminal.Plain(k.Words()))
}

// footer shows the question, the outcome of a command, or the keys.
func (m *Model) footer() string {
	switch {
	case m.question != "":
		return notable.Render(commands[m.question].question) + "  y: yes   n: no"
	case m.busy != "":
		return notable.Render(m.busy + " ...")
	}
	room, note := m.width, ""
	if m.note != "" {
		note = notable.Render(m.note) + "   "
		room -= lipgloss.Width(note)
	}
	if m.fleet.typing {
		return note + faint.Render("type a part of an id or a state  enter: keep it  esc: all devices")
	}
	return note + faint.Render(keysWithin(room))
}

// keysWithin lists the keys that have room in some columns. Help and quit go last.
func keysWithin(room int) string {
	const help = "? help  q quit"
	keys := ""
	for _, key := range []string{"p pause", "r resume", "s stop", "f devices", "/ filter",
		"1-6 sort"} {
		if len(keys)+len(key)+len("  ")+len(help) > room {
			break
		}
		keys += key + "  "
	}
	return keys + help
}

// helpRows returns rows that explain the keys.
func helpRows() (rows []string) {
	for _, k := range [][2]string{
		{"p r s", "pause, resume or end the run, after a question"},
		{"m", "draw the next metric"},
		{"f, tab", "only the devices, or the curves too"},
		{"↑ ↓ k j", "scroll the devices by one"},
		{"pgup pgdn", "by a page; home and end: to the first and the last"},
		{"1 to 6", "sort by that column; again: in reverse"},
		{"/", "show devices with a text in their id or state; esc: all"},
		{"q, ctrl+c", "quit; the run goes on"},
		{"", ""},
		{"▲", "where the run was paused, changed, rolled back or the like (UTC)"},
		{"", "Any key closes this help."},
	} {
		rows = append(rows, strong.Render(fmt.Sprintf("  %-11s", k[0]))+k[1])
	}
	return rows
}
