//go:build !race

package demo

import (
	"slices"
	"strings"
	"testing"
)

// TestProgressSays: a demo says what happens before round 1, and in rounds that do not move the
// model; and no accuracy that it does not know.
func TestProgressSays(t *testing.T) {
	for of, want := range map[[2]string][]string{
		{"zofl", ""}: {"2 of 3 devices are here", "finding mu", "finding the step, no move yet",
			""},
		{"zofl", "mu=0.01 roster=open"}: {"finding the step, no move yet", ""},
		{"cma", ""}:                     {"2 of 3 devices are here", "finding the first sigma", ""},
	} {
		cfg := Defaults()
		cfg.Method, cfg.Clients, cfg.Rounds, cfg.Split = of[0], 3, 7, "iid"
		cfg.Settings = append(strings.Fields(of[1]), "eval_every=0")
		var said []string
		cfg.Progress = func(p Progress) {
			if p.Doing == "" && p.Round == 0 {
				return
			}
			if n := len(said); n == 0 || said[n-1] != p.Doing {
				said = append(said, p.Doing)
			}
			if still := p.Doing != ""; p.Round > 5 && still || p.Accuracy != -1 {
				t.Errorf("%q: round %d: %q, accuracy %v", of, p.Round, p.Doing, p.Accuracy)
			}
		}
		if _, err := Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		if i := slices.Index(said, want[0]); i < 0 || !slices.Equal(said[i:], want) {
			t.Errorf("%q: said %q, want at the end %q", of, said, want)
		}
	}
}
