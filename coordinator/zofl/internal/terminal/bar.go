package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// LineEvery is the time from one line of progress to the next, without a terminal.
	LineEvery = 10 * time.Second
	// quick bounds the duration of commands that show no progress.
	quick = 2 * time.Second
	// barWidth is the width of a bar in columns.
	barWidth = 20
)

// A Bar shows the progress of a command that takes more than two seconds: a moving bar on a
// terminal, otherwise a line every ten seconds.
type Bar struct {
	out   io.Writer
	live  *Live
	clock func() time.Time
	unit  string
	most  uint64
	text  string
	begun time.Time
	pace  Pace

	known   bool // a number of units, and when it was done
	first   uint64
	firstAt time.Time
}

// NewBar returns a bar that shows progress towards most units, such as rounds; 0 means that the
// number is unknown.
func NewBar(out *os.File, unit string, most uint64) *Bar {
	return newBar(out, NewLive(out), unit, most, time.Now)
}

func newBar(out io.Writer, live *Live, unit string, most uint64, clock func() time.Time) *Bar {
	b := &Bar{out: out, live: live, clock: clock, unit: unit, most: most, begun: clock(),
		pace: Pace{Every: LineEvery}}
	b.pace.Due(b.begun) // the first line comes after LineEvery
	return b
}

// Moves says whether there is a terminal.
func (b *Bar) Moves() bool { return b.live.Moves() }

// Limit changes the number of units towards which the bar shows progress.
func (b *Bar) Limit(most uint64) { b.most = most }

// Show sets the number of units that are done to n, and the text beside the bar.
func (b *Bar) Show(n uint64, text string) {
	b.text = text
	b.Set(n)
}

// Set sets the number of units that are done to n.
func (b *Bar) Set(n uint64) {
	now := b.clock()
	if !b.known {
		b.known, b.first, b.firstAt = true, n, now
	}
	switch {
	case b.Moves() && now.Sub(b.begun) >= quick:
		b.live.Set(b.drawn(n, now))
	case !b.Moves() && b.pace.Due(now):
		line := fmt.Sprintf("%s %d", b.unit, n)
		if b.most > 0 {
			line += fmt.Sprintf(" of %d", b.most)
		}
		if b.text != "" {
			line += "  " + b.text
		}
		fmt.Fprintln(b.out, line)
	}
}

// drawn returns the line with the bar.
func (b *Bar) drawn(n uint64, now time.Time) string {
	line := fmt.Sprintf("%s %d", b.unit, n)
	if b.most > 0 {
		full := int(float64(min(n, b.most)) / float64(b.most) * barWidth)
		line += fmt.Sprintf("/%d %s%s", b.most, strings.Repeat("█", full),
			strings.Repeat("░", barWidth-full))
	}
	for _, text := range []string{b.text, b.left(n, now)} {
		if text != "" {
			line += "  " + text
		}
	}
	return line
}

// left says how long the rest takes at the pace of all units so far, because that of the last ones
// swings. The text is empty in the first seconds.
func (b *Bar) left(n uint64, now time.Time) string {
	took := now.Sub(b.firstAt)
	if n <= b.first || n >= b.most || took < quick {
		return ""
	}
	left := time.Duration(float64(took) / float64(n-b.first) * float64(b.most-n))
	unit := time.Minute
	switch {
	case left < 10*time.Second:
		unit = time.Second
	case left < time.Minute:
		unit = 5 * time.Second
	case left < 10*time.Minute:
		unit = 15 * time.Second
	}
	return Brief(max(left.Round(unit), unit).Seconds()) + " left"
}

// Finish removes the bar.
func (b *Bar) Finish() { b.live.Remove() }
