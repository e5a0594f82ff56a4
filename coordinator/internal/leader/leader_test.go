package leader

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/internal/leader"
)

// Two coordinators agree which of them is older, whatever the delay between them. If they began
// within sameAge of each other, at least they never both step down.
func TestOutranks(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Millisecond, 999 * time.Millisecond, time.Second,
		1100 * time.Millisecond, time.Hour} {
		for _, delay := range []time.Duration{0, time.Millisecond, 5 * time.Second} {
			for _, larger := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					elder := &Seniority{began: time.Now()}
					time.Sleep(ahead)
					younger := &Seniority{began: time.Now()}
					if elder.self.Instance[0] = 1; larger {
						younger.self.Instance[0] = 2
					}
					time.Sleep(time.Second)
					hears := func(to, from *Seniority) bool {
						l, err := leader.Decode(from.Frame())
						if err != nil {
							t.Fatal(err)
						}
						time.Sleep(delay)
						return to.outranks(&l)
					}
					down, wrong := hears(younger, elder), hears(elder, younger)
					if down && wrong || wrong && ahead > sameAge {
						t.Errorf("%v ahead, delay %v: the elder steps down (and the younger: %v)",
							ahead, delay, down)
					}
					if !down && !wrong && delay < 10*time.Millisecond && ahead != time.Second {
						t.Errorf("%v ahead, delay %v: neither steps down", ahead, delay)
					}
				})
			}
		}
	}
}
