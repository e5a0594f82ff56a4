package coordinator

import (
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
)

// The coordinator answers joins and pieces of vectors only below the sender's own inbox.
func TestTokenIsTheSenders(t *testing.T) {
	for reply, want := range map[string]string{
		"app.victim": "", "_INBOX_d2.x": "", "_INBOX_d1.x": "_INBOX_d1.x", "_INBOX.x": "_INBOX.x",
	} {
		if got := token(bus.Message{Subject: subjects.Join("r", "d1"), Reply: reply}); got != want {
			t.Errorf("the answer to %q goes to %q, want %q", reply, got, want)
		}
	}
}
