package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A Config says what to replay.
type Config struct {
	Replica replica.Config // initial parameters and run key, if the plan needs them
	At      uint64         // number of the last record to apply; 0: the last in the log

	// Replay calls Each for every record whose number n is a multiple of Every, with the replica in
	// the state after record n, or with nil if a later rollback undid record n. With
	// transport=dense, the state lacks the vectors that are no longer stored: see
	// [replica.Replica.Missing].
	Each  func(n uint64, r *replica.Replica) error
	Every uint64 // 0: Each is never called
}

// Replay returns a replica in the state after record cfg.At. It checks the chain from record 1.
//
// It reads the records twice: first to find the rollbacks, then to apply the records that no
// rollback undid. With transport=dense, Replay fetches the vectors between the two readings,
// because a running coordinator may delete vectors soon.
//
// If a vector that the state needs is not stored, Replay returns the replica without that vector,
// and an error: a [*GoneError] if the plan allowed the log to delete the vector, otherwise an error
// that matches [runlog.ErrCorrupt].
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
	if err := p.load(); err != nil {
		return nil, err
	}
	var failed error
	err = s.Read(ctx, course.Begins+1, func(n uint64, record []byte) bool {
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
		return nil, fmt.Errorf("record %d is gone: the log had it a moment ago", last)
	}
	return p.end()
}

// A replaying holds a replica and copies of the records to apply next. A replica applies many
// records together faster than one by one.
type replaying struct {
	cfg    Config
	ctx    context.Context
	source Source
	course *course

	r       *replica.Replica
	records [][]byte
	size    int // of the records, in bytes

	vectors map[[wire.ObjectLen]byte][]byte // that the last state needs, by digest
}

// batchMost bounds the records of a batch. batchWork bounds the number of parameters times the
// bytes of the batch's records (about 4 bytes for each scalar). A batch must be short, because an
// interrupt takes effect only at its end.
const (
	batchMost = 64
	batchWork = 2e9
)

// take applies record n, or skips record n if a rollback undid it.
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
		err = p.r.Skip(record)
	}
	if err != nil || p.cfg.Every == 0 || n%p.cfg.Every > 0 {
		return err
	}
	return p.show(n, counts)
}

// load makes a replica from the state with which the log begins. A log that begins with record 1
// has no such state.
func (p *replaying) load() error {
	base, state := p.source.Base()
	if base == nil {
		return nil
	}
	cfg := p.cfg.Replica
	cfg.Run, cfg.Dim = p.course.Plan.Run, p.course.Plan.Dim
	cfg.Workers = runtime.GOMAXPROCS(0)
	r, _, err := replica.Load(cfg, io.NewSectionReader(state, 0, base.Size), base.Size)
	if err == nil && (r.N() != base.N || r.Hash() != base.Hash) {
		err = fmt.Errorf("%w: it is the state after record %d", runlog.ErrCorrupt, r.N())
	}
	if err != nil {
		return fmt.Errorf("the state with which the log begins: %w", err)
	}
	p.r = r
	return nil
}

// begin makes a replica for the plan in record 1.
func (p *replaying) begin(record []byte) error {
	first, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	if first.Kind != wire.KindPlan {
		return fmt.Errorf("record %d is a %v: the first record must be a plan", first.N, first.Kind)
	}
	cfg := p.cfg.Replica
	cfg.Run, cfg.Workers = first.Plan.Run, runtime.GOMAXPROCS(0)
	p.r = replica.New(cfg)
	return nil
}

func (p *replaying) add(record []byte) error {
	if len(p.records) < cap(p.records) { // reuse its memory
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

// lost says whether an error means that the log lacks a vector or has it damaged, so that another
// try is useless.
func lost(err error) bool {
	return errors.Is(err, runlog.ErrNoObject) || errors.Is(err, runlog.ErrCorrupt)
}

// end supplies the vectors of the last state, and returns the replica.
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

// fetch fetches those vectors of the last state that the log still stores.
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

// complete supplies the vectors that the state lacks. If it cannot fetch a vector, it returns the
// vector's name and the error.
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
