package probe

import (
	"testing"
	"time"
)

// TestStuckCalls: a call that was given up may hang if it ran for more than four times its usual
// time, or was the first. A call that returns later clears the doubt.
func TestStuckCalls(t *testing.T) {
	for _, c := range []struct {
		pace, ran time.Duration
		calls     int
		stuck     bool
	}{
		{0, time.Second, 1, true},
		{time.Second, 4 * time.Second, 1, false},
		{time.Second, 5 * time.Second, 1, true},
		{time.Second, 12 * time.Second, 3, false},
		{time.Second, 13 * time.Second, 3, true},
	} {
		m := meter{pace: c.pace}
		m.gaveUp(c.ran, c.calls)
		if want := map[bool]time.Duration{true: c.ran}[c.stuck]; m.stuck != want {
			t.Errorf("usually %v, given up after %v, %d calls: stuck for %v, want %v", c.pace, c.ran,
				c.calls, m.stuck, want)
		}
		if m.took(c.ran); m.stuck != 0 {
			t.Errorf("stuck for %v after a call that returned", m.stuck)
		}
	}
}
