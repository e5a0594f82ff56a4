package link

import (
	"errors"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// If a message passes through several brokers, each of them drops, without an error, a message that
// is longer than the broker's limit. This device knows only the limit of its own broker. So if a
// request gets no answer twice, while announcements come, the device asks for a shorter answer.
const (
	silences = 2   // requests in a row without an answer, before the device asks for less
	shorter  = 4   // the device divides the length by this number
	longAway = 256 // after so many answers in a row, the device asks for more again
)

// A room says how much shorter the answers are for which this device asks than its own broker
// allows.
type room struct {
	divisor uint64 // of the length; 0 is 1
	silent  int    // requests in a row without an answer
	answers int    // answers in a row
}

// unanswered notes that the device got no answer to a request.
func (r *room) unanswered() {
	r.answers = 0
	if r.silent++; r.silent == silences {
		r.silent, r.divisor = 0, min(max(r.divisor, 1)*shorter, wire.MaxFrame/wire.LeastRoom)
	}
}

// answered notes that the device got an answer.
func (r *room) answered() {
	r.silent = 0
	if r.divisor <= 1 {
		return
	}
	if r.answers++; r.answers == longAway {
		r.answers, r.divisor = 0, r.divisor/shorter
	}
}

// Room returns how many bytes of at most most an answer, or a piece that this device sends, may
// have. The bound is the limit of the device's broker, or less if such long answers did not come.
func (l *Link) Room(most uint64) uint64 {
	return wire.ShorterRoom(bus.MaxPayload(l.bus), most, l.room.divisor)
}

// long notes the outcome of a request that may be long, or may have a long answer, and returns the
// outcome. long does not count a missing answer if no announcement came, either: then the
// coordinator is away, and the length of answers is not the cause.
func (l *Link) long(answer []byte, err error) ([]byte, error) {
	switch {
	case err == nil:
		l.room.answered()
	case errors.Is(err, errNoAnswer) && time.Since(l.heard()) < l.timeout+l.interval():
		l.room.unanswered()
	}
	return answer, err
}
