// Package crossing measures what calls between Go and an app cost, without anything
// that Zofl does in between. It is bound for ../../../testing/mobile/bench.sh only.
package crossing

import (
	"time"

	"github.com/zofl/zofl/client/mobile"
)

// Whole calls an objective in simple mode so many times, with so many bytes of
// parameters, and returns the nanoseconds of all.
func Whole(objective mobile.Objective, bytes, calls int) (int64, error) {
	params := make([]byte, bytes)
	began := time.Now()
	for range calls {
		if _, err := objective.Loss(params); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Nanoseconds(), nil
}

// A Source hands out parameters as a Round does, but makes no directions.
type Source struct{ params []byte }

// NewSource returns a source of so many bytes.
func NewSource(bytes int) *Source { return &Source{make([]byte, bytes)} }

// Read copies bytes from off on into dst.
func (s *Source) Read(off int, dst []byte) { copy(dst, s.params[off:]) }

// Nothing is a call that does nothing.
func (s *Source) Nothing() {}
