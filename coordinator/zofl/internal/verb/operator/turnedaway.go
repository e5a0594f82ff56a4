package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// turnedAwayOf returns the rows about refused messages: by kind, by sender, and about faulty
// messages. turnedAwayOf also returns the rows about ids that two devices use, about devices whose
// contributions come too late to count, and about devices whose contributions stand out.
func turnedAwayOf(s *operate.Status) (rows []table.Row) {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.TurnedAway)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", s.TurnedAway[kind], kind))
	}
	if len(kinds) > 0 {
		rows = append(rows, table.Row{"turned away", strings.Join(kinds, ", ")})
	}
	for _, o := range s.Offenders {
		rows = append(rows, table.Row{"offender", o.ID + ": " + misdeeds(o.Refused, o.Faulty)})
	}
	for _, b := range s.Banned {
		rows = append(rows, table.Row{"banned", b.ID + " until " + b.Until.Local().Format(time.TimeOnly) +
			": zofl device revoke shuts it out for good"})
	}
	if len(s.SameID) > 0 {
		rows = append(rows, table.Row{"two devices as", strings.Join(s.SameID, ", ") +
			": give one of them an id and a state directory of its own"})
	}
	for _, id := range slices.Sorted(maps.Keys(s.Unused)) {
		rows = append(rows, table.Row{"in vain", id + ": " + s.Unused[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(s.Suspects)) {
		rows = append(rows, table.Row{"suspect", id + ": " + s.Suspects[id]})
	}
	if s.Disputed != "" {
		rows = append(rows, table.Row{"suspect", "nobody: " + s.Disputed})
	}
	if s.Unjudged {
		rows = append(rows, table.Row{"suspect", "nobody yet: the coordinator began a short while ago, " +
			"and remembers no contributions of before"})
	}
	return rows
}

// misdeeds says how many messages of a sender were refused or faulty. misdeeds returns "" if there
// were none.
func misdeeds(refused, faulty uint64) string {
	var list []string
	if refused > 0 {
		list = append(list, terminal.Count(refused, "message")+" turned away")
	}
	if faulty > 0 {
		list = append(list, fmt.Sprintf("%d faulty messages", faulty))
	}
	return strings.Join(list, ", ")
}
