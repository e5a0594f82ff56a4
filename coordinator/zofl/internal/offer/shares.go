package offer

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// models is how many times a device may fetch the whole model at once. A device may start again,
	// or lose pieces.
	models = 4
	// again is after how long a device may fetch the whole model once more.
	again = time.Hour
	// mostDevices bounds how many devices' shares the coordinator remembers.
	mostDevices = 1 << 16
)

// shares bound how much each device may fetch, so that a device that asks for pieces forever does
// not use up the coordinator's bandwidth. Only one goroutine may use shares.
type shares struct {
	model int // bytes of the model, at least 1
	of    map[string]*rate.Limiter
}

func newShares(model int64) *shares {
	return &shares{model: int(max(model, 1)), of: map[string]*rate.Limiter{}}
}

// take says whether a device may have another piece of the given number of bytes.
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
