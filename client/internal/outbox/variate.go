package outbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// variatesMost is how many control variates a device keeps, for runs that roll back.
const variatesMost = 16

// A variate is a candidate for this device's control variate c_i: the scalars of a contribution
// that a record includes.
type variate struct {
	n       uint64
	hash    wire.Hash    // of record n
	scalars wire.Scalars // as sent; they alias the reply
	sure    bool         // this process saw the record in the log
}

// variates are the candidates of this device.
//
// With scaffold-2 the candidates are the device's last contributions that records include. If the
// run rolls back a record, or loses the record with the tail of its log, the next older variate
// takes the place of the record's variate. If a device does not know whether a record includes its
// contribution, the device asks the log for that record. A device that lost its store contributes
// without a control variate until a record includes its next contribution. The lost variate stays
// in the fleet's mean c, because nobody else knows its part in the mean.
//
// With scaffold-1 there is one candidate: the device's contribution to phase 1, whether or not a
// record includes it. A device that has none computes its scalars of phase 1 again.
//
// Invariants:
//  1. list has at most variatesMost elements, newest first, of different records.
//  2. This process knows whether record seen includes the device's contribution.
type variates struct {
	list    []variate
	seen    uint64
	unsaved bool // list differs from what the store has
}

// find returns the index of record n's variate, or the index where put would insert it.
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

// drop deletes the variate at an index.
func (v *variates) drop(at int) {
	v.list = slices.Delete(v.list, at, at+1)
	v.unsaved = true
}

// put inserts a variate, or replaces the variate of the same record.
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

// See notes whether a record of the log includes a contribution of this device. The follower calls
// See for records that it applied or skipped.
func (o *Outbox) See(r *wire.Record, record []byte) {
	plan, v := o.cfg.Log.Plan(), &o.variates
	switch {
	case plan == nil:
		return
	case plan.Summed():
		o.seeChange(r, plan)
		return
	case !plan.SendsControl():
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

// Doubt follows the load of another party's state. The state may be of another log, and the outbox
// did not see the records before that state. So the outbox later asks the log for the records that
// it needs.
func (o *Outbox) Doubt() {
	o.variates.seen = 0
	for i := range o.variates.list {
		o.variates.list[i].sure = false
	}
}

// counted says whether a record includes this device's last contribution. For a first phase,
// counted says whether the record could include the contribution.
func (o *Outbox) counted(r *wire.Record, pl *plan.Plan) bool {
	s := &o.reply
	if !s.final || r.Kind != wire.KindRound || r.Prev.Tip() != s.tip ||
		r.Round.Perturbations != s.p {
		return false
	}
	if pl.Control == plan.ScaffoldPoint {
		return r.Round.Phase == 1
	}
	_, counted := slices.BinarySearch(r.Round.Slots, o.slot)
	return counted && r.Round.StepSize == s.step
}

// Control returns this device's control variate: the variate of record n, or for n = 0 the newest
// variate whose record is part of the state. N = 0: there is none. Control asks the log for a
// record that this process did not see, because of a restart or a snapshot. An error says that the
// log did not answer.
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
		if record := e.n; !e.sure {
			if err := o.askAbout(ctx, record); err != nil {
				return wire.ControlVariate{}, err
			}
			at, _ = v.find(record) // askAbout may have dropped the variate
			continue
		}
		if !o.sendable(e) {
			break
		}
		return wire.ControlVariate{N: e.n, Scalars: e.scalars}, nil
	}
	return wire.ControlVariate{}, nil
}

// sendable says whether a variate is within the plan's max_scalar. A plan change may have lowered
// max_scalar since the device sent the scalars. The coordinator would refuse a reply with a larger
// scalar.
func (o *Outbox) sendable(e *variate) bool {
	plan := o.cfg.Log.Plan()
	count := plan.Precision.Len(e.scalars)
	for _, v := range plan.Precision.Values(e.scalars, 1, count) {
		if !(math.Abs(float64(v)) <= float64(plan.MaxScalar)) {
			o.cfg.Logger.Warn(
				"contributing without a control variate: it has a scalar above max_scalar",
				"record", e.n, "scalar", v, "max_scalar", plan.MaxScalar)
			return false
		}
	}
	return true
}

// errUnsettled says that fetching a record from the log failed.
var errUnsettled = errors.New("asking the log whether it counted this device's last contribution")

// askAbout fetches record n from the log and calls See with it.
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
