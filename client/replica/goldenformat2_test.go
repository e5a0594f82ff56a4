package replica

import (
	"bytes"
	"os"
	"testing"
)

// goldenStates are the state files of format 2: the plan, and the number of records
// applied.
var goldenStates = map[string]struct {
	plan    string
	records int
}{
	"point":      {"point", 4},    // between the phases of a round
	"variates":   {"variates", 4}, // N and S
	"pool":       {"pool", 5},     // after a rebase: no vectors
	"signs":      {"signs", 3},    // before a rebase
	"private":    {"private", 6},  // a keyed digest, a basis
	"dense":      {"dense1", 4},   // between the phases: a control variate
	"weights":    {"surrogate", 2},
	"normalized": {"normalized", 3},
}

// Every version reads and writes the bytes of format 2, on every machine.
func TestGoldenState2(t *testing.T) {
	for name, g := range goldenStates {
		s := hostileScript(t, g.plan, 4)
		r := after(t, s, g.records)
		got, path := fileOf(t, r, History{}), "testdata/state-2-"+name+".bin"
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("got %d bytes that are not the %d of %s", len(got), len(want), path)
		}
		again, _, err := load(s.cfg, want)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, b := range s.records[g.records:] {
			s.apply(t, r, b)
			s.apply(t, again, b)
		}
		if stateOf(again) != stateOf(r) {
			t.Errorf("%s: after the remaining records %+v, want %+v", path, stateOf(again), stateOf(r))
		}
	}
}
