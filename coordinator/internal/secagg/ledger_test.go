package secagg

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// TestLedger plays what was false in attempts, and lists whom the ledger accuses: slot, attempts,
// who else may have lied, and whether attempts leave it out.
func TestLedger(t *testing.T) {
	var (
		one   = secagg.Fault{Owner: 3, By: []uint32{5}}          // 3 dealt to 5, or 5 lies
		other = secagg.Fault{Owner: 3, By: []uint32{6}}          // and to 6
		sure  = secagg.Fault{Owner: 3}                           // whoever answers
		bare  = secagg.Fault{Owner: 3, By: []uint32{1, 2, 5}}    // with no share to spare
		also  = secagg.Fault{Owner: 4, By: []uint32{1, 2, 5}}    // the same for another one
		again = secagg.Fault{Owner: 4, By: []uint32{5}}          // what 5 says of another one
		back  = secagg.Fault{Owner: 5, By: []uint32{3}}          // 5 dealt to 3, or 3 lies
		far   = secagg.Fault{Owner: 8, By: []uint32{9}}          // of others
		late  = secagg.Fault{Owner: 7, By: []uint32{1, 2, 5, 6}} // after 3 is out
	)
	type attempt = []secagg.Fault
	for _, c := range []struct {
		what     string
		attempts []attempt
		want     string
	}{
		{"nothing", []attempt{nil, nil}, "[]"},
		{"once", []attempt{{sure}}, "[]"},
		{"twice", []attempt{{sure}, {sure}}, "[{3 2 [] true}]"},
		{"two victims at once", []attempt{{one, other}}, "[]"},
		{"two victims, twice", []attempt{{one, other}, {one, other}}, "[{3 2 [] true}]"},
		{"one victim after the other", []attempt{{one}, {other}}, "[{3 2 [] true}]"},
		{"one victim", []attempt{{one}, {one}, {one}}, "[{3 3 [5] false} {5 3 [3] false}]"},
		{"each other", []attempt{{one}, {back}}, "[{3 2 [5] false} {5 2 [3] false}]"},
		{"one answers falsely about two", []attempt{{one, again}, {one, again}}, "[{5 2 [] true}]"},
		{"about one after the other", []attempt{{one}, {one}, {again}}, "[{5 3 [] true}]"},
		{"no share to spare", []attempt{{bare}, {bare}}, "[{3 2 [1 2 5] true}]"},
		{"and several are lost", []attempt{{bare, also}, {bare, also}}, "[]"},
		{"the same one explains more", []attempt{{one}, {bare}, {again}, {late}}, "[{5 4 [] true}]"},
		{"it answers falsely about many, with no share to spare", []attempt{
			{{Owner: 3, By: []uint32{1, 2, 5}}}, {{Owner: 3, By: []uint32{4, 5}}},
			{{Owner: 4, By: []uint32{1, 2, 5}}}}, "[{5 3 [] true}]"},
		{"nobody knows who", []attempt{{bare}, {bare}, {also}}, "[]"},
		{"and another one lies for sure", []attempt{{bare}, {bare}, {also}, {{Owner: 8}}, {{Owner: 8}}},
			"[{8 2 [] true}]"},
		{"two pairs", []attempt{{one, far}, {one}}, "[{3 2 [5] false} {5 2 [3] false}]"},
	} {
		var l ledger
		for _, faults := range c.attempts {
			l.note(faults)
		}
		if got := fmt.Sprint(l.accused()); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
	}
	var l ledger
	for range 3 * mostFindings {
		l.note(attempt{sure})
	}
	if len(l.findings) != mostFindings {
		t.Errorf("%d findings, want %d", len(l.findings), mostFindings)
	}
}
