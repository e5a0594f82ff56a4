package catchup

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// An objectCounter counts how often vectors are read.
type objectCounter struct {
	runlog.Memory
	reads int
}

func (l *objectCounter) Object(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	l.reads++
	return l.Memory.Object(ctx, name)
}

// The cache holds the most recently requested vectors, as many as its size allows.
func TestObjectCache(t *testing.T) {
	log := &objectCounter{}
	var names []runlog.ObjectName
	for n := uint64(2); n < 6; n++ {
		data := chaintest.RandomVector(rand.New(rand.NewPCG(n, n)), 25)
		names = append(names, runlog.NameOf(n, 1, data))
		if err := log.PutObject(t.Context(), names[n-2], data); err != nil {
			t.Fatal(err)
		}
	}
	s := NewObjects(testConfig(bus.NewMemory()), log, 250, time.Minute,
		func([wire.ObjectLen]byte) (runlog.ObjectName, bool) { return runlog.ObjectName{}, true })
	for _, test := range []struct {
		at    int
		reads bool
	}{{0, true}, {0, false}, {1, true}, {0, false}, {2, true}, {0, false}, {1, true}, {2, true},
		{3, true}, {2, false}} {
		log.reads = 0
		if got, err := s.get(t.Context(), names[test.at]); err != nil ||
			wire.HashObject(got) != names[test.at].Digest {
			t.Fatalf("vector %d: %v", test.at, err)
		}
		if reads := log.reads > 0; reads != test.reads || s.size() > 250 {
			t.Errorf("vector %d was read: %t, want %t; %d bytes are held", test.at, reads,
				test.reads, s.size())
		}
	}
}
