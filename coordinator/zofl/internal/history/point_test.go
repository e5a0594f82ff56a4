package history

import "testing"

// TestWords: a survey is named once, with what followed from it; a change names its fields.
func TestWords(t *testing.T) {
	for want, m := range map[string]Mark{
		"survey of mu: 0.01, straight": {Kind: Surveyed, Survey: "mu",
			Fields: []string{"mu"}, Text: "0.01, straight"},
		"changed step, mu": {Kind: Changed, Fields: []string{"step", "mu"}},
	} {
		if got := m.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
