package dashboard

import (
	"bytes"
	"runtime"
	"testing"
	"time"
)

// A page gets a round that ends right after the page's snapshot, however late the pump's goroutine
// starts. With one processor, that goroutine starts last.
func TestNoGapAfterTheSnapshot(t *testing.T) {
	l := newLab(t, Config{})
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	me, first, err := l.board.join("")
	if err != nil {
		t.Fatal(err)
	}
	l.rounds(77, 77)
	defer l.board.part(me)
	if len(first) != 1 || bytes.Contains(first[0], []byte("[77]")) {
		t.Fatal("the snapshot has the round already")
	}
	late := time.After(patience)
	for {
		select {
		case message := <-me.messages:
			if bytes.Contains(message, []byte("[77]")) {
				return
			}
		case <-late:
			t.Fatal("the page is not told of a round that came after its snapshot")
		}
	}
}
