package packed

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/replica/internal/digest"
)

// A Reader reads all values that were appended, and becomes Short for every proper prefix of the
// bytes.
func TestRoundTrip(t *testing.T) {
	words := []uint64{1, 1 << 63, 7}
	b := AppendBytes(nil, []byte("model"))
	b = AppendBytes(b, nil)
	b = digest.AppendWords(b, words)
	b = digest.AppendWords(b, nil)
	b = binary.LittleEndian.AppendUint64(b, 1<<40)
	for n := range len(b) + 1 {
		r := Reader{Left: b[:n]}
		first, second := bytes.Clone(r.Bytes(5)), r.Bytes(5)
		list, none, last := r.Words(), r.Words(), r.Uint64()
		if n < len(b) {
			if !r.Short {
				t.Errorf("%d bytes of %d are enough", n, len(b))
			}
			continue
		}
		if r.Short || len(r.Left) > 0 || string(first) != "model" || len(second) > 0 ||
			!slices.Equal(list, words) || none != nil || last != 1<<40 {
			t.Errorf("read %q, %q, %d, %d, %d; short %v, %d bytes left", first, second, list, none,
				last, r.Short, len(r.Left))
		}
	}
}

// For a number of elements that is too large, a Reader allocates nothing and becomes Short.
func TestTooMany(t *testing.T) {
	for _, n := range []uint32{2, 3, 1 << 29, 1<<32 - 1} {
		b := binary.LittleEndian.AppendUint32(nil, n)
		b = append(b, make([]byte, 15)...)
		for name, read := range map[string]func(*Reader){
			"words":    func(r *Reader) { r.Words() },
			"elements": func(r *Reader) { r.Count(1<<30, 8) },
			"more":     func(r *Reader) { r.Count(1, 1) },
			"bytes":    func(r *Reader) { r.Bytes(1) },
		} {
			var r Reader
			got := testing.AllocsPerRun(1, func() { r = Reader{Left: b}; read(&r) })
			if !r.Short || r.Uint64() != 0 || r.Uint32() != 0 || r.Take(0) != nil || got != 0 {
				t.Errorf("%d %s: short %v, %v allocations", n, name, r.Short, got)
			}
		}
	}
}
