package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
)

// A logbook is a CSV whose logger has a bad clock and bad power.
type logbook struct {
	text   strings.Builder
	random *rand.Rand
	now    time.Time
}

func newLogbook(seed uint64) *logbook {
	b := &logbook{random: rand.New(rand.NewPCG(seed, 0)), now: at("2020-01-01T00:00:00Z")}
	b.text.WriteString("time,temperature\n")
	b.rows(b.now.Add(-3*time.Hour), 3) // the first times are believed
	return b
}

// add writes some rows, and sometimes a mishap.
func (b *logbook) add() {
	for range b.random.IntN(200) {
		b.row(b.now)
		b.now = b.now.Add(time.Duration(b.random.IntN(40)) * time.Minute)
	}
	hour := time.Hour
	switch b.random.IntN(14) {
	case 0: // a gap, possibly longer than the window
		b.now = b.now.Add(time.Duration(b.random.IntN(200)) * hour)
		for range clockSlots + 2 { // until the new time is believed
			b.row(b.now)
			b.now = b.now.Add(hour)
		}
	case 1: // another time zone, or a clock an hour back
		b.now = b.now.Add(-time.Duration(b.random.IntN(23)) * hour)
	case 2: // a clock that is not set
		b.rows(time.Unix(0, 0), b.random.IntN(100))
	case 3: // a clock with an empty battery
		b.rows(b.now.AddDate(70, 0, 0), b.random.IntN(clockSlots))
	case 4: // a damaged row
		b.rows(b.now.AddDate(b.random.IntN(90)-45, 0, 0), 1)
	case 5: // rows that cannot be read
		b.text.WriteString([]string{"\n\n", "\x00\x00\n", "time,temperature\n", "9,9,9,9\n",
			"more\r\n", "2020-"}[b.random.IntN(6)])
	case 6:
		b.text.WriteString(strings.Repeat("x", b.random.IntN(lineMost)))
	}
}

func (b *logbook) row(at time.Time) {
	fmt.Fprintf(&b.text, "%s,%.*f\n", at.Format(time.RFC3339), b.random.IntN(9), b.random.Float64()*30)
}

// rows writes rows with another clock, only for a while.
func (b *logbook) rows(at time.Time, n int) {
	for i := range n {
		b.row(at.Add(time.Duration(i) * time.Hour))
	}
	b.row(b.now)
}

// start returns the sheet with which an agent would read a file, given the window that an
// earlier agent saved; nil: none.
func start(t *testing.T, text string, kept *station, lines ...string) *sheet {
	t.Helper()
	cfg := configOf(t, append(lines, "source = csv "+configtest.File(t, text))...)
	st := newStation(cfg)
	if kept != nil {
		if err := st.decode(kept.encode()); err != nil {
			t.Fatal(err)
		}
	}
	s := newSheet(cfg, quiet, st)
	s.pause = func(context.Context, time.Duration) error { return errDone }
	t.Cleanup(func() { _ = s.tail.close() })
	return s
}

// Reading only the end of a file gives the same window as reading the whole file, whatever
// happened to its logger and whatever the agent had saved.
func TestStartIsAsOfTheWholeFile(t *testing.T) {
	end := func(text string, kept *station, stride int) *station {
		s := start(t, text, kept, "model = period=1h", "window = 64 least=1", "model = lags=3 ahead=2")
		s.stride = int64(stride)
		take(t, s, s.clock.station)
		return s.clock.station
	}
	for seed := range uint64(40) {
		b := newLogbook(seed)
		for range 1 + b.random.IntN(60) {
			b.add()
		}
		text := b.text.String()
		kept := end(text[:b.random.IntN(len(text))], nil, len(text))
		for _, kept := range []*station{nil, kept} {
			want, got := end(text, kept, len(text)), end(text, kept, 128)
			if !slices.Equal(got.encode(), want.encode()) {
				t.Fatalf("seed %d, kept %v: slots %d to %d, of the whole file %d to %d", seed, kept != nil,
					got.window.first(), got.window.last, want.window.first(), want.window.last)
			}
		}
	}
}

// An agent reads no more of a file of years than it needs, and enough of a short one. A
// replay reads everything.
func TestStartReadsTheEnd(t *testing.T) {
	file := func(days int) string {
		b := newLogbook(1)
		for range days * 288 {
			b.row(b.now)
			b.now = b.now.Add(5 * time.Minute)
		}
		return b.text.String()
	}
	years, week := file(1000), file(7)
	whole := start(t, years, nil)
	take(t, whole, whole.clock.station)
	for _, c := range []struct {
		what, text string
		kept       *station
		most       int
	}{
		{"a new agent", years, nil, 400_000},
		{"an agent that goes on", years, whole.clock.station, stride},
		{"a short file", week, nil, len(week)},
	} {
		s := start(t, c.text, c.kept)
		if _, err := s.next(t.Context()); err != nil {
			t.Fatal(err)
		}
		from, size := s.tail.extent()
		if left := int(size - from); left > c.most || left < c.most/4 {
			t.Errorf("%s: reads the last %d bytes of %d, want about %d", c.what, left, size, c.most)
		}
	}
	if got, _, _, err := replayed(t, file(30)); err != nil || len(got) != 30*288+4 {
		t.Errorf("a replay has %d readings of %d: %v", len(got), 30*288+4, err)
	}
}
