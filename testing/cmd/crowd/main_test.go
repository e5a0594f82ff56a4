package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/fleet/crowd"
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
	out.Reset()
	if err := run(append(args, "--json"), &out); err != nil {
		t.Fatal(err)
	}
	var r crowd.Result
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || len(r.Heap) != 2 {
		t.Errorf("%v in\n%s", err, out.String())
	}
}
