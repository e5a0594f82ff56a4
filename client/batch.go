package client

import (
	"time"

	"github.com/zofl/zofl/wire"
)

// A batch is applied within batchTime, as far as this device's pace is known:
// Params and Digest wait for it, and so does whoever ends Run.
const (
	batchTime = 250 * time.Millisecond
	batchMost = 64
)

// A batch holds records of a catch-up that were looked at and wait to be applied
// together. They alias the answer that brought them, and are applied before the
// next.
type batch struct {
	records [][]byte
	rounds  int
	work    float64 // in elements
}

// advance goes beyond the log's next record, number n: it applies one of the
// path, sooner or later, and passes over others. After a record that is not what
// the path was made with it only passes. The catch-up ends at record last.
func (c *Client) advance(n uint64, record []byte, live path, last uint64) error {
	r := &c.decoded
	if err := r.Decode(record); err != nil {
		return err
	}
	c.see(r, record)
	surprise := r.To != c.course.to(n)
	if !surprise && !c.course.scanning && live.has(n) {
		c.course.passed = 0
		return c.add(record, r, last)
	}
	if err := c.applyBatch(last); err != nil {
		return err
	}
	if err := c.replica.Pass(record); err != nil {
		return err
	}
	c.course.passed = n
	if surprise {
		c.cfg.Logger.Warn("rolling back", "record", n, "to", r.To)
		c.course.note(n, r.To)
		c.course.scanning = true
	}
	return nil
}

// add adds a record to the batch, and applies that where it ends: at what is no
// round, at a state that somebody may want to see, and when it is worth its time.
func (c *Client) add(record []byte, r *wire.Record, last uint64) error {
	b, plan, work := &c.batch, c.replica.Plan(), 0.0
	if r.Kind == wire.KindRound && plan != nil {
		work = elements(plan, r.Round)
	}
	b.records = append(b.records, record)
	b.work += work
	if work > 0 {
		b.rounds++
	}
	if work == 0 || len(b.records) == batchMost || c.pace.replays(b.work+work) > batchTime ||
		due(r.N, plan.DigestEvery) || c.snapshotDue(r.N) {
		return c.applyBatch(last)
	}
	return nil
}

// applyBatch applies the batch, and does what is due after it.
func (c *Client) applyBatch(last uint64) error {
	b := &c.batch
	if len(b.records) == 0 {
		return nil
	}
	began := time.Now()
	err := c.applyAll(b.records)
	if err == nil && b.work > 0 {
		c.pace.apply(time.Since(began), b.rounds, b.work)
	}
	clear(b.records)
	b.records, b.rounds, b.work = b.records[:0], 0, 0
	if err != nil {
		return err
	}
	c.digestIfDue(last)
	return c.snapshotIfDue(last)
}
