package client

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/zofl/zofl/wire"
)

// FuzzVariatesFile: a file that is read is written to the same bytes; the fuzzer is
// spared the checksum.
func FuzzVariatesFile(f *testing.F) {
	c := &Client{cfg: Config{Run: "r", ID: "d0"}}
	body := func(list ...variate) []byte {
		b := c.variatesFile(list)
		return b[len(c.variatesHead()) : len(b)-sha256.Size]
	}
	a, b := variate{n: 9, hash: wire.Hash{1}, scalars: wire.Scalars{1, 2, 3, 4}}, variate{n: 3}
	f.Add(body())
	f.Add(body(a, b))
	f.Add(body(b, a))
	f.Add(body(a, b)[:30])
	f.Fuzz(func(t *testing.T, body []byte) {
		file := append(c.variatesHead(), body...)
		sum := sha256.Sum256(file)
		file = append(file, sum[:]...)
		list, err := c.parseVariates(bytes.Clone(file))
		if err == nil && !bytes.Equal(c.variatesFile(list), file) {
			t.Errorf("%x is read as %v", file, list)
		}
		for i := 1; i < len(list); i++ {
			if list[i-1].n <= list[i].n {
				t.Errorf("records %d and %d are not newest first", list[i-1].n, list[i].n)
			}
		}
	})
}
