package watchtui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

func shows(m *Model, text string) bool { return strings.Contains(m.View().Content, text) }

// TestCommandsAreAsked: a command goes out after a yes and after nothing else, and the screen says
// what became of it.
func TestCommandsAreAsked(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want []string
	}{
		{[]string{"p", "y"}, []string{"pause"}},
		{[]string{"r", "Y"}, []string{"resume"}},
		{[]string{"s", "y"}, []string{"stop"}},
		{[]string{"s", "n", "y"}, nil},
		{[]string{"s", "esc", "y"}, nil},
		{[]string{"s", "x", "enter", "p"}, nil},
		{[]string{"s", "x", "y"}, []string{"stop"}}, // a slip, and the question still stands
		{[]string{"y", "/", "s", "y", "p", "y"}, nil},
		{[]string{"?", "s", "y"}, nil}, // the key closes the help
	} {
		d := kitchen()
		m := screenOf(d, 80, 24, false)
		press(m, c.keys...)
		if !slices.Equal(d.done, c.want) {
			t.Errorf("%v: commands %v, want %v", c.keys, d.done, c.want)
		}
	}
	d := kitchen()
	m := screenOf(d, 80, 24, false)
	if press(m, "p"); !shows(m, "Pause the run?") {
		t.Error("no question")
	}
	if press(m, "y"); !shows(m, "pause: done") || !shows(m, "kitchen  paused") {
		t.Errorf("after a pause:\n%s", m.View().Content)
	}
	d.err = errors.New("resume: refused: the run is not paused")
	if press(m, "r", "y"); !shows(m, "the run is not paused") {
		t.Errorf("after a refusal:\n%s", m.View().Content)
	}
}

// TestQuit: q and ctrl+c end the program. While the user types a filter or answers a question, q
// does not.
func TestQuit(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want bool
	}{
		{[]string{"q"}, true}, {[]string{"?", "q"}, true}, {[]string{"s", "q"}, false},
		{[]string{"/", "q"}, false}, {[]string{"/", "q", "enter", "q"}, true},
	} {
		if got := press(screenOf(kitchen(), 80, 24, false), c.keys...); got != c.want {
			t.Errorf("%v: quits %v", c.keys, got)
		}
	}
	m := screenOf(kitchen(), 80, 24, false)
	press(m, "s")
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); cmd == nil {
		t.Error("ctrl+c does nothing while a question stands")
	}
}

// TestAsksForWhatIsNew: the next question is for what no answer had, and once more for the record
// that devices have evaluated since. Another coordinator's history is read from its begin.
func TestAsksForWhatIsNew(t *testing.T) {
	d := kitchen()
	m := screenOf(d, 80, 24, false)
	ask := func() Question {
		m.Update(m.ask()())
		return d.asked[len(d.asked)-1]
	}
	points, marks := d.answer.Points, d.answer.Marks
	d.answer.Points, d.answer.Marks = nil, nil
	if q := ask(); q.Since != 242 || q.Marks != 4 {
		t.Errorf("asks %+v, want from record 242 and mark 4", q)
	}
	measured := *d.answer.Status
	measured.Evaluation = &operate.Evaluation{N: 230}
	d.answer.Status = &measured
	ask()
	late := points[228]
	accuracy := 0.5
	late.Evaluation = &history.Evaluation{Metrics: map[string]*float64{"accuracy": &accuracy}}
	d.answer.Points = []history.Point{late}
	if q := ask(); q.Since != 230 {
		t.Errorf("asks %+v, want from record 230, which was evaluated", q)
	}
	c := m.track.measured("accuracy")
	if len(c.y) != 13 || c.y[12] != 0.5 || !shows(m, "accuracy 0.5") {
		t.Errorf("an evaluation that came late is not shown: %v", c)
	}
	d.answer.Points = nil
	if q := ask(); q.Since != 242 {
		t.Errorf("asks %+v again", q)
	}
	epoch := *d.answer.Status
	epoch.Epoch, epoch.N = 2, 100
	d.answer.Status = &epoch
	ask()
	d.answer.Points, d.answer.Marks = points[:99], marks[:2]
	q := ask()
	if q.Since != 0 || q.Marks != 0 || len(m.track.points) != 99 || len(m.track.marks) != 2 {
		t.Errorf("asks %+v of another coordinator, and has %d points", q, len(m.track.points))
	}
}

// TestAwayAndBack: while no coordinator answers, the screen keeps its data, says that nobody
// answers, and goes on asking.
func TestAwayAndBack(t *testing.T) {
	d := kitchen()
	m := screenOf(d, 80, 24, false)
	whole := d.answer
	d.answer = Answer{Err: errors.New("no coordinator answers")}
	if _, cmd := m.Update(m.ask()()); cmd == nil {
		t.Error("asks no more")
	}
	if !shows(m, "no coordinator answers") || !shows(m, "round 240 of 400") {
		t.Errorf("while nobody answers:\n%s", m.View().Content)
	}
	d.answer = whole
	if m.Update(m.ask()()); shows(m, "asking again") {
		t.Errorf("when it is back:\n%s", m.View().Content)
	}
}

// large answers with rows of 10,000 devices.
type large struct{ *desk }

func (l large) Ask(q Question) Answer {
	a := l.desk.Ask(q)
	a.Points, a.Marks = nil, nil
	rows := &operate.Rows{From: q.View.From, Matching: 10000, Members: 10000}
	for i := q.View.From; i < min(10000, q.View.From+q.View.Rows); i++ {
		rows.Devices = append(rows.Devices, operate.Device{ID: fmt.Sprintf("pi-%05d", i),
			State: "present"})
	}
	a.Rows = rows
	return a
}

// TestManyDevices: of 10,000 devices some hundred are asked for, around those on the screen.
func TestManyDevices(t *testing.T) {
	d := large{kitchen()}
	m := New(d, "kitchen", false)
	m.Update(m.Init()())
	m.View()
	press(m, "pgdown", "down")
	first := fmt.Sprintf("pi-%05d", m.fleet.shown+1)
	if !shows(m, first) {
		t.Errorf("no %s after a page and a row:\n%s", first, m.View().Content)
	}
	if press(m, "end"); !shows(m, "of 10000") || shows(m, "pi-") {
		t.Errorf("rows that nobody sent:\n%s", m.View().Content)
	}
	if m.Update(m.ask()()); !shows(m, "pi-09999") {
		t.Errorf("the last row is not there:\n%s", m.View().Content)
	}
	press(m, "4", "4", "/", "x", "y", "backspace")
	m.Update(m.ask()())
	for _, q := range d.asked {
		if q.View.Rows > loaded {
			t.Errorf("asks for %d rows", q.View.Rows)
		}
	}
	got := d.asked[len(d.asked)-1].View
	if want := (operate.View{Sort: "latency", Filter: "x", Rows: loaded}); got != want {
		t.Errorf("asks for %+v, want %+v", got, want)
	}
}

// TestOldRowsAreDropped: the screen does not show rows that answer a question for another order.
func TestOldRowsAreDropped(t *testing.T) {
	m := screenOf(kitchen(), 80, 24, false)
	answer := m.ask()
	press(m, "1")
	if m.Update(answer()); shows(m, "pi-3") {
		t.Errorf("rows in another order:\n%s", m.View().Content)
	}
}

// TestTextsAreHarmless: no text from the network can control the terminal.
func TestTextsAreHarmless(t *testing.T) {
	const evil = "a\x1b[2J\u009b31m\x9b\u202eb\r\n"
	d := kitchen()
	s := d.answer.Status
	s.State, s.Reason, s.End, s.LogError, s.Waits = evil, evil, evil, evil, evil
	s.TurnedAway = map[string]uint64{evil: 1}
	d.answer.Rows.Devices[0].ID, d.answer.Rows.Devices[0].State = evil, evil
	d.answer.Marks[3].Fields, d.answer.Marks[3].Kind = []string{evil}, evil
	points := d.answer.Points
	points[len(points)-1].Evaluation = &history.Evaluation{Metrics: map[string]*float64{evil: nil}}
	m := screenOf(d, 120, 40, false)
	for _, away := range []error{nil, errors.New(evil)} {
		m.away = away
		if i := strings.IndexAny(m.View().Content, "\x1b\r\u009b\u202e"); i >= 0 {
			t.Errorf("%q", m.View().Content[max(0, i-20):i+1])
		}
	}
	if !shows(m, "a[2J") {
		t.Error("the texts are not shown at all")
	}
}

// TestPointsAreBounded: a screen that is left on for months keeps the first and the last rounds.
func TestPointsAreBounded(t *testing.T) {
	var track track
	for n := range uint64(3 * mostPoints) {
		track.add(history.Point{N: n + 1})
	}
	if n := len(track.points); n > mostPoints || track.points[0].N != 1 ||
		track.points[n-1].N != 3*mostPoints {
		t.Errorf("%d points, from %d to %d", n, track.points[0].N, track.points[n-1].N)
	}
}

// BenchmarkScreen draws a run of as many rounds and devices as there can be.
func BenchmarkScreen(b *testing.B) {
	d := large{kitchen()}
	m := New(d, "kitchen", true)
	m.Update(m.Init()())
	loss := 1.5
	for n := range uint64(mostPoints) {
		m.track.add(history.Point{N: n + 1, Round: n + 1, Loss: &loss, Contributors: 3})
	}
	for b.Loop() {
		m.View()
	}
}
