package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A GoneError says that the state after record N needs the vector of another record, and that the
// log no longer stores that vector. A GoneError matches [runlog.ErrNoObject].
type GoneError struct {
	N, Record uint64
	Keep      uint32 // the current dense_keep
	Whole     []Span // records whose states the log can still give
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the state after record %d needs the vector of record %d, which was deleted "+
		"(dense_keep = %d): choose one of the records %s", e.N, e.Record, e.Keep, texts(e.Whole))
}

// Is reports that the error matches [runlog.ErrNoObject].
func (e *GoneError) Is(target error) bool { return target == runlog.ErrNoObject }

func texts(spans []Span) string {
	var list []string
	for _, s := range spans {
		list = append(list, s.String())
	}
	return strings.Join(list, ", ")
}

// gone returns the error for a state after record n that lacks a vector.
func gone(ctx context.Context, s Source, n uint64, name runlog.ObjectName) error {
	all, err := readCourse(ctx, s, 0)
	switch {
	case err != nil:
		return err
	case all.kept(name):
		return fmt.Errorf("vector of record %d: %w: it is missing, though the log should keep it",
			name.N, runlog.ErrCorrupt)
	}
	return &GoneError{n, name.N, all.Plan.DenseKeep, all.whole()}
}

// Vectors counts the vectors that a log should hold: those with the right digest, the missing, and
// the damaged.
type Vectors struct {
	Right   int      `json:"right"`             // stored, and as their records say
	Bytes   uint64   `json:"bytes"`             // of these
	Missing []uint64 `json:"missing,omitempty"` // records whose vectors are not stored
	Damaged []uint64 `json:"damaged,omitempty"` // records whose vectors have another digest
}

// CheckVectors reads the vectors that the log should keep, of the records up to at, or of all
// records if at is 0. It compares the vectors' digests with the digests in the records. Only a plan
// with transport=dense has vectors.
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

// settle finds out which of the missing vectors the log should still store. A running coordinator
// may have deleted old vectors since the first reading.
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
