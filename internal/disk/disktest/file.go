package disktest

import (
	"slices"

	"github.com/zofl/zofl/internal/disk"
)

// A change is a write, or a truncation to off bytes, since the last Sync.
type change struct {
	off      int64
	data     []byte
	truncate bool
	fate     fate
}

// fate says whether a change is on the disk.
type fate uint8

const (
	waits   fate = iota // for a Sync
	unknown             // a Sync failed: the change is stored or not, whatever later Syncs do
	stored              // by a Sync, but an earlier change has an unknown fate
)

func (c *change) end() int64 { return c.off + int64(len(c.data)) }

// apply returns b with the change applied.
func (c *change) apply(b []byte) []byte {
	if c.truncate {
		return resize(b, c.off)
	}
	if c.end() > int64(len(b)) {
		b = resize(b, c.end())
	}
	copy(b[c.off:], c.data)
	return b
}

// resize cuts b to size bytes, or appends zeros.
func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	n := len(b)
	b = slices.Grow(b, int(size)-n)[:size]
	clear(b[n:])
	return b
}

// A file has two contents: the bytes that programs read, and the bytes that the disk has.
//
// Invariant: data is durable with all changes applied.
type file struct {
	data    []byte
	durable []byte
	changes []change
	changed int64 // number of changes so far
}

func (f *file) clone() *file {
	return &file{slices.Clone(f.data), slices.Clone(f.durable), slices.Clone(f.changes), f.changed}
}

func (f *file) change(c change) {
	f.changed++
	f.data = c.apply(f.data)
	f.changes = append(f.changes, c)
}

// sync marks the waiting changes as stored.
func (f *file) sync() {
	for i := range f.changes {
		if f.changes[i].fate == waits {
			f.changes[i].fate = stored
		}
	}
	f.forget()
	for len(f.changes) > 0 && f.changes[0].fate == stored {
		f.durable = f.changes[0].apply(f.durable)
		f.changes = f.changes[1:]
	}
}

// syncFailed gives the waiting changes an unknown fate.
func (f *file) syncFailed() {
	for i := range f.changes {
		if f.changes[i].fate == waits {
			f.changes[i].fate = unknown
		}
	}
}

// forget drops changes of unknown fate that no longer matter.
func (f *file) forget() {
	var kept []change
	for i, c := range f.changes {
		over := func(later change) bool {
			if later.truncate {
				return later.fate == stored && later.off <= c.off
			}
			return later.fate == stored && !c.truncate && later.off <= c.off &&
				later.end() >= c.end()
		}
		if c.fate != unknown || !slices.ContainsFunc(f.changes[i+1:], over) {
			kept = append(kept, c)
		}
	}
	f.changes = kept
}

// settle decides which bytes of the file survive a power cut. The numbers of decisions and of their
// options do not depend on earlier decisions; option 0 keeps everything.
func (f *file) settle(pick func(options int) int) {
	if len(f.changes) == 0 {
		return
	}
	floor, top := f.ends()
	for _, c := range f.changes {
		switch {
		case c.fate == stored:
			f.durable = c.apply(f.durable)
		case !c.truncate:
			f.durable = settleWrite(f.durable, c, floor, pick)
		case pick(2) == 0:
			f.durable = c.apply(f.durable)
		}
	}
	if cuts := cutsBetween(floor, top); len(cuts) > 0 {
		if i := pick(1 + len(cuts)); i > 0 && cuts[i-1] < int64(len(f.durable)) {
			f.durable = f.durable[:cuts[i-1]]
		}
	}
	f.data, f.changes = slices.Clone(f.durable), nil
}

// ends returns the number of durable bytes and the largest possible length.
func (f *file) ends() (floor, top int64) {
	floor = int64(len(f.durable))
	for _, c := range f.changes {
		switch {
		case c.fate == stored && c.truncate:
			floor = c.off
		case c.fate == stored:
			floor = max(floor, c.end())
		}
		top = max(top, c.end())
	}
	return floor, top
}

// settleWrite applies the surviving sectors of a write.
func settleWrite(b []byte, c change, floor int64, pick func(int) int) []byte {
	for off := c.off; off < c.end(); {
		next := min(off-off%disk.Sector+disk.Sector, c.end())
		part := change{off: off, data: c.data[off-c.off : next-c.off]}
		options := 2
		if next > floor {
			options = 3
		}
		switch pick(options) {
		case 0:
			b = part.apply(b)
		case 2:
			zero := max(off, floor)
			part = change{off: zero, data: make([]byte, next-zero)}
			b = part.apply(b)
		}
		off = next
	}
	return b
}

// allCuts: if a file has at most this many bytes that are not durable, cutsBetween returns every
// possible end. If the file has more, cutsBetween returns only ends near the first or the last of
// these bytes, or at most a byte from the border of a sector.
const allCuts = 256

// cutsBetween returns the possible ends of a file with floor durable bytes, the shortest
// cut first.
func cutsBetween(floor, top int64) []int64 {
	var cuts []int64
	for at := top - 1; at >= floor; at-- {
		border := (at + 1) % disk.Sector
		if top-floor <= allCuts || at < floor+allCuts/8 || at >= top-allCuts/8 || border <= 2 {
			cuts = append(cuts, at)
		}
	}
	return cuts
}
