package logs

import (
	"context"
	"os"

	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// A shown is a source that shows on a bar how many of its records were read.
type shown struct {
	source.Source
	last uint64
}

// showing returns a source that shows on a bar how many of its records up to last were read. If
// last is 0, the number is unknown.
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
