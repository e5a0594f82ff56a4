package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// logEvery is the number of rounds from one printed line to the next, without a terminal.
const logEvery = 100

// A bar shows the progress of a command on a terminal. Without one it shows nothing.
type bar struct {
	moving *progressbar.ProgressBar // nil without a terminal
}

// newBar shows progress up to most.
func newBar(out *os.File, most uint64) *bar {
	b := &bar{}
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

// moves says whether there is a terminal.
func (b *bar) moves() bool { return b.moving != nil }

// limit changes up to what it shows progress.
func (b *bar) limit(most uint64) {
	if b.moves() {
		b.moving.ChangeMax64(int64(most))
	}
}

// describe says what is going on.
func (b *bar) describe(text string) {
	if b.moves() {
		b.moving.Describe(text)
	}
}

// set moves the bar to n.
func (b *bar) set(n uint64) {
	if b.moves() {
		b.moving.Set64(int64(n)) // an error is the terminal's: ignored
	}
}

// show says what is going on at n.
func (b *bar) show(n uint64, text string) {
	b.describe(text)
	b.set(n)
}

// finish ends the bar.
func (b *bar) finish() {
	if b.moves() {
		b.moving.Finish()
	}
}
