// Package terminal shows people how a run goes: a line that changes in place on a terminal, and a
// new line every few seconds elsewhere.
package terminal

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// A Live is one line at the bottom of a terminal, the live line, which changes in place. Text
// written to the Live goes above the live line. Without a terminal, a Live shows no live line, and
// passes written text on unchanged. Any goroutine may call the methods of a Live.
type Live struct {
	out   io.Writer
	width func() int // of the terminal in columns; nil: there is none

	mu      sync.Mutex // guards what follows, and out
	text    string     // of the line; "": none
	drawn   string     // as it stands there
	pending *time.Timer
	closed  bool
}

// redrawEvery is the least time between two changes of the live line.
const redrawEvery = 100 * time.Millisecond

// NewLive returns the Live of a file. It has a live line if the file is a terminal that can change
// a line in place.
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

// Still returns a Live without a live line, for output that is no terminal.
func Still(out io.Writer) *Live { return &Live{out: out} }

// Moves says whether the Live writes to a terminal that can change a line in place.
func (l *Live) Moves() bool { return l.width != nil }

// Set changes the text of the live line, at once or within a tenth of a second.
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

// Close draws the last text of the live line, and ends the line.
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

// Remove removes the live line, and ends the Live.
func (l *Live) Remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.pending != nil {
		l.pending.Stop()
	}
	if l.drawn != "" {
		l.clear()
	}
}

// fit returns the part of the text that fits into the terminal. The caller holds mu.
func (l *Live) fit() string { return runewidth.Truncate(l.text, l.width()-1, "…") }

// draw replaces the live line on the terminal by the current text. The caller holds mu.
func (l *Live) draw() {
	l.drawn = l.fit()
	_, _ = io.WriteString(l.out, "\r\x1b[K"+l.drawn)
}

// clear removes the live line from the terminal. The caller holds mu.
func (l *Live) clear() {
	_, _ = io.WriteString(l.out, "\r\x1b[K")
	l.drawn = ""
}
