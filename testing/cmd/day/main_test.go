package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/fleet/day"
)

var short = []string{"--devices", "20", "--length", "4m", "--every", "2m"}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := run(t, short, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"accuracy", "\n   00:02 ", "\n   00:04 ", "\n     all ",
		", 0 differ", "\n0 pauses"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var out strings.Builder
	args := append([]string{"--json", "--alike", "--set", "late=8"}, short...)
	if err := run(t, args, &out); err != nil {
		t.Fatal(err)
	}
	var h struct{ Hours []day.Hour }
	if err := json.Unmarshal([]byte(out.String()), &h); err != nil || len(h.Hours) != 2 {
		t.Errorf("%v in\n%s", err, out.String())
	}
}

func TestRefusals(t *testing.T) {
	for _, args := range [][]string{{"--set", "deadline"}, {"--set", "deadline=x"},
		{"--set", "quorum=99999"}, {"--every", "1ms"}, {"--dim"}} {
		if err := run(t, args, &strings.Builder{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
