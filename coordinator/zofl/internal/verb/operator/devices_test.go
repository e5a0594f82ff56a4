package operator

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// TestNoteNamesLiars: zofl devices shows which devices had contributions scaled down, and which
// devices count less.
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

// zofl status and zofl devices name who sends too much, ids of two devices, devices that work in
// vain, and suspects.
func TestOffendersAreShown(t *testing.T) {
	s := &operate.Status{TurnedAway: map[string]uint64{"joins": 5, "records": 7},
		Offenders: []operate.Offender{{ID: "d1", Refused: 12, Faulty: 3}}, SameID: []string{"d2"},
		Unused: map[string]string{"d4": "late", "d3": "later"}, Disputed: "4 of 10 stand out",
		Suspects: map[string]string{"d6": "lies", "d5": "cheats"}}
	var text []string
	for _, row := range turnedAwayOf(s) {
		text = append(text, row[0].(string)+": "+row[1].(string))
	}
	want := "turned away: 5 joins, 7 records\n" +
		"offender: d1: 12 messages turned away, 3 faulty messages\n" +
		"two devices as: d2: give one of them an id and a state directory of its own\n" +
		"in vain: d3: later\nin vain: d4: late\nsuspect: d5: cheats\nsuspect: d6: lies\n" +
		"suspect: nobody: 4 of 10 stand out"
	if got := strings.Join(text, "\n"); got != want {
		t.Errorf("rows %q, want %q", got, want)
	}
	if note := noteOn(&operate.Device{Faulty: 3}); note != "3 faulty messages" {
		t.Errorf("note %q", note)
	}
	if note := noteOn(&operate.Device{Suspect: "it cheats"}); note != "suspect: it cheats" {
		t.Errorf("note %q", note)
	}
	if note := noteOn(&operate.Device{SameID: true}); note != "two devices use this id" {
		t.Errorf("note %q", note)
	}
	if rows := turnedAwayOf(&operate.Status{}); rows != nil {
		t.Errorf("rows of an honest run: %v", rows)
	}
}
