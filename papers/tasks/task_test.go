package tasks

import "testing"

// TestKey: runs that older versions saved are found. Their names have a digest of this text.
func TestKey(t *testing.T) {
	for want, task := range map[string]Task{
		"{name:covtype-mlp data:covtype shrink:0 scale:standardized hidden:[16] dirichlet:0 " +
			"devices:12 train:4000 test:5000}": {Name: "covtype-mlp", Data: "covtype",
			Scale: Standardized, Hidden: []int{16}, Devices: 12, Train: 4000, Test: 5000},
		"{name:digits-softmax data:digits shrink:7 scale:0-16 hidden:[] dirichlet:0.3 " +
			"devices:3 train:4000 test:5000}": {Name: "digits-softmax", Data: Drawn, Shrink: 7,
			Scale: Sixteen, Dirichlet: 0.3, Devices: 3, Train: 4000, Test: 5000},
		"{name:fashion-cnn data:fashion-mnist shrink:2 scale: hidden:[] dirichlet:0 devices:0 " +
			"train:60000 test:10000}": {Name: "fashion-cnn", Data: "fashion-mnist", Shrink: 2,
			Train: 60_000, Test: 10_000},
	} {
		if got := task.Key(); got != want {
			t.Errorf("the key is\n%s\nwant\n%s", got, want)
		}
	}
}
