package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A Config says what to replay.
type Config struct {
	Replica replica.Config // what only its owner knows of the model; the run is the log's
	At      uint64         // the last record; 0 is the log's

	// Each is called after each Every records with the replica, which has that
	// record's state; nil where the record was rolled back later. In a dense run the
	// state lacks ([replica.Replica.Missing]) the vectors that cannot be had.
	Each  func(n uint64, r *replica.Replica) error
	Every uint64 // 0: Each is not called
}

// Replay returns the replica of the state after record cfg.At. The chain is verified
// from record 1 on.
//
// A rollback returns to an earlier state, so the records are read twice: once
// for the rollbacks, and once to apply those that count. Vectors of a dense run are
// fetched between the two: a coordinator that leads soon deletes them.
//
// Where a vector cannot be had, Replay returns the replica without it, and an error: a
// [*GoneError], if the log need not have it any more, or one that matches
// [runlog.ErrCorrupt].
func Replay(ctx context.Context, s Source, cfg Config) (*replica.Replica, error) {
	course, err := readCourse(ctx, s, cfg.At)
	if err != nil {
		return nil, err
	}
	p := &replaying{cfg: cfg, ctx: ctx, source: s, course: course}
	if err := p.fetch(); err != nil {
		return nil, err
	}
	last := course.N
	var failed error
	err = s.Read(ctx, 1, func(n uint64, record []byte) bool {
		if n > last {
			return false
		}
		failed = p.take(n, record)
		return failed == nil
	})
	if failed == nil && err == nil {
		failed = p.apply()
	}
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return nil, err
	case p.r == nil || p.r.N() != last:
		return nil, fmt.Errorf("the log ended before record %d, which it had", last)
	}
	return p.end()
}

// A replaying replica applies copies of records together: nobody wants to see the
// states between.
type replaying struct {
	cfg    Config
	ctx    context.Context
	source Source
	course *course

	r       *replica.Replica
	records [][]byte
	size    int // bytes

	vectors map[[wire.ObjectLen]byte][]byte // of the last state
}

// batchMost bounds the records of a batch, and batchWork the parameters times the
// bytes of records, about 4 a scalar: whoever interrupts a replay waits for it.
const (
	batchMost = 64
	batchWork = 2e9
)

// take moves past the next record.
func (p *replaying) take(n uint64, record []byte) (err error) {
	if p.r == nil {
		if err := p.begin(record); err != nil {
			return err
		}
	}
	counts := p.course.path[n-1]
	if counts {
		err = p.add(record)
	} else if err = p.apply(); err == nil {
		err = p.r.Pass(record)
	}
	if err != nil || p.cfg.Every == 0 || n%p.cfg.Every > 0 {
		return err
	}
	return p.show(n, counts)
}

// begin makes the replica that record 1 is of.
func (p *replaying) begin(record []byte) error {
	first, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	if first.Kind != wire.KindPlan {
		return fmt.Errorf("record %d is a %v: the first one is a plan", first.N, first.Kind)
	}
	cfg := p.cfg.Replica
	cfg.Run, cfg.Workers = first.Plan.Run, runtime.GOMAXPROCS(0)
	p.r = replica.New(cfg)
	return nil
}

func (p *replaying) add(record []byte) error {
	if len(p.records) < cap(p.records) { // its memory again
		p.records = p.records[:len(p.records)+1]
		last := &p.records[len(p.records)-1]
		*last = append((*last)[:0], record...)
	} else {
		p.records = append(p.records, bytes.Clone(record))
	}
	p.size += len(record)
	if len(p.records) < batchMost && float64(p.size)*float64(len(p.r.Params())) < batchWork {
		return nil
	}
	return p.apply()
}

func (p *replaying) apply() error {
	if len(p.records) == 0 {
		return nil
	}
	_, err := p.r.ApplyAll(p.records)
	p.records, p.size = p.records[:0], 0
	return err
}

// show calls Each after record n.
func (p *replaying) show(n uint64, counts bool) error {
	if err := p.apply(); err != nil {
		return err
	}
	if !counts {
		return p.cfg.Each(n, nil)
	}
	if _, err := p.complete(); err != nil && !lost(err) {
		return err
	}
	return p.cfg.Each(n, p.r)
}

// lost says whether a vector cannot be had, however often it is asked for.
func lost(err error) bool {
	return errors.Is(err, runlog.ErrNoObject) || errors.Is(err, runlog.ErrCorrupt)
}

// end makes the last state whole.
func (p *replaying) end() (*replica.Replica, error) {
	name, err := p.complete()
	switch {
	case errors.Is(err, runlog.ErrNoObject):
		return p.r, gone(p.ctx, p.source, p.r.N(), name)
	case err != nil && !lost(err):
		return nil, err
	}
	return p.r, err
}

// fetch gets the vectors of the last state that are there.
func (p *replaying) fetch() error {
	p.vectors = map[[wire.ObjectLen]byte][]byte{}
	for _, name := range p.course.needs() {
		data, err := p.source.Vector(p.ctx, name)
		switch {
		case err == nil:
			p.vectors[name.Digest] = data
		case !lost(err):
			return err
		}
	}
	return nil
}

// complete gives the state the vectors that it lacks, or returns the name of one that
// cannot be had.
func (p *replaying) complete() (name runlog.ObjectName, err error) {
	for missing := p.r.Missing(); len(missing) > 0; missing = p.r.Missing() {
		name = p.course.vectorOf(missing[0].N)
		data, ok := p.vectors[name.Digest]
		if !ok {
			if data, err = p.source.Vector(p.ctx, name); err != nil {
				return name, err
			}
		}
		if err := p.r.Supply(name.Digest, data); err != nil {
			return name, fmt.Errorf("vector of record %d: %w", name.N, err)
		}
	}
	return name, nil
}
