package replica

import "testing"

// TestSubnormalRuns: each golden run of subnormal numbers has some in its states. So a machine that
// flushes them to zero fails the run. No other golden run has any.
func TestSubnormalRuns(t *testing.T) {
	replays(t)
	for _, g := range readGoldenFile(t, "testdata/subnormal.txt") {
		states, elements := 0, 0
		replay(t, g, func(_ Config, r *Replica) *Replica {
			n := subnormals(r)
			if elements += n; n > 0 {
				states++
			}
			return r
		})
		if states == 0 {
			t.Errorf("%s: no state has a subnormal number", g.name)
		}
		t.Logf("%s: %d subnormal numbers in %d states", g.name, elements, states)
	}
}

// subnormals counts the subnormal numbers of a state's vectors.
func subnormals(r *Replica) (n int) {
	for _, vector := range r.vectors() {
		for _, v := range vector {
			if v != 0 && v < 0x1p-126 && v > -0x1p-126 {
				n++
			}
		}
	}
	return n
}
