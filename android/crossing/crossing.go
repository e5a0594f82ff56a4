// Package crossing measures the cost of calls between Go and an app, without any of Zofl's own
// work. Only ../../testing/mobile/bench.sh binds this package.
package crossing

import (
	"time"

	"github.com/zofl/zofl/client/mobile"
)

// Whole calls the objective the given number of times in simple mode, each time with the given
// number of bytes of parameters, and returns the total in nanoseconds.
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

// A Source passes parameters to the app as a Round does, but generates no directions.
type Source struct{ params []byte }

// NewSource returns a source of the given number of bytes.
func NewSource(bytes int) *Source { return &Source{make([]byte, bytes)} }

// Read copies bytes into dst, starting at off.
func (s *Source) Read(off int, dst []byte) { copy(dst, s.params[off:]) }

// Nothing does nothing.
func (s *Source) Nothing() {}
