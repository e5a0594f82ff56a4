package main

import (
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
)

// logEvery is the number of rounds from one printed line to the next, without a terminal.
const logEvery = 100

// A bar shows the progress of a command: a moving bar on a terminal, otherwise a line every
// logEvery rounds.
type bar struct {
	out    *os.File
	moving *progressbar.ProgressBar // nil without a terminal
}

func newBar(out *os.File, rounds uint64) *bar {
	b := &bar{out: out}
	if term.IsTerminal(int(out.Fd())) {
		b.moving = progressbar.NewOptions64(int64(rounds),
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish())
	}
	return b
}

func (b *bar) update(p demo.Progress) {
	text := fmt.Sprintf("loss %.4f  accuracy %s  %.0f B up  %.0f B down",
		p.Loss, percent(p.Accuracy), p.BytesUp, p.BytesDown)
	switch {
	case b.moving != nil:
		b.moving.ChangeMax64(int64(p.Rounds))
		b.moving.Describe(text)
		b.moving.Set64(int64(p.Round)) // an error is the terminal's: ignored
	case p.Round%logEvery == 0:
		fmt.Fprintf(b.out, "round %d of %d  %s\n", p.Round, p.Rounds, text)
	}
}

// tried notes a trial, and how many loss evaluations all trials took so far.
func (b *bar) tried(stage string, queries uint64) {
	if b.moving != nil {
		b.moving.Describe(stage)
		b.moving.Set64(int64(queries)) // an error is the terminal's: ignored
	}
}

func percent(v float64) string {
	if v < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

func (b *bar) finish() {
	if b.moving != nil {
		b.moving.Finish()
	}
}

// newCopyBar shows the progress of a copy of so many records.
func newCopyBar(out *os.File, records uint64) *bar { return newBar(out, records) }

// copied notes that record n was copied.
func (b *bar) copied(n uint64) {
	if b.moving != nil {
		b.moving.Set64(int64(n)) // an error is the terminal's: ignored
	}
}
