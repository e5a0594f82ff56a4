package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	args := []string{"--devices", "2000", "--target", "200", "--rounds", "12"}
	var out strings.Builder
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2000 devices joined", "counted", " 0 lost",
		"after round 10;", "after round 12;"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
