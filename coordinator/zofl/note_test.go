package main

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// TestNoteNamesLiars: zofl devices says of whom contributions were cut, and who counts less.
func TestNoteNamesLiars(t *testing.T) {
	note := noteOn(&operate.Device{Cut: 3, Doubt: 0.75})
	for _, want := range []string{"3 contributions cut to the bound", "counts 25 %"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q lacks %q", note, want)
		}
	}
	if note := noteOn(&operate.Device{Doubt: 0.2}); note != "" {
		t.Errorf("a device that hardly differs is noted: %q", note)
	}
}
