package source

import (
	"context"
	"fmt"
	"io"

	"github.com/zofl/zofl/coordinator/runlog"
)

// stored is a log that this process has open.
type stored struct {
	log   runlog.Log
	close func()
}

// Stored returns the records of a log. Close closes the log, then calls close unless it is nil.
func Stored(log runlog.Log, close func()) Source {
	return &stored{log, close}
}

// Read implements [Source].
func (s *stored) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	return s.log.Read(ctx, from, f)
}

// Vector implements [Source].
func (s *stored) Vector(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	objects, ok := s.log.(runlog.Objects)
	if !ok {
		return nil, fmt.Errorf("vector of record %d: a %T stores no vectors", name.N, s.log)
	}
	return objects.Object(ctx, name)
}

// Base implements [Source].
func (s *stored) Base() (*runlog.Base, io.ReaderAt) {
	base := runlog.BaseOf(s.log)
	if base == nil {
		return nil, nil
	}
	return base, s.log.(runlog.Based).State()
}

// Close implements [Source].
func (s *stored) Close() error {
	err := s.log.Close()
	if s.close != nil {
		s.close()
	}
	return err
}
