//go:build unix

package jetstream

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/testing/servers"
)

// TestDeletionsHoldNothingUp deletes old vectors while too few servers are up to delete any. The
// round loop, which asks for the deletion, does not wait, and the vectors go when the servers are
// back.
func TestDeletionsHoldNothingUp(t *testing.T) {
	t.Parallel()
	p := places["cluster"](t)
	log, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: "sweep", LeaseTTL: longLease})
	if err != nil {
		t.Fatal(err)
	}
	epoch := begin(t, log)
	var all []vector
	for n := range uint64(6) {
		v := newVector(n+2, epoch, 4000)
		put(t, log, v)
		all = append(all, v)
	}
	for _, s := range p.cluster.Servers[:2] {
		s.Pause()
	}
	kept := all[4:]
	began := time.Now()
	for n := uint64(2); n < 6; n++ { // one after each record
		if err := log.KeepObjects(t.Context(), n, []runlog.ObjectName{kept[0].name}); err != nil {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the round loop waited %v for deletions", took)
	}
	for i, v := range all {
		if i < 4 {
			has(t, log, v, false)
		}
	}
	for _, s := range p.cluster.Servers[:2] {
		s.Continue()
	}
	js, err := jetstream.New(p.connect(t))
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(6)
	servers.Eventually(t, "a bucket with two vectors", func() error {
		_ = log.KeepObjects(t.Context(), n, []runlog.ObjectName{kept[0].name}) // with its error
		s, err := js.Stream(t.Context(), "OBJ_ZO_sweep_OBJECTS")
		if err == nil && s.CachedInfo().State.Msgs != 2*2 {
			err = fmt.Errorf("it has %d messages", s.CachedInfo().State.Msgs)
		}
		return err
	})
	for _, v := range kept {
		has(t, log, v, true)
	}
}
