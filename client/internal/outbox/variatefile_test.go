package outbox

import (
	"bytes"
	"testing"

	"github.com/zofl/zofl/wire"
)

// FuzzVariatesFile checks that appendVariates writes a parsed file as the same bytes. The fuzzer
// need not make a head and a checksum.
func FuzzVariatesFile(f *testing.F) {
	body := func(list ...variate) []byte { return appendVariates(nil, list) }
	a, b := variate{n: 9, hash: wire.Hash{1}, scalars: wire.Scalars{1, 2, 3, 4}}, variate{n: 3}
	f.Add(body())
	f.Add(body(a, b))
	f.Add(body(b, a))
	f.Add(body(a, b)[:30])
	f.Fuzz(func(t *testing.T, held []byte) {
		list, err := parseVariates(bytes.Clone(held))
		if err == nil && !bytes.Equal(body(list...), held) {
			t.Errorf("%x is read as %v", held, list)
		}
		for i := 1; i < len(list); i++ {
			if list[i-1].n <= list[i].n {
				t.Errorf("records %d and %d are not newest first", list[i-1].n, list[i].n)
			}
		}
	})
}
