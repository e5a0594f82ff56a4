package main

import (
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
)

// logEvery is how many rounds pass between lines where there is no terminal.
const logEvery = 100

// A bar shows progress: a moving bar on a terminal, a line now and then
// elsewhere.
type bar struct {
	out    *os.File
	rounds uint64
	moving *progressbar.ProgressBar // nil without a terminal
}

func newBar(out *os.File, rounds uint64) *bar {
	b := &bar{out: out, rounds: rounds}
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
		b.moving.Describe(text)
		b.moving.Set64(int64(p.Round)) // an error here is one of the terminal's
	case p.Round%logEvery == 0:
		fmt.Fprintf(b.out, "round %d of %d  %s\n", p.Round, b.rounds, text)
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

// newCopyBar shows how far a copy of so many records is.
func newCopyBar(out *os.File, records uint64) *bar { return newBar(out, records) }

// copied is told of each record that was copied.
func (b *bar) copied(n uint64) {
	if b.moving != nil {
		b.moving.Set64(int64(n)) // an error here is one of the terminal's
	}
}
