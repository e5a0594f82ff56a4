package main

import (
	"strings"
	"testing"
)

// TestServeSaysThatNothingIsLearned: once half of the rounds are done without a fall of the loss,
// `zofl status` says so, and what to do; the history of the run has it as one mark. A run that
// learns is not told.
func TestServeSaysThatNothingIsLearned(t *testing.T) {
	for _, c := range []struct {
		step string
		want bool
	}{{"1e-15", true}, {"1e-2", false}} {
		k := newKitchenOf(t, []string{"--preset", "decomfl", "--set", "step=" + c.step, "--set",
			"rounds=80"})
		k.device("a")
		k.device("b")
		k.reach(81)
		table, err := zofl(t, "status", "--url", k.url, "--run", "kitchen")
		if err != nil || strings.Contains(table, "does not learn") != c.want ||
			strings.Contains(table, "docs/faq.md") != c.want {
			t.Errorf("step %s: %v\n%s", c.step, err, table)
		}
		past, err := zofl(t, "history", "--url", k.url, "--run", "kitchen", "--json")
		if err != nil || strings.Count(past, `"no fall"`) > 1 ||
			strings.Contains(past, `"no fall"`) != c.want {
			t.Errorf("step %s: %v\n%s", c.step, err, past)
		}
		if err := k.lead.stop(); err != nil {
			t.Error(err)
		}
	}
}
