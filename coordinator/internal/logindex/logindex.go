// Package logindex keeps what a coordinator needs of its log's records: the first record, the
// newest records, and the lengths of the others.
package logindex

import (
	"bytes"
	"context"

	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A History is the part of a log that a coordinator reads when it begins.
type History struct {
	Archive
	Position runlog.Position // at the log's end
	Members  []string        // by slot
	Retired  []string
	Base     *runlog.Base // nil: the log begins with record 1
	Decided  runlog.Decisions
}

// BeginWith says that the log begins with a state. The coordinator announces that state's digest as
// a reference, so that devices accept no other state. Call BeginWith before Remember.
func (h *History) BeginWith(b *runlog.Base) {
	h.Base, h.First, h.Segments.Last = b, b.First, b.N
	h.from, h.tips = b.N, []wire.Tip{b.Hash.Tip()}
}

// Load reads a log.
func (h *History) Load(ctx context.Context, log runlog.Log) (err error) {
	h.Position, err = runlog.Replay(ctx, log, log.Last(), func(record []byte) {
		h.Remember(record, wire.HashRecord(record).Tip())
	})
	if err == nil {
		h.Members, err = log.Members()
	}
	if err == nil {
		h.Retired, err = log.Retired()
	}
	if err == nil {
		h.Decided, err = runlog.DecisionsOf(ctx, log)
	}
	return err
}

// Reserve keeps some bytes of each answer to a request for records free. Call Reserve before
// Remember.
func (h *History) Reserve(bytes int) { h.Segments.Reserve = bytes }

// An Archive holds the parts of the log's records that the coordinator keeps in memory.
type Archive struct {
	First    []byte // record 1
	Recent   catchup.Recent
	Segments catchup.Segments

	from uint64     // the record of the first of tips; 0: 1
	tips []wire.Tip // of all records, by which devices are told that the log is theirs
}

// Remember keeps a copy of the next record for announcements, and notes its segment and its tip.
func (a *Archive) Remember(record []byte, tip wire.Tip) {
	a.tips = append(a.tips, tip)
	record = bytes.Clone(record)
	if a.First == nil {
		a.First = record
	}
	a.Recent.Add(record)
	a.Segments.Add(len(record))
}

// Tip returns the tip of record n. ok is false if the log has no record n, or if record n is from
// before the state with which the log begins.
func (a *Archive) Tip(n uint64) (tip wire.Tip, ok bool) {
	i := n - max(a.from, 1)
	if n < max(a.from, 1) || i >= uint64(len(a.tips)) {
		return tip, false
	}
	return a.tips[i], true
}

// Records calls each with every record that the log has up to last.
func Records(ctx context.Context, log runlog.Log, last uint64, each func(record []byte)) error {
	first := uint64(1)
	if base := runlog.BaseOf(log); base != nil {
		first = base.N + 1
	}
	return log.Read(ctx, first, func(n uint64, record []byte) bool {
		if n <= last {
			each(record)
		}
		return n < last
	})
}
