package client

import (
	"context"
	"io"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/client/internal/outbox"
	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// The next constants are the store's items for a memory, and the items' magic numbers.
const (
	itemControl     = "control"    // with scaffold-2: c_i
	itemTrajectory  = "trajectory" // with a surrogate: the measured losses, and w_i
	controlMagic    = "zofl control 1\n"
	trajectoryMagic = "zofl trajectory 1\n"
)

// A memory stores what a device with transport=dense keeps from earlier rounds for later rounds.
type memory struct {
	files   *files.Keeper
	prober  *probe.Prober
	attempt uint64 // the checkpoint attempt at which the memory was last saved
	stored  bool   // the memory came from the store, which may lack the outbox's last vector
}

// memoryItem returns the name of the item that stores the memory for a plan; "": that plan needs
// none.
func memoryItem(p *plan.Plan) (item, magic string) {
	switch {
	case !probe.Keeps(p):
		return "", ""
	case p.Estimator == plan.Surrogate:
		return itemTrajectory, trajectoryMagic
	}
	return itemControl, controlMagic
}

// prepare readies the memory for a round. If this process has no memory yet, prepare loads the
// store's item. prepare drops the numbers of another plan, because these numbers belong to another
// log. An error is the Recorder's.
func (m *memory) prepare(r *replica.Replica) error {
	plan, numbers := r.Plan(), m.prober.Memory()
	if !m.prober.Prepare(r) {
		return nil
	}
	item, magic := memoryItem(plan)
	if m.stored = item != "" && m.files != nil; !m.stored {
		return nil
	}
	load := func(from io.Reader, size int64) error { return numbers.Load(from, size, plan) }
	return m.files.LoadStream(item, magic, numbers.Plan(), probe.ErrMemory, load)
}

// recall takes the control variate from the vector that this device sent last, if that vector is
// newer than the stored memory. So after a crash a device goes on with the same bits. An error says
// that the log did not answer whether it has the record of the vector.
func (m *memory) recall(ctx context.Context, r *replica.Replica, o *outbox.Outbox) error {
	if !m.stored || r.Plan().Control != plan.ScaffoldMean {
		return nil
	}
	numbers := m.prober.Memory()
	n, vector, err := o.LastVector(ctx, numbers.Variate())
	if m.stored = err != nil; !m.stored {
		numbers.Recall(n, vector, r.Plan())
	}
	return err
}

// save stores the memory if it changed. The caller makes sure that there is a store. An error is
// the Recorder's.
func (m *memory) save(r *replica.Replica) error {
	numbers, plan := m.prober.Memory(), r.Plan()
	if plan == nil || !numbers.Unsaved() ||
		numbers.Plan() != wire.HashRecord(r.PlanRecord()) {
		return nil
	}
	item, magic := memoryItem(plan)
	if item == "" {
		return nil
	}
	err := m.files.SaveStream(item, magic, numbers.Plan(), numbers.Save)
	if err == nil {
		numbers.Saved()
	}
	return m.files.Check(item, err)
}

// saveWith saves the memory once for each attempt to write a checkpoint.
func (m *memory) saveWith(attempt uint64, r *replica.Replica) error {
	if m.attempt == attempt {
		return nil
	}
	m.attempt = attempt
	return m.save(r)
}
