package simulation

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seeds = flag.Uint64("seeds", defaultSeeds, "how many seeds TestSeeds runs")
	first = flag.Uint64("first", 1, "the first seed of TestSeeds")
	one   = flag.Uint64("seed", 1, "the seed of TestSeed")
	only  = flag.String("only", "", "the only kinds of faults that seeds have, and often; with commas")
)

// simulate runs a seed, and writes its transcript to out unless that is nil.
func simulate(t *testing.T, seed uint64, out io.Writer) (counts map[string]int, found *finding) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			found = &finding{seed, -1, "everything ends", fmt.Sprint(r)}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(seed, *only, out)
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			return
		}
		w.run()
		counts, found = w.counts, w.finding
	})
	return counts, found
}

// TestSeed prints the transcript of one seed.
func TestSeed(t *testing.T) {
	var transcript bytes.Buffer
	_, found := simulate(t, *one, &transcript)
	t.Logf("\n%s", transcript.Bytes())
	if found != nil {
		t.Error(found)
	}
}

// TestSeeds runs seeds on all cores until the first finding, and prints its transcript.
func TestSeeds(t *testing.T) {
	s := search{counts: map[string]int{}, began: time.Now()}
	s.next.Store(*first)
	t.Run("workers", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				s.work(t)
			})
		}
	})
	t.Logf("%d seeds in %v", s.done, time.Since(s.began).Round(time.Millisecond))
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		t.Logf("%9d %s", s.counts[what], what)
	}
	if s.found == nil {
		if s.done >= defaultSeeds && *only == "" {
			s.covers(t)
		}
		return
	}
	var transcript bytes.Buffer
	_, again := simulate(t, s.found.seed, &transcript)
	t.Logf("\n%s", transcript.Bytes())
	t.Errorf("%v\nagain: go -C testing test ./fleet/simulation -run 'TestSeed$' -v -seed %d -only %q",
		s.found, s.found.seed, *only)
	if again == nil || *again != *s.found {
		t.Errorf("the same seed had another result: %v", again)
	}
}

// small is n, or with -short an eighth of it.
func small(n uint64) uint64 {
	if testing.Short() {
		return (n + 7) / 8
	}
	return n
}

// A search runs seeds and stops at the first finding.
type search struct {
	began time.Time
	next  atomic.Uint64
	over  atomic.Bool

	mu     sync.Mutex // guards what follows
	done   uint64
	counts map[string]int
	found  *finding
}

func (s *search) work(t *testing.T) {
	for !s.over.Load() {
		seed := s.next.Add(1) - 1
		if seed-*first >= small(*seeds) {
			return
		}
		counts, found := simulate(t, seed, nil)
		s.mu.Lock()
		s.done++
		for what, n := range counts {
			s.counts[what] += n
		}
		if found != nil && s.found == nil {
			s.found = found
			s.over.Store(true)
		}
		if s.done%10_000 == 0 {
			t.Logf("%d seeds in %v", s.done, time.Since(s.began).Round(time.Second))
		}
		s.mu.Unlock()
	}
}

// TestSameSeedSameTranscript checks that the simulator is deterministic.
func TestSameSeedSameTranscript(t *testing.T) {
	for seed := range small(repeatedSeeds) {
		var before [32]byte
		var text []byte
		for round := range 2 {
			var transcript bytes.Buffer
			simulate(t, seed, &transcript)
			sum := sha256.Sum256(transcript.Bytes())
			if round == 0 {
				before, text = sum, transcript.Bytes()
				continue
			}
			if sum != before {
				t.Fatalf("seed %d differs:\n%s", seed, difference(text, transcript.Bytes()))
			}
		}
	}
}

// difference shows where two transcripts diverge.
func difference(a, b []byte) string {
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(as), len(bs)) {
		if !bytes.Equal(as[i], bs[i]) {
			from := max(0, i-12)
			return fmt.Sprintf("%s\n---- or ----\n%s", bytes.Join(as[from:min(i+4, len(as))], []byte("\n")),
				bytes.Join(bs[i:min(i+4, len(bs))], []byte("\n")))
		}
	}
	return fmt.Sprintf("one has %d lines, the other %d", len(as), len(bs))
}
