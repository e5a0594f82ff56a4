package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A GoneError says that the state after record N needs the vector of a record, which
// the log has no longer. It matches [runlog.ErrNoObject].
type GoneError struct {
	N, Record uint64
	Keep      uint32 // dense_keep, as the run has it now
	Whole     []Span // states for which the log has what they need
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the state after record %d needs the vector of record %d, which is gone (dense_keep = %d): choose one of the records %s",
		e.N, e.Record, e.Keep, texts(e.Whole))
}

// Is says that a vector is gone.
func (e *GoneError) Is(target error) bool { return target == runlog.ErrNoObject }

func texts(spans []Span) string {
	var list []string
	for _, s := range spans {
		list = append(list, s.String())
	}
	return strings.Join(list, ", ")
}

// gone says why the state after record n cannot be had without a vector.
func gone(ctx context.Context, s Source, n uint64, name runlog.ObjectName) error {
	all, err := readCourse(ctx, s, 0)
	switch {
	case err != nil:
		return err
	case all.kept(name):
		return fmt.Errorf("vector of record %d: %w: the log should have it, and has it not", name.N, runlog.ErrCorrupt)
	}
	return &GoneError{n, name.N, all.Plan.DenseKeep, all.whole()}
}

// Vectors are those that a log should have.
type Vectors struct {
	Right   int      `json:"right"`             // are there, and what their records say
	Bytes   uint64   `json:"bytes"`             // of these
	Missing []uint64 `json:"missing,omitempty"` // records whose vectors are not there
	Damaged []uint64 `json:"damaged,omitempty"` // records whose vectors are something else
}

// CheckVectors reads the vectors of records up to at, or all for 0, that the log should
// have, and compares them with their records. A run that is not dense has none.
func CheckVectors(ctx context.Context, s Source, at uint64) (v Vectors, err error) {
	c, err := readCourse(ctx, s, 0)
	if err != nil {
		return v, err
	}
	var missing []runlog.ObjectName
	for _, name := range c.Vectors() {
		if at > 0 && name.N > at {
			continue
		}
		data, err := s.Vector(ctx, name)
		switch {
		case err == nil:
			v.Right, v.Bytes = v.Right+1, v.Bytes+uint64(len(data))
		case errors.Is(err, runlog.ErrNoObject):
			missing = append(missing, name)
		case errors.Is(err, runlog.ErrCorrupt):
			v.Damaged = append(v.Damaged, name.N)
		default:
			return v, err
		}
	}
	if len(missing) > 0 {
		err = v.settle(ctx, s, missing)
	}
	return v, err
}

// settle finds out which vectors should still be there: a coordinator that leads
// meanwhile deletes old ones.
func (v *Vectors) settle(ctx context.Context, s Source, missing []runlog.ObjectName) error {
	now, err := readCourse(ctx, s, 0)
	if err != nil {
		return err
	}
	missing = slices.DeleteFunc(missing, func(o runlog.ObjectName) bool { return !now.kept(o) })
	for _, o := range missing {
		v.Missing = append(v.Missing, o.N)
	}
	return nil
}
