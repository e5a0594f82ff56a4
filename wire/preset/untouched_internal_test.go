package preset

import "testing"

// TestTrial: what a trial says is a sentence for one task and for several, near the best and far.
func TestTrial(t *testing.T) {
	const many, one = "On 2 small tasks of classification ", "On one small task of classification "
	for want, trial := range map[string]trial{
		many + "it came within 3 points of the best of nine steps on 1, and diverged on 1. The best " +
			"steps were 1/4 to 4 times as long.": {tasks: 2, near: 1, failed: 1, from: "1/4", to: "4"},
		many + "it came within 3 points of the best of nine steps on none; elsewhere it ended up to " +
			"7.5 points below. The best steps were 4 times as long.": {tasks: 2, behind: 7.5, from: "4",
			to: "4"},
		one + "it came within 3 points of the best of nine steps. The best step was 1/4 times as " +
			"long.": {tasks: 1, near: 1, from: "1/4", to: "1/4"},
		one + "it ended 7.5 points below the best of nine steps. The best step was 4 times as " +
			"long.": {tasks: 1, behind: 7.5, from: "4", to: "4"},
		one + "it diverged. The best step was 1/4 times as long.": {tasks: 1, failed: 1, from: "1/4",
			to: "1/4"},
		one + "none of nine steps learned in 300 rounds, from 1/256 to 256 times as " +
			"long.": {tasks: 1},
	} {
		if got := trial.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
