// Package await helps tests of the program to wait for the output of a command, for the end of a
// process, and for other events.
package await

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is the longest time that a test waits for one event. Only a failing test waits that
// long: machines may be busy, and the race detector slow.
const Patience = 6 * time.Minute

// A Text is the output of a command so far. One goroutine may write while others read. The zero
// Text is empty.
type Text struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed by the next write; nil: nobody waits for it
}

// Write implements [io.Writer].
func (x *Text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.more != nil {
		close(x.more)
		x.more = nil
	}
	return x.text.Write(b)
}

// String returns all that was written so far.
func (x *Text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.String()
}

// Until waits until holds returns true for the text. Until calls holds after each write. Until
// reports whether holds returned true within [Patience].
func (x *Text) Until(holds func(text string) bool) bool {
	late := time.After(Patience)
	for {
		text, more := x.now()
		if holds(text) {
			return true
		}
		select {
		case <-more:
		case <-late:
			return false
		}
	}
}

// Says waits until the text contains a part, and reports whether it did within [Patience].
func (x *Text) Says(part string) bool {
	return x.Until(func(text string) bool { return strings.Contains(text, part) })
}

// now returns the text, and a channel that is closed when more text comes.
func (x *Text) now() (string, <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.more == nil {
		x.more = make(chan struct{})
	}
	return x.text.String(), x.more
}

// That waits until a condition holds, and fails the test after [Patience]. what describes the
// condition, as in "the device joins".
func That(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Within(t, Patience, what, holds)
}

// Within waits as [That] does, and fails the test after patience. Within checks the condition every
// millisecond, and less often the longer it waits: cobra keeps all commands that were ever made, so
// a condition that runs one takes memory each time.
func Within(t testing.TB, patience time.Duration, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(max(time.Millisecond, time.Since(began)/100)) {
		if time.Since(began) > patience {
			t.Fatalf("%s: not in %v", what, patience)
		}
	}
}
