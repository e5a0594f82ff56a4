package presence

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnused: the status names at most eight present members. An answer that counts ends the
// count, and each report takes twice as many records as the report before.
func TestUnused(t *testing.T) {
	var w Crowd
	w.Grow(12, true)
	var names []string
	for slot := range uint32(12) {
		names = append(names, fmt.Sprint("d", slot))
		for n := range uint64(unusedAfter) {
			if tell := w.Unused(slot, n+1); tell != (n+1 == unusedAfter) {
				t.Errorf("slot %d, record %d: told %v", slot, n+1, tell)
			}
		}
	}
	w.Members[0].Retired = true
	if list := w.UnusedOf(names); len(list) != mostUnused || list["d0"] != "" ||
		!strings.Contains(list["d1"], "its last 16 answers") {
		t.Errorf("named: %v", list)
	}
	for slot := uint32(2); slot < 12; slot++ {
		for range 2 - slot%2 {
			w.Used(slot)
		}
	}
	if list := w.UnusedOf(names); len(list) != 1 {
		t.Errorf("named: %v, want d1 alone", list)
	}
	w.Used(1)
	if w.Unused(1, 17); len(w.UnusedOf(names)) != 0 {
		t.Error("the count does not begin anew")
	}
	told := 0
	for n := range uint64(1000) {
		if w.Unused(1, 18+n) {
			told++
		}
	}
	if why := w.UnusedOf(names)["d1"]; told != 5 || !strings.Contains(why, "its last 1001") {
		t.Errorf("told %d times in 1000 records: %q", told, why)
	}
}
