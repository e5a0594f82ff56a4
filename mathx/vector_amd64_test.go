//go:build !purego

package mathx

import (
	"testing"

	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/internal/isa/isatest"
)

// TestWhole fails if a level with assembly falls back to Go code.
func TestWhole(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		for n := range 40 {
			want := n / 8 * 8
			if isa.Current() == isa.Generic {
				want = 0
			}
			if got := whole(n); got != want {
				t.Errorf("%d of %d elements by assembly, want %d", got, n, want)
			}
		}
	})
}
