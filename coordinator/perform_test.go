package coordinator

import (
	"testing"
	"time"
)

// Storing a vector may take a second longer for each MiB than storing a record.
func TestLimitOfVectors(t *testing.T) {
	c := &Coordinator{cfg: Config{AppendTimeout: time.Minute}}
	began := time.Now()
	for _, size := range []int{0, 1 << 20, 64 << 20} {
		ctx, cancel := c.limitOf(t.Context(), size)
		until, _ := ctx.Deadline()
		cancel()
		want := time.Minute + time.Duration(size>>20)*time.Second
		if got := until.Sub(began); got < want || got > want+20*time.Second {
			t.Errorf("%d bytes: %v, want %v", size, got, want)
		}
	}
}
