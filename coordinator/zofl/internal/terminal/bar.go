package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// LineEvery is the time from one line of progress to the next, without a terminal.
	LineEvery = 10 * time.Second
	// quick bounds the duration of commands that show no progress.
	quick = 2 * time.Second
)

// A Bar shows the progress of a command that takes more than two seconds: a moving bar on a
// terminal, otherwise a line every ten seconds.
type Bar struct {
	out    io.Writer
	clock  func() time.Time
	unit   string
	most   uint64
	text   string
	begun  time.Time
	pace   Pace
	moves  bool                     // there is a terminal
	moving *progressbar.ProgressBar // nil until it is shown
}

// NewBar returns a bar that shows progress towards most units, such as rounds; 0 means that the
// number is unknown.
func NewBar(out *os.File, unit string, most uint64) *Bar {
	return newBar(out, NewLive(out).Moves(), unit, most, time.Now)
}

func newBar(out io.Writer, moves bool, unit string, most uint64, clock func() time.Time) *Bar {
	b := &Bar{out: out, clock: clock, unit: unit, most: most, begun: clock(), moves: moves,
		pace: Pace{Every: LineEvery}}
	b.pace.Due(b.begun) // the first line comes after LineEvery
	return b
}

// Moves says whether there is a terminal.
func (b *Bar) Moves() bool { return b.moves }

// Limit changes the number of units towards which the bar shows progress.
func (b *Bar) Limit(most uint64) {
	if b.most = most; b.moving != nil {
		b.moving.ChangeMax64(int64(most))
	}
}

// Show sets the number of units that are done to n, and the text beside the bar.
func (b *Bar) Show(n uint64, text string) {
	b.text = text
	if b.moving != nil {
		b.moving.Describe(text)
	}
	b.Set(n)
}

// Set sets the number of units that are done to n.
func (b *Bar) Set(n uint64) {
	now := b.clock()
	switch {
	case b.moves && b.moving == nil && now.Sub(b.begun) >= quick:
		most := int64(b.most)
		if most == 0 {
			most = -1 // a spinner
		}
		b.moving = progressbar.NewOptions64(most,
			progressbar.OptionThrottle(redrawEvery),
			progressbar.OptionSetWriter(b.out),
			progressbar.OptionSetDescription(b.text),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish())
	case !b.moves && b.pace.Due(now):
		line := fmt.Sprintf("%s %d", b.unit, n)
		if b.most > 0 {
			line += fmt.Sprintf(" of %d", b.most)
		}
		if b.text != "" {
			line += "  " + b.text
		}
		fmt.Fprintln(b.out, line)
	}
	if b.moving != nil {
		_ = b.moving.Set64(int64(n)) // an error means only that the terminal is gone
	}
}

// Finish removes the bar.
func (b *Bar) Finish() {
	if b.moving != nil {
		_ = b.moving.Finish()
	}
}
