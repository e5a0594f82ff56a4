package logs

import (
	"context"
	"os"

	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// A shown is a source that shows how far its records were read.
type shown struct {
	source.Source
	last uint64
}

// showing shows how many records of a source are read, up to last; 0 means that the last is
// unknown.
func showing(s source.Source, last uint64) source.Source { return &shown{s, last} }

// Read implements [source.Source].
func (s *shown) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	bar := terminal.NewBar(os.Stderr, "record", s.last)
	defer bar.Finish()
	return s.Source.Read(ctx, from, func(n uint64, record []byte) bool {
		bar.Set(n)
		return f(n, record)
	})
}
