package follow

import (
	"time"

	"github.com/zofl/zofl/wire"
)

// The next two constants bound a batch. Params, Digest and the end of Run wait while the follower
// applies a batch. So at this device's measured pace a batch takes at most about batchTime.
const (
	batchTime = 250 * time.Millisecond
	batchMost = 64
)

// A batch holds records of a catch-up that the follower will apply together. The records alias the
// answer that brought them, so the follower applies them before it reads the next answer.
type batch struct {
	records [][]byte
	rounds  int
	work    float64 // in elements, see elements
}

// advance moves past record n, the next record of the log. advance adds a record of the path to the
// batch, and skips other records. If the record shows that the path is wrong, because of an unknown
// rollback, advance only skips records from then on. The catch-up ends at record last.
func (f *Follower) advance(n uint64, record []byte, live path, last uint64) error {
	r := &f.decoded
	if err := r.Decode(record); err != nil {
		return err
	}
	if f.cfg.Observer != nil {
		f.cfg.Observer.See(r, record)
	}
	if r.To == 0 && f.course.straight() {
		return f.add(record, r, last)
	}
	return f.advanceAlong(n, record, live, last)
}

// advanceAlong does the work of advance in a log with rollbacks.
func (f *Follower) advanceAlong(n uint64, record []byte, live path, last uint64) error {
	r := &f.decoded
	surprise := r.To != f.course.to(n)
	if !surprise && !f.course.scanning && live.has(n) {
		f.course.passed = 0
		return f.add(record, r, last)
	}
	if err := f.applyBatch(last); err != nil {
		return err
	}
	if err := f.replica.Skip(record); err != nil {
		return err
	}
	f.course.passed = n
	if surprise {
		f.cfg.Logger.Warn("rolling back", "record", n, "to", r.To)
		f.course.note(n, r.To)
		f.course.scanning = true
	}
	return nil
}

// add adds a record to the batch. add applies the batch in three cases: after a record that is not
// a round, at a state whose digest is due or that the witness wants, and when the batch is full.
func (f *Follower) add(record []byte, r *wire.Record, last uint64) error {
	b, plan, work := &f.batch, f.replica.Plan(), 0.0
	if r.Kind == wire.KindRound && plan != nil {
		work = elements(plan, r.Round)
	}
	b.records = append(b.records, record)
	b.work += work
	if work > 0 {
		b.rounds++
	}
	if work == 0 || len(b.records) == batchMost || f.pace.replays(b.work+work) > batchTime ||
		due(r.N, plan.DigestEvery) || f.cfg.Witness != nil && f.cfg.Witness.Wants(r.N) {
		return f.applyBatch(last)
	}
	return nil
}

// applyBatch applies the batch, computes the digest if one is due, and calls the witness.
func (f *Follower) applyBatch(last uint64) error {
	b := &f.batch
	if len(b.records) == 0 {
		return nil
	}
	began := time.Now()
	err := f.applyAll(b.records)
	if err == nil && b.work > 0 {
		f.pace.apply(time.Since(began), b.rounds, b.work)
	}
	clear(b.records)
	b.records, b.rounds, b.work = b.records[:0], 0, 0
	if err != nil {
		return err
	}
	f.digestIfDue(last)
	return f.witness(last)
}

// witness calls the witness with the present state.
func (f *Follower) witness(last uint64) error {
	if f.cfg.Witness == nil {
		return nil
	}
	return f.cfg.Witness.See(f, last)
}

// due says whether a task is due after record n, if it is due after every so many records (0:
// never).
func due(n uint64, every uint32) bool { return every > 0 && n%uint64(every) == 0 }
