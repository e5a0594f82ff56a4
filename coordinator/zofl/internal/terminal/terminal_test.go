package terminal

import (
	"bytes"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen returns the lines on a terminal after a program has written the given bytes.
func screen(written string) []string {
	lines := []string{""}
	for written != "" {
		last := &lines[len(lines)-1]
		switch rest, cleared := strings.CutPrefix(written, "\r\x1b[K"); {
		case cleared:
			*last, written = "", rest
		case written[0] == '\n':
			lines, written = append(lines, ""), written[1:]
		default:
			*last, written = *last+written[:1], written[1:]
		}
	}
	return lines
}

func onTerminal(out *bytes.Buffer, width int) *Live {
	return &Live{out: out, width: func() int { return width }}
}

// TestLive: log lines are above the live line. The live line has the last text, cut to the width.
func TestLive(t *testing.T) {
	var out bytes.Buffer
	l := onTerminal(&out, 12)
	l.Set("round 1")
	if _, err := l.Write([]byte("level=INFO\n")); err != nil {
		t.Fatal(err)
	}
	l.Set("round 2") // too soon to be drawn
	l.Set("round 3 of 1000")
	l.Close()
	l.Set("round 4")
	l.Close()
	got := strings.Join(screen(out.String()), "|")
	if want := "level=INFO|round 3 of…|"; got != want {
		t.Errorf("the screen has %q, want %q", got, want)
	}
}

// TestLiveDrawsLater: a Live draws a text that was set too soon after another text a moment later.
func TestLiveDrawsLater(t *testing.T) {
	drawn := make(chan string, 8)
	l := &Live{out: writerFunc(func(b []byte) { drawn <- string(b) }), width: func() int { return 80 }}
	defer l.Close()
	l.Set("one")
	l.Set("two")
	for _, want := range []string{"one", "two"} {
		select {
		case got := <-drawn:
			if got != "\r\x1b[K"+want {
				t.Errorf("drawn %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q is not drawn", want)
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// TestStill: without a terminal, a Live writes no live line and no control character.
func TestStill(t *testing.T) {
	var out bytes.Buffer
	l := Still(&out)
	l.Set("round 1")
	_, _ = l.Write([]byte("level=INFO\n"))
	l.Close()
	if l.Moves() || out.String() != "level=INFO\n" {
		t.Errorf("got %q", &out)
	}
}

// TestMeter: the rate is that of the last rounds, the time left follows from it, and a rollback
// changes neither.
func TestMeter(t *testing.T) {
	m := Meter{Rounds: 500, Metrics: []string{"accuracy"}}
	at := time.Unix(0, 0)
	for i := range uint64(400) {
		step := time.Second
		if i >= 50 {
			step = time.Second / 4
		}
		at = at.Add(step)
		m.Round(i+1, at)
		m.Round(i+1, at.Add(time.Millisecond)) // says nothing new
	}
	if rate := m.Rate(); math.Abs(rate-4) > 0.001 {
		t.Errorf("%v rounds a second, want 4", rate)
	}
	for range 100 {
		m.Lost(0.5)
	}
	m.Took(3, 4)
	m.Evaluated([]float32{0.875, 2})
	m.Lost(0.75)
	want := "round 400 of 500, 4 a second   loss 0.75   smoothed 0.5168   accuracy 0.875   " +
		"metric2 2   " +
		"3 of 4 devices   25s left"
	if got := m.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("round", m.Attrs()...)
	if got := log.String(); !strings.Contains(got, "round=400 of=500 loss=0.75 "+
		"smoothed=0.5168 metrics.accuracy=0.875 metrics.metric2=2 contributors=3 asked=4 rounds/s=4 "+
		"left=25s") {
		t.Errorf("logged %q", got)
	}
	before := m.Rate()
	m.Round(100, at.Add(time.Hour))
	if m.Rate() != before || !strings.HasPrefix(m.String(), "round 100 of 500") {
		t.Errorf("after a rollback: %v", &m)
	}
}

// TestMeterReplays: a log is replayed at thousands of rounds a second.
func TestMeterReplays(t *testing.T) {
	var m Meter
	for i := range 9 {
		m.Round(uint64(i+1), time.Unix(0, 0).Add(time.Duration(i)*time.Second/20000))
	}
	m.Took(1, 0)
	if got, want := m.String(), "round 9, 20000 a second   1 device"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMeterKnowsNothing: a Meter's text leaves out unknown values.
func TestMeterKnowsNothing(t *testing.T) {
	var m Meter
	m.Round(7, time.Unix(9, 0))
	if got := m.String(); got != "round 7" {
		t.Errorf("got %q", got)
	}
	if got := m.Attrs(); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	m.Lost(math.Inf(1))
	if got := m.String(); got != "round 7   loss +Inf" {
		t.Errorf("got %q", got)
	}
	m.Rounds = math.MaxUint64
	m.Round(8, time.Unix(99999, 0))
	if m.Left() != 0 {
		t.Errorf("%v left", m.Left())
	}
}

// TestBar: a quick command shows no progress. A longer command shows a line every ten seconds or,
// on a terminal, a bar after two seconds.
func TestBar(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	var lines, moving bytes.Buffer
	still := newBar(&lines, Still(&lines), "round", 90, clock)
	moves := newBar(&moving, onTerminal(&moving, 80), "round", 90, clock)
	for i := range uint64(31) {
		if i == 2 && (lines.Len() > 0 || moving.Len() > 0) {
			t.Errorf("after a second: %q, %q", &lines, &moving)
		}
		still.Show(i, "loss 1")
		moves.Show(i, "loss 1")
		now = now.Add(time.Second)
	}
	still.Finish()
	moves.Finish()
	if got := lines.String(); got != "round 10 of 90  loss 1\nround 20 of 90  loss 1\n"+
		"round 30 of 90  loss 1\n" {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(moving.String(), "round 2/90 "+strings.Repeat("░", 20)+"  loss 1") ||
		!strings.HasSuffix(moving.String(), "\r\x1b[K") {
		t.Errorf("the bar drew %q", &moving)
	}
	lines.Reset()
	unknown := newBar(&lines, Still(&lines), "record", 0, clock)
	now = now.Add(time.Minute)
	if unknown.Set(5); lines.String() != "record 5\n" {
		t.Errorf("got %q", &lines)
	}
}

// TestBarLeft: the time left is that of the pace of all units so far, in round numbers. Slow units
// between quick ones do not make it swing.
func TestBarLeft(t *testing.T) {
	now := time.Unix(0, 0)
	var out bytes.Buffer
	b := newBar(&out, onTerminal(&out, 80), "round", 300, func() time.Time { return now })
	b.Set(0)
	last := time.Duration(0)
	for n := uint64(1); n < 300; n++ {
		step := 100 * time.Millisecond
		if n%20 == 0 {
			step = 2 * time.Second
		}
		now = now.Add(step)
		text := b.left(n, now)
		if now.Sub(b.firstAt) < quick {
			if text != "" {
				t.Errorf("round %d: %q", n, text)
			}
			continue
		}
		left, err := time.ParseDuration(strings.TrimSuffix(text, " left"))
		if err != nil || last > 0 && (left > last+15*time.Second || left < last-15*time.Second) {
			t.Errorf("round %d: %q, %v; %v before", n, text, err, last)
		}
		last = left
	}
	if got := b.drawn(150, now); !strings.HasPrefix(got, "round 150/300 ██████████░░░░░░░░░░  ") {
		t.Errorf("drew %q", got)
	}
}

// TestBytesAreShown: a bar shows how many MiB went through a reader or a writer, and every byte of
// them arrives.
func TestBytesAreShown(t *testing.T) {
	now := time.Unix(0, 0)
	var lines, copied bytes.Buffer
	clock := func() time.Time { return now }
	bar := newBar(&lines, Still(&lines), "MiB", 4, clock)
	data := bytes.Repeat([]byte("zofl"), MiB)
	in := bar.Reader(bytes.NewReader(data))
	out := newBar(&lines, Still(&lines), "MiB written", 0, clock).Writer(&copied)
	for range 4 {
		now = now.Add(4 * time.Second)
		if _, err := io.CopyN(out, in, MiB); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(copied.Bytes(), data) {
		t.Error("the bytes that arrive are others")
	}
	got := lines.String()
	if !strings.HasPrefix(got, "MiB 2 of 4\n") || !strings.Contains(got, "MiB written 2\n") {
		t.Errorf("got %q", got)
	}
}

// TestWishesOfTheEnvironment: on a dumb terminal there is no live line. There are no colors on a
// dumb terminal or if NO_COLOR is not empty.
func TestWishesOfTheEnvironment(t *testing.T) {
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptm.Close()
	defer tty.Close()
	for _, c := range []struct {
		term, noColor string
		moves, colors bool
	}{
		{"xterm", "", true, true},
		{"xterm", "1", true, false},
		{"dumb", "", false, false},
		{"dumb", "0", false, false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		live, bar := NewLive(tty).Moves(), NewBar(tty, "round", 9).Moves()
		if live != c.moves || bar != c.moves || Colors() != c.colors {
			t.Errorf("TERM=%s NO_COLOR=%s: a line moves %v, a bar %v; colors %v", c.term, c.noColor, live,
				bar, Colors())
		}
	}
}
