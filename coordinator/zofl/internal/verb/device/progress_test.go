package device

import (
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// TestStands: without a terminal, one line says that a device stands still, and why. Further lines
// come every ten seconds while rounds go on.
func TestStands(t *testing.T) {
	var out strings.Builder
	p := progress{out: &out, live: terminal.Still(&out),
		pace: terminal.Pace{Every: terminal.LineEvery}}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		did   client.Progress
		lines string // how its line begins; "": none
	}{
		{client.Progress{State: client.Joining}, ""},
		{client.Progress{State: client.Waiting}, "waiting"},
		{client.Progress{State: client.Waiting}, ""},
		{client.Progress{State: client.Working}, ""},
		{client.Progress{State: client.Waiting, Round: 1}, "waiting"}, // the first of every ten seconds
		{client.Progress{State: client.Working, Round: 1}, ""},
		{client.Progress{State: client.Paused, Reason: "lunch", Round: 1}, "paused: lunch"},
		{client.Progress{State: client.Paused, Reason: "lunch", Round: 1}, ""},
		{client.Progress{State: client.Paused, Reason: "dinner", Round: 1}, "paused: dinner"},
		{client.Progress{State: client.Working, Round: 1}, ""},
		{client.Progress{State: client.Paused, Reason: "dinner", Round: 2}, "paused: dinner"},
		{client.Progress{State: client.Ended, Round: 2}, "ended"},
	} {
		at = at.Add(time.Second / 10)
		out.Reset()
		if err := p.show(&step.did, at); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if (step.lines == "") != (got == "") || step.lines != "" &&
			!strings.HasPrefix(got, "record 0 of 0   "+step.lines+"   ") {
			t.Errorf("%v %q in round %d: got %q, want a line that begins with %q", step.did.State,
				step.did.Reason, step.did.Round, got, step.lines)
		}
	}
}
