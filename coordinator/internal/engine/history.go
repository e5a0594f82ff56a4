package engine

import (
	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/logindex"
)

// A History is the part of a log that a core needs.
type History = logindex.History

// Span returns the segment of record n, and the log's last record.
func (c *Core) Span(n uint64) (s catchup.Span, last uint64) {
	if n <= c.N {
		s = c.Segments.Find(n)
	}
	return s, c.N
}
