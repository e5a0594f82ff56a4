// Package terminal shows people how a run goes: a live line on a terminal, and a line now and then
// elsewhere.
package terminal

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// A Live is one line at the bottom of a terminal, which changes in place. Text written to the Live
// goes above the live line. Where there is no terminal, there is no line, and all else is written
// as it is. Any goroutine may call its methods.
type Live struct {
	out   io.Writer
	width func() int // of the terminal in columns; nil: there is none

	mu      sync.Mutex // guards what follows, and out
	text    string     // of the line; "": none
	drawn   string     // as it stands there
	pending *time.Timer
	closed  bool
}

// redrawEvery bounds how often the line changes.
const redrawEvery = 100 * time.Millisecond

// NewLive returns the live line of a file, if that is a terminal that can change a line.
func NewLive(out *os.File) *Live {
	l := &Live{out: out}
	if fd := int(out.Fd()); term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		l.width = func() int {
			width, _, err := term.GetSize(fd)
			if err != nil || width <= 0 {
				return 80
			}
			return width
		}
	}
	return l
}

// Still returns a Live that never has a line, for output such as a file.
func Still(out io.Writer) *Live { return &Live{out: out} }

// Moves says whether there is a terminal.
func (l *Live) Moves() bool { return l.width != nil }

// Set changes the line, at once or within a tenth of a second.
func (l *Live) Set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.Moves() || l.closed {
		return
	}
	l.text = text
	if l.pending == nil { // nothing was drawn for redrawEvery
		l.draw()
		l.pending = time.AfterFunc(redrawEvery, l.redraw)
	}
}

// redraw draws the text if it changed since the line was drawn.
func (l *Live) redraw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending = nil; l.closed || l.drawn == l.fit() {
		return
	}
	l.draw()
	l.pending = time.AfterFunc(redrawEvery, l.redraw)
}

// Write writes whole lines above the live line.
func (l *Live) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn == "" {
		return l.out.Write(b)
	}
	l.clear()
	n, err := l.out.Write(b)
	if err == nil {
		l.draw()
	}
	return n, err
}

// Close leaves the line as it was set last, and ends it.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	if l.pending != nil {
		l.pending.Stop()
	}
	if l.text != "" {
		l.draw()
		_, _ = io.WriteString(l.out, "\n") // a terminal that is gone shows nothing
		l.drawn = ""
	}
}

// fit returns the part of the text that fits into the terminal. The caller holds mu.
func (l *Live) fit() string { return runewidth.Truncate(l.text, l.width()-1, "…") }

// draw writes the line over itself. The caller holds mu.
func (l *Live) draw() {
	l.drawn = l.fit()
	_, _ = io.WriteString(l.out, "\r\x1b[K"+l.drawn)
}

// clear removes the line. The caller holds mu.
func (l *Live) clear() {
	_, _ = io.WriteString(l.out, "\r\x1b[K")
	l.drawn = ""
}
