package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun trains on drawn digits, up to all of the accuracies.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a CNN")
	}
	var out bytes.Buffer
	if err := run([]string{"--batch", "200", "--epochs", "6"}, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), " steps of 200 images\n"); n != len(targets) {
		t.Errorf("%d of %d accuracies:\n%s", n, len(targets), &out)
	}
}
