package source

import (
	"context"

	"github.com/zofl/zofl/coordinator/runlog"
)

// Check verifies that every record up to at, or up to the last one if at is 0, follows the one
// before it, and returns the position after that record. Check computes no model, so it needs no
// run key.
func Check(ctx context.Context, s Source, at uint64) (*runlog.Position, error) {
	c, err := readCourse(ctx, s, at)
	if err != nil {
		return nil, err
	}
	return &c.Position, nil
}
