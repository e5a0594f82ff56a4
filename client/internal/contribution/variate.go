package contribution

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/wire"
)

// variatesMost is how many control variates a device remembers, for the runs that
// roll back.
const variatesMost = 16

// A variate is what may serve as this device's control variate c_i: the scalars of a
// contribution that the log has.
type variate struct {
	n       uint64
	hash    wire.Hash    // of record n
	scalars wire.Scalars // as sent; they alias the reply
	sure    bool         // the run's log has the record, as far as this process saw
}

// variates are those of this device.
//
// Of scaffold-2 these are its last contributions that records counted: one that the
// run rolled back, or lost with its log's tail, makes room for the one before it. A
// device that cannot tell asks the log for the one record that does. One that lost its
// store contributes without until a record counted it again; what it had found stays
// in the fleet's mean c then, as nobody else knows its part of that.
//
// Of scaffold-1 it is its contribution to the first phase, counted or not. A device
// that has none finds its scalars again.
//
// Invariants:
//  1. list has at most variatesMost, newest first, of records that differ.
//  2. What became of the contribution to record seen was looked at.
type variates struct {
	list    []variate
	seen    uint64
	unsaved bool // list is not what the store has
}

// find returns where the variate of record n is, or would be.
func (v *variates) find(n uint64) (at int, found bool) {
	return slices.BinarySearchFunc(v.list, n, func(e variate, n uint64) int {
		switch {
		case e.n > n:
			return -1
		case e.n < n:
			return 1
		}
		return 0
	})
}

// drop forgets the variate at an index.
func (v *variates) drop(at int) {
	v.list = slices.Delete(v.list, at, at+1)
	v.unsaved = true
}

// put remembers one in its place.
func (v *variates) put(new variate) {
	at, found := v.find(new.n)
	if found {
		v.list[at] = new
	} else {
		v.list = slices.Insert(v.list, at, new)
	}
	v.list = v.list[:min(len(v.list), variatesMost)]
	v.unsaved = true
}

// See looks up what a record of the log, applied or passed over, says of this device's
// contributions.
func (o *Outbox) See(r *wire.Record, record []byte) {
	plan, v := o.cfg.Log.Plan(), &o.variates
	if plan == nil || !plan.SendsControl() {
		return
	}
	if at, found := v.find(r.N); found {
		if v.list[at].hash == wire.HashRecord(record) {
			v.list[at].sure = true
		} else {
			v.drop(at)
		}
	}
	if r.N != o.reply.n {
		return
	}
	v.seen = r.N
	if at, found := v.find(r.N); !o.counted(r, plan) || found && v.list[at].sure {
		return
	}
	if reply, err := wire.DecodeReply(o.reply.frame); err == nil {
		v.put(variate{r.N, wire.HashRecord(record), reply.Values, true})
	}
}

// Doubt is for a state that somebody else came to, maybe along another log: the records
// on the way were not seen, and are to be asked for.
func (o *Outbox) Doubt() {
	o.variates.seen = 0
	for i := range o.variates.list {
		o.variates.list[i].sure = false
	}
}

// counted says whether a record has this device's last contribution in it, or, in a first
// phase, may have.
func (o *Outbox) counted(r *wire.Record, plan *wire.Plan) bool {
	s := &o.reply
	if !s.final || r.Kind != wire.KindRound || r.Prev.Tip() != s.tip ||
		r.Round.Perturbations != s.p {
		return false
	}
	if plan.Control == wire.ScaffoldPoint {
		return r.Round.Phase == 1
	}
	_, counted := slices.BinarySearch(r.Round.Slots, o.slot)
	return counted && r.Round.Step == s.step
}

// Control returns this device's control variate: that of record n, or for n = 0 the newest
// that the state has in it. N = 0: there is none. What this process did not see itself,
// because of a restart or a snapshot, it asks the log for; the error says that it could
// not.
func (o *Outbox) Control(ctx context.Context, n uint64) (wire.ControlVariate, error) {
	v, s, last := &o.variates, &o.reply, o.cfg.Log.N()
	if s.final && s.n != v.seen && s.n <= last && (n == 0 || n == s.n) {
		if err := o.askAbout(ctx, s.n); err != nil {
			return wire.ControlVariate{}, err
		}
	}
	for at := 0; at < len(v.list); {
		e := &v.list[at]
		if n > 0 && e.n != n || !o.cfg.Log.Live(e.n) {
			at++
			continue
		}
		if was := e.n; !e.sure {
			if err := o.askAbout(ctx, was); err != nil {
				return wire.ControlVariate{}, err
			}
			at, _ = v.find(was) // it may be gone
			continue
		}
		if !o.sendable(e) {
			break
		}
		return wire.ControlVariate{N: e.n, Scalars: e.scalars}, nil
	}
	return wire.ControlVariate{}, nil
}

// sendable says whether a variate is within the plan's limit, which may have become
// smaller: the coordinator would refuse the reply that it is in.
func (o *Outbox) sendable(e *variate) bool {
	plan := o.cfg.Log.Plan()
	for i := range plan.Precision.Len(e.scalars) {
		v := plan.Precision.At(e.scalars, i)
		if !(math.Abs(float64(v)) <= float64(plan.MaxScalar)) {
			o.cfg.Logger.Warn(
				"contributing without a control variate: it has a scalar above max_scalar",
				"record", e.n, "scalar", v, "max_scalar", plan.MaxScalar)
			return false
		}
	}
	return true
}

// errUnsettled: the log could not be asked for a record.
var errUnsettled = errors.New("what the log has of this device's last contribution")

// askAbout sees the log's record n.
func (o *Outbox) askAbout(ctx context.Context, n uint64) error {
	record, err := o.cfg.Log.Record(ctx, n)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnsettled, err)
	}
	r, err := wire.DecodeRecord(record)
	if err == nil && r.N != n {
		err = fmt.Errorf("got record %d, want %d", r.N, n)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnsettled, err)
	}
	o.See(&r, record)
	return nil
}
