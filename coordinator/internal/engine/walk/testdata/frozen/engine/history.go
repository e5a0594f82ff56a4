package engine

import (
	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/archive"
)

// A History is what a core needs of its log.
type History = archive.History

// Span returns the segment of record n, and the log's last record.
func (c *Core) Span(n uint64) (s catchup.Span, last uint64) {
	if n <= c.N {
		s = c.Segments.Find(n)
	}
	return s, c.N
}
