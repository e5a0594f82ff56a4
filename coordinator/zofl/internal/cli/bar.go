package cli

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// LogEvery is the number of rounds from one printed line to the next, without a terminal.
const LogEvery = 100

// A Bar shows the progress of a command on a terminal. Without one it shows nothing.
type Bar struct {
	moving *progressbar.ProgressBar // nil without a terminal
}

// NewBar shows progress up to most.
func NewBar(out *os.File, most uint64) *Bar {
	b := &Bar{}
	if term.IsTerminal(int(out.Fd())) {
		b.moving = progressbar.NewOptions64(int64(most),
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish())
	}
	return b
}

// Moves says whether there is a terminal.
func (b *Bar) Moves() bool { return b.moving != nil }

// Limit changes up to what it shows progress.
func (b *Bar) Limit(most uint64) {
	if b.Moves() {
		b.moving.ChangeMax64(int64(most))
	}
}

// Describe says what is going on.
func (b *Bar) Describe(text string) {
	if b.Moves() {
		b.moving.Describe(text)
	}
}

// Set moves the bar to n.
func (b *Bar) Set(n uint64) {
	if b.Moves() {
		b.moving.Set64(int64(n)) // an error is the terminal's: ignored
	}
}

// Show says what is going on at n.
func (b *Bar) Show(n uint64, text string) {
	b.Describe(text)
	b.Set(n)
}

// Finish ends the bar.
func (b *Bar) Finish() {
	if b.Moves() {
		b.moving.Finish()
	}
}
