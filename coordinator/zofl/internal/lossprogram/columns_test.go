package lossprogram

import (
	"strings"
	"testing"
)

func TestColumnsOf(t *testing.T) {
	got, err := columnsOf(strings.Fields("3 1 2.5 0.5 2 3  0 7 0 0 0 0"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got[0], got[1]; a.Count != 3 || a.Missing != 1 || a.Mean != 2.5 || a.Std != 0.5 ||
		*a.Min != 2 || *a.Max != 3 || b.Count != 0 || b.Missing != 7 || b.Min != nil {
		t.Errorf("read %+v", got)
	}
	for line, want := range map[string]string{
		"1 0 2 0 2 2": "give 6 for each of 2", "1 0 nan 0 2 2 1 0 2 0 2 2": "a finite number",
		"1.5 0 2 0 2 2 1 0 2 0 2 2": "whole numbers", "1 -1 2 0 2 2 1 0 2 0 2 2": "whole numbers",
		"1 0 x 0 2 2 1 0 2 0 2 2": "a finite number", "1e300 0 2 0 2 2 1 0 2 0 2 2": "whole numbers",
	} {
		if _, err := columnsOf(strings.Fields(line), 2); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
