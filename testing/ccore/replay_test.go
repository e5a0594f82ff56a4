//go:build !race

package ccore

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A runLog is a log, and what a device of its run has.
type runLog struct {
	run     string
	secret  []byte
	initial []float32
	records [][]byte
}

// A goLog replays a log with package replica. After a rollback it replays the log anew, as a device
// without a store does.
type goLog struct {
	log     *runLog
	replica *replica.Replica
}

func newGoLog(g *runLog) *goLog { return &goLog{log: g, replica: replica.New(config(g))} }

func config(g *runLog) replica.Config {
	return replica.Config{Run: g.run, Initial: g.initial, RunKey: g.secret}
}

// apply applies record i of the log.
func (g *goLog) apply(i int) error {
	record := g.log.records[i]
	err := g.replica.Apply(record)
	if !errors.Is(err, replica.ErrRollback) {
		return err
	}
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	again, err := g.before(r.To, i)
	if err != nil {
		return err
	}
	if err := again.Apply(record); err != nil {
		return err
	}
	g.replica = again
	return nil
}

// before returns a replica at record to that has passed all records before record i.
func (g *goLog) before(to uint64, i int) (*replica.Replica, error) {
	skipped := undone(g.log.records[:i+1])
	r := replica.New(config(g.log))
	for k := range i {
		do := r.Apply
		if n := uint64(k + 1); n > to || skipped[n] {
			do = r.Skip
		}
		if err := do(g.log.records[k]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// undone returns the records that later rollbacks of the log undo.
func undone(records [][]byte) map[uint64]bool {
	gone := map[uint64]bool{}
	for i := len(records) - 1; i >= 0; i-- {
		r, err := wire.DecodeRecord(records[i])
		if err != nil || r.Kind != wire.KindRollback || gone[r.N] {
			continue
		}
		for n := r.To + 1; n < r.N; n++ {
			gone[n] = true
		}
	}
	return gone
}

// compare replays a log on both sides. It returns how many records both applied.
func compare(t testing.TB, j *judge, g *runLog) int {
	t.Helper()
	verdicts := j.log(t, g)
	mine := newGoLog(g)
	for i := range g.records {
		if i >= len(verdicts) {
			t.Fatalf("C judged %d of %d records", len(verdicts), len(g.records))
		}
		v, err := verdicts[i], mine.apply(i)
		var fault *wire.DecodeError
		var unfit *plan.Error
		switch {
		case v.code == cUnsupported:
			if !outside(mine.replica.Plan(), err) {
				t.Fatalf("record %d: C calls field %d unsupported, Go says %v", i+1, v.field, err)
			}
			return i
		case v.code == cRoom:
			return i // more segments or rollbacks than this build has
		case errors.As(err, &fault):
			if want := classOf(t, err); v.code != want {
				t.Fatalf("record %d: C %d, Go %d: %v\n%x", i+1, v.code, want, err, g.records[i])
			}
			return i
		case errors.As(err, &unfit) && v.code == 0:
			return i // the core does not judge what no coordinator lets through
		case (err != nil) != (v.code != 0):
			t.Fatalf("record %d: C %d, Go: %v\n%x", i+1, v.code, err, g.records[i])
		case err != nil:
			return i
		}
		if got := mine.replica.Digest(); got != v.digest {
			t.Fatalf("record %d: digest %x in C, %x in Go\nplan %+v\n%x",
				i+1, v.digest, got, mine.replica.Plan(), g.records[i])
		}
	}
	return len(g.records)
}

// outside says whether a plan is outside the profile of the core, or none.
func outside(p *plan.Plan, err error) bool {
	return p == nil || err != nil ||
		p.Transport == plan.DenseVectors ||
		p.Distribution > plan.Rademacher && p.Distribution != plan.LowRank ||
		p.Control != plan.NoControl || p.Estimator != plan.Differences || p.Pool > 0 ||
		p.Classes > 0 || p.Secure > 0 || p.DPClip > 0 || len(p.Boxes) > 0 ||
		p.ServerRule != plan.ServerMean && p.ServerRule != plan.ServerNormalized &&
			p.ServerRule != plan.ServerCMA
}
