package kernelbench

import (
	"sync"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
)

// elementTraffic is how many bytes memory transfers when a program reads and writes one float32.
const elementTraffic = 8

// bandwidth measures two kinds of passes over an array larger than the caches: one with almost no
// arithmetic, and x += a*z.
func bandwidth(s *stage, r *Result, bytes int) error {
	x := make([]float32, max(bytes/4, 1))
	over := func(workers int, pass func(x []float32, block uint32)) task {
		return task{float64(len(x)), func() error { split(x, workers, pass); return nil }}
	}
	tasks := []task{over(1, touch), over(1, add), over(r.Workers, touch), over(r.Workers, add)}
	split(x, r.Workers, add) // without measuring: it makes the system map the pages
	all, err := s.interleave(nil, tasks...)
	if err != nil {
		return err
	}
	r.BandwidthArray, r.BandwidthUnit = 4*len(x), "bytes/s, read and written"
	r.Bandwidth, r.BandwidthN = elementTraffic*all.speed(0), elementTraffic*all.speed(2)
	r.BandwidthShare, r.BandwidthShareN = all.ratio(1, 0), all.ratio(3, 2)
	return nil
}

// ramp is the vector that touch adds. It fits in the first-level cache.
var ramp = func() (v [prng.BlockLen]float32) {
	for i := range v {
		v[i] = float32(i) / prng.BlockLen
	}
	return v
}()

// touch reads and writes all of x with as little arithmetic as possible.
func touch(x []float32, _ uint32) {
	for len(x) > 0 {
		n := min(len(x), len(ramp))
		mathx.Axpy(x[:n], 1e-3, ramp[:n])
		x = x[n:]
	}
}

// add computes x += a*z.
func add(x []float32, block uint32) {
	prng.Axpy(x, 1e-3, prng.Direction{Key: 1, Dist: prng.Normal}, block)
}

// split divides x into parts, and runs pass on each part in its own goroutine. pass also gets the
// number of the part's first block.
func split(x []float32, workers int, pass func(x []float32, block uint32)) {
	blocks := (len(x) + prng.BlockLen - 1) / prng.BlockLen
	each := (blocks + workers - 1) / workers
	var group sync.WaitGroup
	for first := 0; first < blocks; first += each {
		part := x[first*prng.BlockLen : min((first+each)*prng.BlockLen, len(x))]
		group.Go(func() { pass(part, uint32(first)) })
	}
	group.Wait()
}
