package compact_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// TestBrokenFrames: no proper prefix of a frame is a frame, and decoding a short frame that claims
// large sizes allocates little.
func TestBrokenFrames(t *testing.T) {
	for _, e := range examples() {
		frame, _ := encode(t, &e)
		for n := 2; n < len(frame); n++ {
			a, err := compact.Decode(frame[:n])
			if err == nil {
				_, err = a.Record(prev)
			}
			var fault *wire.DecodeError
			if !errors.As(err, &fault) {
				t.Errorf("%s: the first %d bytes: %v", e.name, n, err)
			}
		}
		if _, err := compact.Decode(append(frame, make([]byte, wire.MaxFrame)...)); !errors.Is(err,
			wire.ErrLimit) {
			t.Errorf("%s: a long frame: %v", e.name, err)
		}
	}
	for _, text := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if a, err := compact.Decode(text); err == nil {
			a.Record(prev)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(100*len(text)+4096) {
			t.Errorf("%x...: %d bytes allocate %d", text[:24], len(text), got)
		}
	}
}

// hostile returns frames that claim the largest possible sizes.
func hostile() [][]byte {
	head := []byte{0x91, compact.Version, 0, 9, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8}
	return [][]byte{
		append(bytes.Clone(head), 0, 1, 0xff, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		append(append(bytes.Clone(head), 0, 1, 0xff, 0x1f), make([]byte, 8000)...),
		append(append(bytes.Clone(head), 0, 1, 1), bytes.Repeat([]byte{0xff}, 60000)...),
		append(append(bytes.Clone(head), 0x60, 1, 1, 0, 1, 7, 0xff, 0x1f), make([]byte, 90)...),
	}
}

func Fuzz(f *testing.F) {
	for _, e := range examples() {
		frame, _ := encode(f, &e)
		f.Add(frame)
	}
	for _, frame := range hostile() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := compact.Decode(b)
		var fault *wire.DecodeError
		if err != nil {
			if !errors.As(err, &fault) {
				t.Errorf("%x: got error of type %T", b, err)
			}
			return
		}
		if !a.Compact() {
			return
		}
		r, err := a.Read()
		if err != nil {
			if !errors.As(err, &fault) {
				t.Errorf("%x: got error of type %T", b, err)
			}
			return
		}
		r.Prev = prev
		record := r.Append(nil)
		if _, err := wire.DecodeRecord(record); err != nil {
			return // its tip would be the tip of no record
		}
		again, ok := compact.Append(nil, &a.Announcement, record)
		copy(again[tipAt(&a):], a.Tip[:])
		if !ok || !bytes.Equal(again, b) {
			t.Errorf("re-encoded\ngot  %x\nwant %x", again, b)
		}
	})
}

// tipAt returns the offset at which a frame's tip begins, behind the numbers.
func tipAt(a *compact.Announcement) int {
	bytes := func(v uint64) (n int) {
		for n = 1; v > 127; n++ {
			v >>= 7
		}
		return n
	}
	at := 3 + bytes(a.N) + bytes(a.Epoch) + bytes(a.Left) + bytes(a.Cohort.Sampled) +
		bytes(uint64(a.Cohort.Members)) + 4 + bytes(uint64(a.Perturbations))
	if a.Attempt > 0 {
		at += bytes(uint64(a.Attempt))
	}
	return at
}
