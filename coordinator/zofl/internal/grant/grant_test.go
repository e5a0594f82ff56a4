package grant

import (
	"strings"
	"testing"
)

func TestUsesThatMakeNoSense(t *testing.T) {
	for _, c := range []struct {
		role Role
		use  Use
		want string
	}{
		{"king", Use{Run: "r"}, "device, witness, coordinator, operator"},
		{Device, Use{Run: "r"}, "name of the device"},
		{Device, Use{Run: "r", ID: "a.b"}, "a.b"},
		{Device, Use{Run: "r", ID: "*"}, "*"},
		{Device, Use{Run: ">", ID: "a"}, "run"},
		{Witness, Use{ID: "a"}, "run"},
		{Witness, Use{Run: "r", ID: OperatorID}, "choose another"},
		{Operator, Use{Run: "r", ID: "a"}, "leave it out"},
		{Coordinator, Use{Run: "r", ID: "a"}, "leave it out"},
		{Operator, Use{Run: "r", JetStream: true}, "only a coordinator"},
		{Device, Use{Run: "r", ID: "a", Recovered: true}, "only a coordinator"},
	} {
		if p, err := For(c.role, c.use); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %+v, %v, want an error with %q", c.role, c.use, p, err, c.want)
		}
	}
}

// TestInboxesAreApart: no role may receive the answers to another role, or to a role of another
// run.
func TestInboxesAreApart(t *testing.T) {
	seen := map[string]Role{}
	for _, run := range []string{"a", "b", "c", "o"} {
		for _, role := range []Role{Coordinator, Operator} {
			u := Use{Run: run}
			seen[u.Inbox(role)] = role
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d inboxes of 8 parts: %v", len(seen), seen)
	}
}
