package link

import (
	"errors"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// Brokers in a row drop, in silence, what is longer than one of them takes. This device knows the
// limit of its own broker only. So a request that gets no answer twice, while announcements come,
// is made again for a shorter one.
const (
	silences = 2   // requests in a row without an answer, before the next asks for less
	shorter  = 4   // it asks for one part in so many
	longAway = 256 // after so many answers in a row a device asks for more again
)

// A room is how much shorter answers this device asks for than its own broker takes.
type room struct {
	divisor uint64 // 0 is 1
	silent  int    // requests in a row without an answer
	answers int    // in a row
}

// unanswered notes that an answer did not come.
func (r *room) unanswered() {
	r.answers = 0
	if r.silent++; r.silent == silences {
		r.silent, r.divisor = 0, min(max(r.divisor, 1)*shorter, wire.MaxFrame/wire.LeastRoom)
	}
}

// answered notes that an answer came.
func (r *room) answered() {
	r.silent = 0
	if r.divisor <= 1 {
		return
	}
	if r.answers++; r.answers == longAway {
		r.answers, r.divisor = 0, r.divisor/shorter
	}
}

// Room returns how many bytes of at most most an answer may have, or a piece that this device
// sends: what its broker takes, or less where such an answer did not come.
func (l *Link) Room(most uint64) uint64 {
	here := wire.Room(bus.MaxPayload(l.bus), most)
	return max(here/max(l.room.divisor, 1), min(here, wire.LeastRoom))
}

// long notes the outcome of a request that may be long, or whose answer may, and returns it. A
// coordinator that announces nothing is away, whatever the length of its answers.
func (l *Link) long(answer []byte, err error) ([]byte, error) {
	switch {
	case err == nil:
		l.room.answered()
	case errors.Is(err, errNoAnswer) && time.Since(l.heard()) < l.timeout+l.interval():
		l.room.unanswered()
	}
	return answer, err
}
