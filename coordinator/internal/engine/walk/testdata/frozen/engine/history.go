package engine

import (
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/archive"
	"github.com/zofl/zofl/coordinator/internal/serve"
)

// A History is what a core needs of its log.
type History = archive.History

// Span returns the segment of record n, and the log's last record.
func (c *Core) Span(n uint64) (s serve.Span, last uint64) {
	if n <= c.N {
		s = c.Segments.Find(n)
	}
	return s, c.N
}
