package client

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestLogEvery: 300 rounds in three seconds are a few lines, none of which says a loss that is not
// known. A pause and the end are told at once, and once.
func TestLogEvery(t *testing.T) {
	var out bytes.Buffer
	drop := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}
	l := LogEvery(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: drop})),
		time.Second).(*logEvery)
	now := time.Unix(0, 0)
	l.now = func() time.Time { return now }
	tell := func(p Progress) {
		if err := l.Record(p); err != nil {
			t.Fatal(err)
		}
	}
	tell(Progress{State: Joining})
	tell(Progress{State: Joining})
	for n := uint64(1); n <= 300; n++ {
		tell(Progress{State: Working, N: n, Last: n, Round: n - 1})
		tell(Progress{State: Waiting, N: n, Last: n, Round: n - 1, Contributed: true, Loss: 0.5})
		now = now.Add(10 * time.Millisecond)
		if n == 150 {
			tell(Progress{State: Paused, N: n, Last: n, Round: n - 1, Reason: "a person"})
			tell(Progress{State: Paused, N: n, Last: n, Round: n - 1, Reason: "a person"})
		}
	}
	tell(Progress{State: Ended, N: 301, Last: 301, Round: 300})
	want := `msg=joining record=0 of=0
msg=training record=1 of=1 loss=0.5
msg=training record=101 of=101 round=100 loss=0.5
msg=paused record=150 of=150 round=149 loss=0.5 why="a person"
msg=training record=201 of=201 round=200 loss=0.5
msg=ended record=301 of=301 round=300 loss=0.5
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}
