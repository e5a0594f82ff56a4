// Package logindex keeps what a coordinator needs of its log's records: the first record, the
// newest ones, and the lengths of the others.
package logindex

import (
	"bytes"
	"context"

	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A History is the part of its log that a coordinator reads when it begins.
type History struct {
	Archive
	Position runlog.Position // at the log's end
	Members  []string        // by slot
	Retired  []string
	Base     *runlog.Base // nil: the log begins with record 1
}

// BeginWith says that the log begins with a state. The coordinator announces it as a reference, so
// that devices take no other state for it. Call it before Remember.
func (h *History) BeginWith(b *runlog.Base) {
	h.Base, h.First, h.Segments.Last = b, b.First, b.N
}

// Reserve keeps n bytes of each answer to a request for records free. Call it before Remember.
func (h *History) Reserve(bytes int) { h.Segments.Reserve = bytes }

// An Archive holds what is kept of the log's records.
type Archive struct {
	First    []byte // record 1
	Recent   catchup.Recent
	Segments catchup.Segments
}

// Remember keeps a copy of the next record for announcements, and notes its segment.
func (a *Archive) Remember(record []byte) {
	record = bytes.Clone(record)
	if a.First == nil {
		a.First = record
	}
	a.Recent.Add(record)
	a.Segments.Add(len(record))
}

// Records calls each with the records that a log has up to last.
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
