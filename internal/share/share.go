// Package share bounds how many bytes a device draws from whoever answers its requests: a few
// copies of what there is, such as the log or a model, at once, and then one an hour. A device that
// asks for the same bytes again and again so costs no more than that, however small its requests.
package share

import "time"

const (
	// atOnce is how many copies a device may draw at once: it may start over, or lose answers.
	atOnce = 4
	// again is after how long a device may draw one more copy.
	again = time.Hour
	// news is how often a device may draw what was added.
	news = 2
	// Each device may draw leastAtOnce bytes at once, and leastRate bytes a second, however little
	// there is to draw.
	leastAtOnce = 16 << 20
	leastRate   = 64 << 10
	// least is what a short answer counts: it costs more than its bytes.
	least = 256
	// mostDevices bounds how many devices Shares remember.
	mostDevices = 1 << 16
)

// Shares are what the devices have drawn. The zero Shares are of nothing: devices have the least
// share. One goroutine at a time may use Shares.
type Shares struct {
	// Times multiplies what one name may draw, if many devices draw under the name; 0 is 1.
	Times int

	whole, added float64
	of           map[string]*drawn
}

// drawn is what one device has drawn and not got back yet.
type drawn struct {
	bytes, added float64
	at, told     time.Time
}

// Has says how many bytes there are to draw now. If these are more than before, each device may
// draw the rest in addition.
func (s *Shares) Has(bytes int64) {
	s.added += max(0, float64(bytes)-s.whole)
	s.whole = float64(bytes)
}

// Add says that so many bytes are new, whatever they replaced.
func (s *Shares) Add(bytes int64) { s.added += float64(bytes) }

// Left says whether a device may draw more. tell says that this is the first refusal within an
// hour.
func (s *Shares) Left(name string) (left, tell bool) {
	d := s.of[name]
	if d == nil {
		return true, false
	}
	now := time.Now()
	if s.settle(d, now); d.bytes < s.most() {
		return true, false
	}
	tell = d.told.IsZero() || now.Sub(d.told) >= again
	if tell {
		d.told = now
	}
	return false, tell
}

// Draw notes that a device got an answer of some bytes.
func (s *Shares) Draw(name string, bytes int) {
	now, d := time.Now(), s.of[name]
	if d == nil {
		s.makeRoom(now)
		d = &drawn{at: now, added: s.added}
		s.of[name] = d
	}
	s.settle(d, now)
	d.bytes += float64(max(bytes, least))
}

func (s *Shares) times() float64 { return float64(max(s.Times, 1)) }

// most is how many bytes a device may have drawn.
func (s *Shares) most() float64 { return s.times() * max(leastAtOnce, atOnce*s.whole) }

// settle gives a device back what it may draw since its last request.
func (s *Shares) settle(d *drawn, now time.Time) {
	rate := max(leastRate, s.whole/again.Seconds())
	back := rate*now.Sub(d.at).Seconds() + news*(s.added-d.added)
	d.bytes, d.at, d.added = max(0, d.bytes-s.times()*back), now, s.added
}

// makeRoom forgets the devices that have all of their share again, if there are too many, and all
// devices if that does not help.
func (s *Shares) makeRoom(now time.Time) {
	if len(s.of) >= mostDevices {
		for name, d := range s.of {
			if s.settle(d, now); d.bytes == 0 {
				delete(s.of, name)
			}
		}
	}
	if s.of == nil || len(s.of) >= mostDevices {
		s.of = map[string]*drawn{}
	}
}
