package cma

import (
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// TestHandover: the next coordinator knows what this one knew, whatever the next record is, and
// takes no bytes that this one cannot have written.
func TestHandover(t *testing.T) {
	l := New(&runlog.Position{})
	if b := l.Append(nil, wire.KindRound); len(b) > 0 {
		t.Errorf("before the first round: %x", b)
	}
	for i, v := range l.numbers() {
		*v = float64(i) + 0.5
	}
	l.stage = restarting
	for _, kind := range []wire.RecordKind{wire.KindRound, wire.KindChange, wire.KindRollback} {
		b := l.Append(nil, kind)
		if len(b) > runlog.MaxHandover-3 {
			t.Errorf("%v: %d bytes, a log takes %d", kind, len(b), runlog.MaxHandover)
		}
		next := New(&runlog.Position{})
		if !next.Read(b) || next.known != l.after(kind) {
			t.Errorf("%v: the next knows %+v, want %+v", kind, next.known, l.after(kind))
		}
	}
	if k := l.after(wire.KindRollback); k.stage != rolledBack || k.level != (level{}) ||
		k.noise != (noise{}) || k.bestAt != l.bestAt {
		t.Errorf("after the rollback: %+v", k)
	}
	good := l.Append(nil, wire.KindRound)
	bad := append([]byte{byte(returned) + 1}, good[1:]...)
	for _, b := range [][]byte{good[:len(good)-1], append(good, 0), bad} {
		if l.Read(b) || l.known != (known{}) {
			t.Errorf("%x was read as %+v", b, l.known)
		}
	}
	if !l.Read(nil) {
		t.Error("no bytes are no knowledge")
	}
}
