package mobile

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/client"
)

const dim = 5000

// device returns the settings of a Java device of a run.
func (l *lead) device(name, mode string, more map[string]any) map[string]any {
	settings := map[string]any{
		"run": l.run, "dim": l.dim, "device": name, "mode": mode, "shift": len(name),
	}
	for _, from := range []map[string]any{l.site.way(), more} {
		for k, v := range from {
			settings[k] = v
		}
	}
	return settings
}

// agree checks that all devices end with the state of the log: programs by their last output, and
// clients of this process by their state.
func (l *lead) agree(ends map[string]line, clients []*client.Client) {
	l.t.Helper()
	n, digest := l.digest()
	for name, end := range ends {
		if end["n"] != float64(n) || end["digest"] != digest {
			l.t.Errorf("%s ended with %v, want digest %s after record %d", name, end, digest, n)
		}
	}
	for i, c := range clients {
		if m, d := c.Digest(); m != n || fmt.Sprintf("%x", d) != digest {
			l.t.Errorf("companion %d: digest %x after record %d, want %s after %d", i, d, m, digest, n)
		}
	}
}

// contributed checks that a device contributed to at least n rounds.
func contributed(t *testing.T, end line, n int) {
	t.Helper()
	if c, _ := end["contributions"].(float64); int(c) < n {
		t.Errorf("ended with %v, want %d contributions", end, n)
	}
}

// TestDevices trains one model with Java programs in both modes and Go replicas, over a broker with
// TLS. The test restarts the broker, and kills and restarts a program. All devices end with the
// bits of a replay of the log.
func TestDevices(t *testing.T) {
	t.Parallel()
	bound(t)
	const rounds, kept = 400, 64 // a device saves its state every 64 records
	s := newSite(t)
	l := s.lead(testPlan(t, "devices", dim, 4, 4, rounds))
	finished := l.companions(2)
	whole := java(t, "Device", l.device("whole", "simple", nil))
	stored := map[string]any{"store": t.TempDir()}
	blocks := java(t, "Device", l.device("blocks", "block", stored))
	if first := blocks.next("loaded"); first["n"] != 0.0 {
		t.Errorf("a device with an empty store began with %v", first)
	}

	l.after(kept + 10)
	blocks.kill()
	blocks = java(t, "Device", l.device("blocks", "block", stored))
	if again := blocks.next("loaded"); again["n"].(float64) < kept || again["model"] != again["n"] {
		t.Errorf("the killed device came back with %v, want its state of record %d or later", again, kept)
	}
	l.after(2 * kept)
	s.restart()
	for whole.next("state")["state"] != "offline" { // until it notices
	}

	ends := map[string]line{"whole": whole.next("end"), "blocks": blocks.next("end")}
	whole.done()
	blocks.done()
	l.agree(ends, finished())
	contributed(t, ends["whole"], rounds)
	contributed(t, ends["blocks"], rounds/2)
	for name, end := range ends {
		if end["state"] != "ended" || end["sent"].(float64) < rounds ||
			end["received"].(float64) < rounds {
			t.Errorf("%s ended with %v, want state ended and bytes counted", name, end)
		}
	}
	t.Log(ends)
}
