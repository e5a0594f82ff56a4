package engine

import (
	"bytes"

	"github.com/zofl/zofl/coordinator/internal/guard"
	"github.com/zofl/zofl/coordinator/internal/serve"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A History is what a core needs of its log.
type History struct {
	archive
	Position runlog.Position // at the log's end
	Members  []string        // by slot
	Retired  []string
	base     *runlog.Base
}

// BeginWith says that the log begins with a state. The core announces it as a reference, so that
// devices take no other state for it. Call it before Remember.
func (h *History) BeginWith(b *runlog.Base) {
	h.base, h.first, h.segments.Last = b, b.First, b.N
}

// Reserve keeps so many bytes of each answer to a request for records free. Call it before
// Remember.
func (h *History) Reserve(bytes int) { h.segments.Reserve = bytes }

// Remember notes the next record of the log.
func (h *History) Remember(record []byte) { h.remember(record) }

// An archive is what a core keeps of the log's records.
type archive struct {
	first    []byte // record 1
	recent   serve.Recent
	segments serve.Segments
	past     guard.Past
}

// remember keeps a copy of a record for announcements, and notes its segment and its lengths.
func (l *archive) remember(record []byte) {
	record = bytes.Clone(record)
	if l.first == nil {
		l.first = record
	}
	l.recent.Add(record)
	l.segments.Add(len(record))
	l.past.Note(l.first, record)
}

// Span returns the segment of record n, and the log's last record.
func (c *Core) Span(n uint64) (s serve.Span, last uint64) {
	if n <= c.N {
		s = c.segments.Find(n)
	}
	return s, c.N
}
