package uploads

import (
	"testing"

	"github.com/zofl/zofl/wire"
)

// piece returns a piece of a vector of 100,000 bytes.
func piece(owner byte, offset, length int) *wire.Upload {
	return &wire.Upload{Digest: [wire.ObjectLen]byte{owner}, Weight: 1, Size: 100_000,
		Offset: uint64(offset), Data: make([]byte, length)}
}

// A device that cannot finish by the deadline loses its memory to a device that asks for it, and
// does not get memory again while others wait. A device that can finish keeps its memory.
func TestSlowUploadLosesItsPlace(t *testing.T) {
	s := New(150_000)
	s.By = 8000
	expect := func(id byte, offset, length int, now uint64, want wire.UploadState) {
		t.Helper()
		whole, answer := s.Add(string(id), piece(id, offset, length), now)
		if whole != nil {
			answer.State = wire.UploadTaken
		}
		if answer.State != want {
			t.Errorf("at %d: %c's piece: %+v, want %v", now, id, answer, want)
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	expect('s', 0, 2000, 0, wire.UploadMore)
	expect('h', 0, 50_000, 999, wire.UploadBusy) // too early to judge
	expect('h', 0, 50_000, 1000, wire.UploadMore)
	expect('s', 2000, 2000, 1001, wire.UploadBusy)
	expect('i', 0, 50_000, 3000, wire.UploadBusy) // h is on its way
	expect('h', 50_000, 50_000, 3500, wire.UploadTaken)
	expect('s', 0, 2000, 3501, wire.UploadBusy) // i waits
	expect('i', 0, 50_000, 3600, wire.UploadMore)
	expect('i', 50_000, 50_000, 3700, wire.UploadTaken)
	expect('s', 0, 2000, 5999, wire.UploadBusy)
	expect('s', 0, 2000, 6000, wire.UploadMore) // nobody has waited for a while
	expect('j', 0, 2000, 6200, wire.UploadBusy)
	expect('j', 0, 2000, 6250, wire.UploadMore)
	if s.Evicted != 2 {
		t.Errorf("%d lost their places, want 2", s.Evicted)
	}
	s.Reset()
	s.By = 20_000
	expect('s', 0, 2000, 10_000, wire.UploadMore) // another round
	expect('h', 0, 2000, 25_000, wire.UploadMore) // after the deadline, s is idle
}
