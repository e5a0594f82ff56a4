package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun compares plans on a few phones, each of which follows the log.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	args := strings.Fields("--devices 20 --length 20m --seeds 1 --only step=0.02")
	if err := run(t, args, &out); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(out.String(), "\n"); rows != 2+3 {
		t.Errorf("%d rows:\n%s", rows, &out)
	}
}
