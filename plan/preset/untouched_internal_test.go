package preset

import "testing"

// TestTrial: the text of a trial is a proper sentence for one task and for several, near the best
// step size and far from it.
func TestTrial(t *testing.T) {
	const many, one = " small tasks of classification", "on one small task of classification"
	const near = "With its own step this preset came within 3 points of the best of nine steps "
	const nothing = " this preset learned nothing in 300 rounds with any of nine steps: its own, " +
		"and others 1/256 to 256 times as long."
	for want, trial := range map[string]trial{
		near + "on 1 of 2" + many + ", and diverged on 1. The best steps were 1/4 to 4 times as " +
			"long.": {tasks: 2, near: 1, failed: 1, from: "1/4", to: "4"},
		near + "on none of 2" + many + "; elsewhere it ended up to 7.5 points below. The best steps " +
			"were 4 times as long.": {tasks: 2, behind: 7.5, from: "4", to: "4"},
		"On 2" + many + nothing: {tasks: 2},
		near + one + ". The best step was 1/4 times as long.": {tasks: 1, near: 1, from: "1/4",
			to: "1/4"},
		"With its own step this preset ended 7.5 points below the best of nine steps " + one +
			". The best step was 4 times as long.": {tasks: 1, behind: 7.5, from: "4", to: "4"},
		"With its own step this preset diverged " + one + ". The best step was 1/4 times as " +
			"long.": {tasks: 1, failed: 1, from: "1/4", to: "1/4"},
		"On one small task of classification" + nothing: {tasks: 1},
	} {
		if got := trial.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
