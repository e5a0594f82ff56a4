package watchtui

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-runewidth"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/plan/dp"
)

var update = flag.Bool("update", false, "write the screens in testdata")

// A desk is an [Operator] of a run that stands still.
type desk struct {
	answer Answer
	asked  []Question
	done   []string
	err    error // of commands
}

func (d *desk) Ask(q Question) Answer {
	d.asked = append(d.asked, q)
	a := d.answer
	a.Question = q
	return a
}

func (d *desk) Command(verb string) (*operate.Status, error) {
	if d.done = append(d.done, verb); d.err != nil {
		return nil, d.err
	}
	s := *d.answer.Status
	s.State = "paused"
	return &s, nil
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// kitchen is a run of 240 rounds, two of them a second, and three devices.
func kitchen() *desk {
	points := []history.Point{}
	for i := range 240 {
		loss := 2.3*math.Exp(-float64(i)/60) + 0.1*math.Sin(float64(i)*1.7) + 0.2
		p := history.Point{N: uint64(i + 2), Round: uint64(i + 1), Loss: &loss, Contributors: 2, Asked: 3,
			Late: 1, Declines: 1, Time: noon.Add(time.Duration(i) * 500 * time.Millisecond)}
		if i%20 == 0 {
			accuracy, top5 := 1-loss/3, 1-loss/9
			p.Evaluation = &history.Evaluation{Devices: 2, Samples: 100,
				Metrics: map[string]*float64{"accuracy": &accuracy, "top 5": &top5}}
		}
		points = append(points, p)
	}
	seen := noon
	devices := []operate.Device{
		{ID: "pi-3", Slot: 2, State: "silent", Missed: 4},
		{ID: "phone-of-somebody-with-a-name-longer-than-any-column-has-room-for", State: "present",
			LastSeen: &seen, Silence: 0.3, Latency: 12.4, Declines: 1, Battery: 51, Power: "battery",
			Network: "metered", Program: "pantry 1.4", Platform: "android/arm64"},
		{ID: "pi-2", Slot: 1, State: "present", LastSeen: &seen, Silence: 75, Latency: 1830},
	}
	return &desk{answer: Answer{
		Status: &operate.Status{Run: "kitchen", State: "open", N: 241, Rounds: 240, Of: 400, Epoch: 1,
			Members: 3, Present: 2, Asked: 3, Contributions: 1, Privacy: &dp.Budget{Epsilon: 1.25},
			Planned:    &dp.Budget{Epsilon: 3},
			Counters:   report.Counters{Late: 12, Malformed: 3},
			TurnedAway: map[string]uint64{"joins": 5}},
		Points: points,
		Marks: []history.Mark{
			{N: 1, Time: noon, Kind: history.Began, To: 1},
			{N: 81, Round: 80, Time: noon.Add(40 * time.Second), Kind: history.Paused,
				Text: "paused by an operator"},
			{N: 81, Round: 80, Time: noon.Add(42 * time.Second), Kind: history.Resumed},
			{N: 160, Round: 159, Time: noon.Add(80 * time.Second), Kind: history.Changed,
				Fields: []string{"step=0.0005"}, Text: "\x1b\x07calmer"},
		},
		Rows: &operate.Rows{Devices: devices, Matching: 3, Members: 3},
	}}
}

// screenOf returns the model of a run after its first answer.
func screenOf(d *desk, width, height int, colors bool) *Model {
	m := New(d, "kitchen", colors)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	m.Update(m.Init()())
	return m
}

// press presses keys, and does what they lead to, but for the wait for the next question.
func press(m *Model, keys ...string) (quit bool) {
	codes := map[string]rune{"esc": tea.KeyEscape, "enter": tea.KeyEnter, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "down": tea.KeyDown, "pgdown": tea.KeyPgDown}
	for _, key := range keys {
		msg := tea.KeyPressMsg{Code: codes[key]}
		if msg.Code == 0 {
			msg = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		_, cmd := m.Update(msg)
		if cmd == nil {
			continue
		}
		done := cmd()
		if _, quit = done.(tea.QuitMsg); quit {
			return true
		}
		m.Update(done)
	}
	return false
}

// TestNarrowKeys: a narrow screen leaves out keys in the middle. Help and quit stay, and no key is
// cut.
func TestNarrowKeys(t *testing.T) {
	for width, want := range map[int]string{
		80: "p pause  r resume  s stop  f devices  / filter  1-6 sort  ? help  q quit",
		70: "p pause  r resume  s stop  f devices  / filter  ? help  q quit",
		40: "p pause  r resume  ? help  q quit",
		20: "? help  q quit",
	} {
		lines := strings.Split(screenOf(kitchen(), width, 24, false).View().Content, "\n")
		if got := strings.TrimSpace(lines[len(lines)-1]); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestScreens compares screens with those in testdata, which a person has looked at. A screen with
// colors has the text of one without.
func TestScreens(t *testing.T) {
	silent := kitchen()
	silent.answer = Answer{Err: errors.New("no coordinator answers for run \"kitchen\"")}
	young := kitchen()
	young.answer.Points, young.answer.Marks = nil, nil
	young.answer.Status = &operate.Status{State: "waiting", Waits: "8 of 10", Epoch: 1}
	young.answer.Rows = &operate.Rows{}
	surveyed := kitchen()
	surveyed.answer.Status.Survey = "mu"
	plainRun := kitchen()
	for i := range plainRun.answer.Points {
		plainRun.answer.Points[i].Evaluation = nil
	}
	for _, c := range []struct {
		name string
		desk *desk
		keys []string
		then func(m *Model)
	}{
		{name: "run", desk: kitchen()},
		{name: "question", desk: kitchen(), keys: []string{"s"}},
		{name: "paused", desk: kitchen(), keys: []string{"p", "y"}},
		{name: "filter", desk: kitchen(), keys: []string{"f", "2", "/", "p", "i"}, then: func(m *Model) {
			m.Update(m.ask()())
		}},
		{name: "help", desk: kitchen(), keys: []string{"?"}},
		{name: "nobody", desk: silent},
		{name: "away", desk: kitchen(), then: func(m *Model) {
			m.Update(answered(silent.answer))
		}},
		{name: "young", desk: young},
		{name: "no-metrics", desk: plainRun},
		{name: "survey", desk: surveyed},
	} {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			var texts [2]string
			for i, colors := range []bool{false, true} {
				m := screenOf(c.desk, size[0], size[1], colors)
				press(m, c.keys...)
				if c.then != nil {
					c.then(m)
				}
				texts[i] = m.View().Content
				name := fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1])
				if colors {
					name += "-colors"
				}
				sameAsFile(t, name, texts[i])
			}
			lines := strings.Split(texts[0], "\n")
			if len(lines) != size[1] {
				t.Errorf("%s %v: %d rows", c.name, size, len(lines))
			}
			for _, line := range lines {
				if n := runewidth.StringWidth(line); n > size[0] || strings.ContainsAny(line, "\x1b\x07") {
					t.Errorf("%s %v: %d columns: %q", c.name, size, n, line)
				}
			}
			if !strings.Contains(texts[1], "\x1b[") || escapes.ReplaceAllString(texts[1], "") != texts[0] {
				t.Errorf("%s %v: with colors the text is another", c.name, size)
			}
		}
	}
}

func sameAsFile(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s: look at it, then run go test -update:\n%s", name, got)
	}
}

// TestTheDocumentedScreen: docs/operate.md shows a screen as it is.
func TestTheDocumentedScreen(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(screenOf(kitchen(), 80, 24, false).View().Content) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	want := "```text\n" + strings.Join(lines, "\n") + "\n```\n"
	if !strings.Contains(string(page), want) {
		t.Errorf("the page does not show this screen:\n%s", want)
	}
}

// TestAnySize: no size of a terminal breaks the screen.
func TestAnySize(t *testing.T) {
	for width := range 100 {
		for _, height := range []int{0, 1, 2, 5, 8, 12, 24} {
			for _, keys := range [][]string{nil, {"?"}, {"f"}, {"s"}} {
				m := screenOf(kitchen(), width, height, false)
				press(m, keys...)
				lines := strings.Split(m.View().Content, "\n")
				if len(lines) > max(height, 1) {
					t.Fatalf("%dx%d: %d rows", width, height, len(lines))
				}
				for _, line := range lines {
					if runewidth.StringWidth(line) > width {
						t.Fatalf("%dx%d: %q", width, height, line)
					}
				}
			}
		}
	}
}
