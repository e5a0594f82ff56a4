package runlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// copyObjects copies the vectors that src's records name, before Copy copies any record that names
// a vector. copyObjects skips vectors that src has lost: coordinators on src lack these vectors,
// too.
func copyObjects(ctx context.Context, dst, src Log) error {
	needed, err := hasObjects(ctx, src)
	if err != nil || !needed {
		return err
	}
	from, err := ObjectsOf(src)
	if err != nil {
		return fmt.Errorf("the log to copy: %w", err)
	}
	to, err := ObjectsOf(dst)
	if err != nil {
		return fmt.Errorf("the log to copy to: %w", err)
	}
	end, err := Replay(ctx, src, src.Last(), func([]byte) {})
	if err != nil {
		return err
	}
	for _, name := range end.Vectors() {
		if err := copyObject(ctx, to, from, name); err != nil {
			return err
		}
	}
	return nil
}

func copyObject(ctx context.Context, to, from Objects, name ObjectName) error {
	data, err := from.Object(ctx, name)
	if errors.Is(err, ErrNoObject) {
		return nil
	}
	if err == nil {
		err = to.PutObject(ctx, name, data)
	}
	return err
}

// hasObjects says whether record 1 of a log begins a run whose rounds have vectors.
func hasObjects(ctx context.Context, log Log) (needed bool, err error) {
	err = log.Read(ctx, 1, func(_ uint64, record []byte) bool {
		// If record 1 is damaged, copying the records reports that.
		r, bad := wire.DecodeRecord(record)
		needed = bad == nil && r.Plan != nil && hasVectors(r.Plan)
		return false
	})
	return needed, err
}
