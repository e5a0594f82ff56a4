package probe

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// Load refuses a stored control variate of the wrong length.
func TestForeignControl(t *testing.T) {
	p := densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-2")...)
	c := newRig(t, p, newSlopes(5, 0, 1)).clients[0]
	c.Prepare(c.replica)
	for _, v := range [][]float32{nil, make([]float32, 4), make([]float32, 5), make([]float32, 6)} {
		var b bytes.Buffer
		put(&b, uint64(3), v)
		err := c.memory.Load(&b, int64(b.Len()), p)
		if good := len(v) == 5; good != (err == nil) || !good && !errors.Is(err, ErrMemory) {
			t.Errorf("%d elements: got %v", len(v), err)
		}
	}
}

// A failed read leaves the memory unchanged.
func TestLoadFails(t *testing.T) {
	p := smallFZooS(t, 5, "")
	r := newRig(t, p, newSlopes(5, 0, 1))
	r.round()
	r.round()
	file, fault := r.saved(r.clients[0]), errors.New("no medium")
	for cut := range []int{0, 10, trajectoryHead, len(file) / 2, len(file) - 1} {
		c := r.client(0, newSlopes(5, 0, 1))
		c.Prepare(c.replica)
		from := io.MultiReader(bytes.NewReader(file[:cut]), broken{fault})
		if err := c.memory.Load(from, int64(len(file)), p); !errors.Is(err, fault) {
			t.Errorf("cut at %d: got %v, want %v", cut, err, fault)
		}
		if c.memory.own.n != 0 || len(c.memory.trajectory.stored.y) != 0 {
			t.Errorf("cut at %d: something was loaded", cut)
		}
	}
}

// Load also refuses a number of points whose length in bytes overflows.
func TestTrajectoryOverflow(t *testing.T) {
	p := *smallFZooS(t, 5, "")
	p.Dim = 1<<40 - 2 // a point has 2^42 bytes
	var b bytes.Buffer
	put(&b, uint64(0), uint32(0), uint32(1<<22))
	if _, _, err := readTrajectory(&b, int64(b.Len()), &p); !errors.Is(err, ErrMemory) {
		t.Errorf("got %v", err)
	}
}

// FuzzMemoryFile: Save writes a loaded memory as the same bytes, and a memory that Load refuses
// changes nothing.
func FuzzMemoryFile(f *testing.F) {
	surrogate := smallFZooS(f, 5, "")
	variate := densePlan(f, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-2")...)
	for _, points := range []uint32{0, 2} {
		var b bytes.Buffer
		put(&b, uint64(0), uint32(0), points, make([]float32, points*(5+2)))
		f.Add(b.Bytes(), true)
	}
	f.Add(make([]byte, 8+4*5), false)
	f.Add([]byte{1}, false)
	f.Fuzz(func(t *testing.T, content []byte, points bool) {
		p := variate
		if points {
			p = surrogate
		}
		c := newRig(t, p, newSlopes(5, 0, 1)).clients[0]
		c.Prepare(c.replica)
		var before, after bytes.Buffer
		c.memory.Save(&before)
		err := c.memory.Load(bytes.NewReader(content), int64(len(content)), p)
		c.memory.Save(&after)
		switch {
		case err != nil && !bytes.Equal(before.Bytes(), after.Bytes()):
			t.Errorf("%v, but the memory changed", err)
		case err == nil && !bytes.Equal(after.Bytes(), content):
			t.Errorf("%x is written as %x", content, after.Bytes())
		}
	})
}

// broken is a file that fails to read.
type broken struct{ fault error }

func (b broken) Read([]byte) (int, error) { return 0, b.fault }

// Load refuses a file with a valid checksum and wrong lengths, and allocates no memory for it.
func TestTrajectoryLengths(t *testing.T) {
	const d, head = 5, 16
	p := smallFZooS(t, d, "")
	for _, tt := range []struct {
		name            string
		n               uint64
		weights, points uint32
		rest            int
		good            bool
	}{
		{"nothing yet", 0, 0, 0, 0, true},
		{"points", 0, 0, 2, 2 * (4*d + 8), true},
		{"points and w_i", 3, p.Features, 1, 4*int(p.Features) + 4*d + 8, true},
		{"no w_i", 3, 0, 1, 4*d + 8, false},
		{"another M", 3, 7, 1, 4*7 + 4*d + 8, false},
		{"w_i of no record", 0, p.Features, 1, 4*int(p.Features) + 4*d + 8, false},
		{"points that are not there", 0, 0, math.MaxUint32, 0, false},
		{"one byte more", 0, 0, 1, 4*d + 9, false},
		{"half a head", 0, 0, 0, -8, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			put(&b, tt.n, tt.weights, tt.points)
			b.Write(make([]byte, max(0, tt.rest)))
			b.Truncate(head + tt.rest)
			own, kept, err := readTrajectory(&b, int64(head+tt.rest), p)
			if tt.good != (err == nil) || err != nil && !errors.Is(err, ErrMemory) {
				t.Fatalf("got %v", err)
			}
			if err == nil && (own.n != tt.n || len(kept.y) != int(tt.points)) {
				t.Errorf("got w_i of %d and %d points", own.n, len(kept.y))
			}
		})
	}
}
