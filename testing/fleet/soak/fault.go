package soak

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A fault is a disturbance of a party.
type fault struct {
	name   string
	weight int
	most   time.Duration // the fault lasts from 0 to this time
	// begin begins the fault and returns a function that undoes the fault. One goroutine calls both.
	begin func(s *soak, d *device, rng *rand.Rand) (undo func() error, err error)
	whole bool // the fault concerns the coordinator or the server, not a device
}

var faults = []fault{
	{name: "leave", weight: 12, most: 4 * time.Second, begin: leave},
	{name: "crash", weight: 12, most: 4 * time.Second, begin: crash},
	{name: "fail", weight: 8, most: 3 * time.Second, begin: moody(fails)},
	{name: "nan", weight: 5, most: 2 * time.Second, begin: moody(notANumber)},
	{name: "hang", weight: 8, most: 5 * time.Second, begin: moody(hangs)},
	{name: "slow", weight: 8, most: 5 * time.Second, begin: moody(slow)},
	{name: "refuse", weight: 8, most: 3 * time.Second, begin: moody(refuses)},
	{name: "cut", weight: 12, begin: cut},
	{name: "freeze", weight: 10, most: 4 * time.Second, begin: freeze},
	{name: "lead", weight: 2, most: time.Second, begin: restart, whole: true},
	{name: "lead-cut", weight: 1, begin: leadCut, whole: true},
	{name: "lead-freeze", weight: 1, most: 3 * time.Second, begin: leadFreeze, whole: true},
	{name: "server", weight: 1, most: 2 * time.Second, begin: serverAway, whole: true},
}

func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most)))
}

func nothing() error { return nil }

func leave(_ *soak, d *device, _ *rand.Rand) (func() error, error) { return d.start, d.stop() }

func crash(_ *soak, d *device, rng *rand.Rand) (func() error, error) {
	err := d.crash()
	if err == nil && rng.IntN(4) == 0 {
		err = d.lose()
	}
	return d.start, err
}

func moody(kind moodKind) func(*soak, *device, *rand.Rand) (func() error, error) {
	return func(_ *soak, d *device, rng *rand.Rand) (func() error, error) {
		m := &mood{kind, upTo(rng, 2*deadline), make(chan struct{})}
		d.mood.Store(m)
		return func() error {
			d.mood.Store(nil)
			close(m.freed)
			return nil
		}, nil
	}
}

func cut(_ *soak, d *device, _ *rand.Rand) (func() error, error) {
	d.proxy.Break()
	return nothing, nil
}

func freeze(_ *soak, d *device, _ *rand.Rand) (func() error, error) {
	d.proxy.Freeze()
	return func() error { d.proxy.Heal(); return nil }, nil
}

func restart(s *soak, _ *device, _ *rand.Rand) (func() error, error) {
	return s.lead.start, s.lead.stop()
}

func leadCut(s *soak, _ *device, _ *rand.Rand) (func() error, error) {
	s.lead.proxy.Break()
	return nothing, nil
}

func leadFreeze(s *soak, _ *device, _ *rand.Rand) (func() error, error) {
	s.lead.proxy.Freeze()
	return func() error { s.lead.proxy.Heal(); return nil }, nil
}

func serverAway(s *soak, _ *device, _ *rand.Rand) (func() error, error) {
	s.server.stop()
	return s.server.start, nil
}

// chaos is the set of current faults. The goroutine of the soak owns chaos.
type chaos struct {
	rng     *rand.Rand
	counts  map[string]int
	healing chan struct{} // closed: undo all faults
	going   sync.WaitGroup

	mu      sync.Mutex // guards what follows
	devices map[*device]bool
	whole   bool // a fault of the coordinator or the server is under way
}

func newChaos(seed uint64) *chaos {
	return &chaos{rng: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{},
		healing: make(chan struct{}), devices: map[*device]bool{}}
}

// draw draws a fault; faults have weights.
func (c *chaos) draw() *fault {
	sum := 0
	for _, f := range faults {
		sum += f.weight
	}
	at := c.rng.IntN(sum)
	for i := range faults {
		if at -= faults[i].weight; at < 0 {
			return &faults[i]
		}
	}
	panic("soak: internal error: no fault drawn")
}

// disturb begins a fault, unless the fault's party has a fault already, or half of the devices have
// one.
func (c *chaos) disturb(s *soak) {
	f, d := c.draw(), s.devices[c.rng.IntN(len(s.devices))]
	seed := c.rng.Uint64()
	if !c.take(f, d, len(s.devices)/2) {
		return
	}
	c.counts[f.name]++
	healing := c.healing
	c.going.Go(func() {
		defer c.give(f, d)
		rng := rand.New(rand.NewPCG(seed, 1))
		undo, err := f.begin(s, d, rng)
		if err != nil {
			s.violate(f.name, err)
		}
		if f.most > 0 {
			last := time.NewTimer(upTo(rng, f.most))
			defer last.Stop()
			select {
			case <-last.C:
			case <-healing:
			}
		}
		if err := undo(); err != nil {
			s.violate(f.name, err)
		}
	})
}

func (c *chaos) take(f *fault, d *device, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.whole {
		ok := !c.whole
		c.whole = true
		return ok
	}
	if c.devices[d] || len(c.devices) >= most {
		return false
	}
	c.devices[d] = true
	return true
}

func (c *chaos) give(f *fault, d *device) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.whole {
		c.whole = false
	} else {
		delete(c.devices, d)
	}
}

// heal ends all faults.
func (c *chaos) heal() {
	close(c.healing)
	c.going.Wait()
	c.healing = make(chan struct{})
}
