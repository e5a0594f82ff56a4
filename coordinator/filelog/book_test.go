package filelog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk/disktest"
	"github.com/zofl/zofl/wire"
)

// A fileBook uses a log on a disk that fails, and knows what the log may hold: everything that the
// log acknowledged, and at most one of the changes that were tried since.
type fileBook struct {
	t       testing.TB
	log     *Log
	records [][]byte   // acknowledged
	tried   [][]byte   // what may be the next record
	members []string   // acknowledged
	batches [][]string // what may follow the members: the beginning of one
	retired []string   // acknowledged
	leaving []string   // each may be retired next
	epoch   uint64     // the largest that Begin returned
	led     uint64     // the last record's epoch
	errs    []error
}

const bookDir = "runs/log"

func (l *fileBook) open(d *disktest.Disk) {
	var err error
	l.log, err = openOn(d, bookDir)
	l.failed(err)
}

// failed notes an error, and says whether there was one. It also returns true if the log is not
// open.
func (l *fileBook) failed(err error) bool {
	if err != nil {
		l.errs = append(l.errs, err)
	}
	return err != nil || l.log == nil
}

func (l *fileBook) close() {
	if l.log != nil {
		l.failed(l.log.Close())
	}
	l.log = nil
}

func (l *fileBook) begin() {
	if l.log == nil {
		return
	}
	epoch, err := l.log.Begin(l.t.Context())
	if l.failed(err) {
		return
	}
	if epoch <= l.epoch || epoch <= l.led {
		l.t.Fatalf("Begin() = %d after epoch %d and a record of %d", epoch, l.epoch, l.led)
	}
	l.epoch = epoch
}

// next returns the next record: a plan, or a round with this many bytes.
func (l *fileBook) next(size int) []byte {
	r := wire.Record{N: uint64(len(l.records)) + 1, Epoch: max(l.epoch, 1), Kind: wire.KindPlan,
		Plan: chaintest.Plan(l.t)}
	r.Prev = wire.Genesis(r.Plan.Run)
	if r.N > 1 {
		r.Kind, r.Plan, r.Prev = wire.KindRound, nil, wire.HashRecord(l.records[r.N-2])
		r.Round = &wire.Round{StepSize: 1, Terms: []wire.Term{{Scalars: bytes.Repeat([]byte{byte(size),
			1}, size/2)}}}
	}
	return r.Append(nil)
}

func (l *fileBook) append(record []byte) {
	if l.log == nil {
		return
	}
	l.tried = append(l.tried, record)
	if l.failed(l.log.Append(l.t.Context(), uint64(len(l.records))+1, record)) {
		return
	}
	l.records, l.tried, l.led = append(l.records, record), nil, max(l.epoch, 1)
}

func (l *fileBook) add(ids ...string) {
	if l.log == nil {
		return
	}
	l.batches = append(l.batches, ids)
	if l.failed(l.log.AddMembers(l.t.Context(), ids)) {
		return
	}
	l.members, l.batches = append(l.members, ids...), nil
}

func (l *fileBook) retire(id string) {
	if l.log == nil || !slices.Contains(l.members, id) || slices.Contains(l.retired, id) {
		return
	}
	l.leaving = append(l.leaving, id)
	if l.failed(l.log.Retire(l.t.Context(), id)) {
		return
	}
	l.retired, l.leaving = append(l.retired, id), nil
}

// check compares an open log with what it must hold.
func (l *fileBook) check(f *Log) error {
	var got [][]byte
	err := f.Read(l.t.Context(), 1, func(_ uint64, record []byte) bool {
		got = append(got, bytes.Clone(record))
		return true
	})
	if err != nil {
		return err
	}
	if f.Last() != uint64(len(got)) || len(got) < len(l.records) ||
		!slices.EqualFunc(got[:len(l.records)], l.records, bytes.Equal) {
		return fmt.Errorf("%d records, Last() = %d, want %d as they were appended", len(got),
			f.Last(), len(l.records))
	}
	for _, record := range got[len(l.records):] {
		if !slices.ContainsFunc(l.tried, func(tried []byte) bool {
			return bytes.Equal(tried,
				record)
		}) {
			return fmt.Errorf("record %d was never appended", len(got))
		}
	}
	if err := runlog.CheckLoss(l.t.Context(), f, 0); err != nil {
		return err
	}
	members, err := f.Members()
	if err != nil || len(members) < len(l.members) ||
		!slices.Equal(members[:len(l.members)], l.members) {
		return fmt.Errorf("members %v, %v, want %v", members, err, l.members)
	}
	retired, err := f.Retired()
	if n := len(l.retired); err != nil || len(retired) < n || len(retired) > n+1 ||
		!slices.Equal(retired[:n], l.retired) ||
		len(retired) > n && !slices.Contains(l.leaving, retired[n]) {
		return fmt.Errorf("retired %v, %v, want %v and perhaps one of %v", retired, err, l.retired,
			l.leaving)
	}
	rest := members[len(l.members):]
	from := func(batch []string) bool {
		return len(rest) <= len(batch) &&
			slices.Equal(rest, batch[:len(rest)])
	}
	if len(rest) > 0 && !slices.ContainsFunc(l.batches, from) {
		return fmt.Errorf("members %v after %v, want the beginning of one of %v", rest, l.members,
			l.batches)
	}
	return nil
}

// adopt opens the log that a crash left. Everything that this log holds now counts as acknowledged,
// because a process has read it.
func (l *fileBook) adopt(d *disktest.Disk) error {
	f, err := openOn(d, bookDir)
	if err != nil {
		return err
	}
	if err := errors.Join(l.check(f), nothingLeft(d)); err != nil {
		return errors.Join(err, f.Close())
	}
	l.log, l.tried, l.batches, l.leaving = f, nil, nil, nil
	for n := uint64(len(l.records)) + 1; n <= f.Last(); n++ {
		if err := f.Read(l.t.Context(), n, func(_ uint64, record []byte) bool {
			l.records = append(l.records, bytes.Clone(record))
			return false
		}); err != nil {
			return err
		}
		l.led = max(l.epoch, 1)
	}
	if l.members, err = f.Members(); err == nil {
		l.retired, err = f.Retired()
	}
	return err
}

// nothingLeft returns an error if an open log's directory has files that are not part of the log.
func nothingLeft(d *disktest.Disk) error {
	names, err := d.ReadDir(bookDir)
	for _, name := range names {
		if !slices.Contains([]string{"epoch", "lock", "log", "roster", "seen"}, name) &&
			(!strings.HasPrefix(name, "log.cut-") || strings.HasSuffix(name, ".zofl-new")) {
			err = errors.Join(err, fmt.Errorf("a file %s is left", name))
		}
	}
	return err
}

// survive opens what a crash left, continues it, and opens it again.
func (l fileBook) survive(d *disktest.Disk) error {
	l.records, l.members, l.errs = slices.Clone(l.records), slices.Clone(l.members), nil
	l.retired = slices.Clone(l.retired)
	if err := l.adopt(d); err != nil {
		return err
	}
	l.begin()
	l.append(l.next(8))
	l.add("last")
	l.retire("last")
	l.close()
	l.open(d)
	if len(l.errs) > 0 {
		return errors.Join(l.errs...)
	}
	defer l.close()
	return l.check(l.log)
}

// manyMembers returns more than two sectors of ids.
func manyMembers(from string) []string {
	ids := make([]string, 40)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%s-%d", from, "device-of-a-longer-id"[:10+i%10], i)
	}
	return ids
}
