package offer

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// models is how many whole models a device may fetch at once: it may start again, or lose pieces.
	models = 4
	// again is after how long it may take one more.
	again = time.Hour
	// mostDevices bounds how many are remembered.
	mostDevices = 1 << 16
)

// shares bound how much each device may fetch, so that a device that asks for pieces forever does
// not fill the coordinator's line. One goroutine uses them.
type shares struct {
	model int // its bytes, at least 1
	of    map[string]*rate.Limiter
}

func newShares(model int64) *shares {
	return &shares{model: int(max(model, 1)), of: map[string]*rate.Limiter{}}
}

// take says whether a device may have another piece, of so many bytes.
func (s *shares) take(id string, bytes int) bool {
	l := s.of[id]
	if l == nil {
		if len(s.of) >= mostDevices {
			clear(s.of)
		}
		l = rate.NewLimiter(rate.Limit(float64(s.model)/again.Seconds()), models*s.model)
		s.of[id] = l
	}
	return l.AllowN(time.Now(), bytes)
}
