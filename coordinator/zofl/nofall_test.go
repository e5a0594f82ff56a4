package main

import (
	"strings"
	"testing"
)

// TestServeSaysThatNothingIsLearned: if the loss has not fallen after half of the rounds, `zofl
// status` says so, with a remedy, and the history has one mark of it. A run that learns has no such
// mark.
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
