package jetlog

import "testing"

// A claim tells which record was stored, also if an earlier process of the same owner wrote it:
// somebody may have set the log back since that process was killed.
func TestClaimTellsTheLastRecord(t *testing.T) {
	l := lease{own: claim{ID: "a"}}
	for _, test := range []struct {
		stored string
		ours   bool
		seen   uint64
	}{
		{`{"id":"a","last":7}`, true, 7},
		{`{"id":"b","last":9}`, false, 9},
		{`{"id":"a","last":8}`, true, 9},
		{`{"id":"a"}`, true, 9},
		{`{"id":"a","last":`, false, 9},
	} {
		ours := l.ours([]byte(test.stored))
		if seen := l.seen.Load(); ours != test.ours || seen != test.seen {
			t.Errorf("%s: ours %v, record %d was seen; want %v, %d", test.stored, ours, seen, test.ours,
				test.seen)
		}
	}
}
