//go:build linux || darwin

package lowrank

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
	"github.com/zofl/zofl/prng"
)

// TestPadding: kernels read no byte after the padding of the last group, where memory may end.
func TestPadding(t *testing.T) {
	size := os.Getpagesize()
	pages, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(pages)
	if err := syscall.Mprotect(pages[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	isatest.Each(t, func(t *testing.T) {
		r, z := rand.New(rand.NewPCG(5, 6)), make([]prng.Direction, 11)
		a := make([]float32, len(z))
		for k := range z {
			z[k].Key, a[k] = prng.Key(r.Uint64()), 1
		}
		var s Signs
		var sums Sums
		sums.Set(a)
		for columns := 2; columns < 80; columns++ {
			l := New([]Shape{{Rows: 27, Columns: columns}}) // enough rows for strips
			l.Reset(&s, len(z))
			s.bytes = pages[size-len(s.bytes) : size : size]
			l.Load(&s, z)
			x := make([]float32, l.Len())
			l.Sum(x, 0, &s, &sums)
			l.Sum(x[columns-1:], columns-1, &s, &sums)
		}
	})
}
