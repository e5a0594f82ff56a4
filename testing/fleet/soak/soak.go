package soak

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

const (
	run      = "soak"
	dim      = 16
	deadline = time.Second          // of a round
	takes    = 5 * time.Millisecond // a loss of a healthy device
)

// Config configures a soak.
type Config struct {
	Devices int
	For     time.Duration
	Seed    uint64        // determines the faults; 0: no faults
	Stall   time.Duration // the longest time without a round; 0 is one minute
	Line    time.Duration // from one line of the table to the next; 0 is a minute
	Check   time.Duration // from one check to the next; 0 is three minutes
	Out     io.Writer     // for the table
}

// A soak is a fleet that suffers faults. The goroutine of Run owns the fields, except those with
// their own lock.
type soak struct {
	cfg     Config
	dir     string
	began   time.Time
	server  *server
	lead    *leader
	devices []*device
	chaos   *chaos
	proxies []*bustest.Proxy

	witness *replica.Replica // a replica that replays the log
	first   usage
	checks  int
	checked time.Duration // in checks

	mu    sync.Mutex // guards wrong
	wrong []error
}

// Run runs the fleet and returns all errors found.
func Run(cfg Config) error {
	s, err := newSoak(cfg)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if err := s.start(); err != nil {
		s.violate("start", err)
	} else {
		s.soak()
	}
	s.close()
	return errors.Join(s.faults()...)
}

func newSoak(cfg Config) (*soak, error) {
	cfg.Stall = cmp.Or(cfg.Stall, time.Minute)
	cfg.Line = cmp.Or(cfg.Line, time.Minute)
	cfg.Check = cmp.Or(cfg.Check, 3*time.Minute)
	dir, err := os.MkdirTemp("", "zofl-soak-")
	if err != nil {
		return nil, err
	}
	return &soak{cfg: cfg, dir: dir, began: time.Now(), chaos: newChaos(cfg.Seed),
		witness: replica.New(replica.Config{Run: run})}, nil
}

// planOf returns the plan of the run. Each round asks all devices. The round closes when half of
// the devices have replied, or at the deadline if a quarter have.
func planOf(devices int) (*plan.Plan, error) {
	p, err := preset.Unbound("decomfl", run, dim)
	if err != nil {
		return nil, err
	}
	n := uint32(devices)
	p.Members, p.Target, p.Quorum = n, max(1, n/2), max(1, n/4)
	p.OverSample = 2
	p.Steps, p.Perturbations, p.StepSize = 1, 2, 1e-3
	p.Deadline, p.Reannounce = uint32(deadline.Milliseconds()), 500
	p.MaxAttempts, p.DigestEvery = 1000, 16
	return p, nil
}

func (s *soak) start() error {
	p, err := planOf(s.cfg.Devices)
	if err != nil {
		return err
	}
	if s.server, err = startServer(); err != nil {
		return err
	}
	for range s.cfg.Devices + 1 {
		p, err := bustest.StartProxy(s.server.address)
		if err != nil {
			return err
		}
		s.proxies = append(s.proxies, p)
	}
	s.lead = &leader{dir: s.dir, plan: p, proxy: s.proxies[0],
		wrong: func(err error) { s.violate("run", err) }}
	s.lead.excuse()
	if err := s.lead.start(); err != nil {
		return err
	}
	for i, p := range s.proxies[1:] {
		id := fmt.Sprint("d", i)
		d := &device{id: id, index: i, dir: filepath.Join(s.dir, id), proxy: p,
			wrong: s.lead.wrong}
		if err := d.start(); err != nil {
			return err
		}
		s.devices = append(s.devices, d)
	}
	return s.until(func() error { return s.enough(20) })
}

// enough returns an error unless the given number of rounds is done.
func (s *soak) enough(rounds uint64) error {
	if n := s.lead.rounds.Load(); n < rounds {
		return fmt.Errorf("%d rounds in %v, want %d", n, s.cfg.Stall, rounds)
	}
	return nil
}

// soak disturbs the fleet between a first check and a last one.
func (s *soak) soak() {
	s.head()
	s.check()
	s.watch()
	s.check(s.verify)
	s.line()
}

// watch disturbs the fleet until the time is up, or until an error is found.
func (s *soak) watch() {
	now := time.Now()
	end, line, check := now.Add(s.cfg.For), now.Add(s.cfg.Line), now.Add(s.cfg.Check)
	for now.Before(end) && len(s.faults()) == 0 {
		if s.cfg.Seed != 0 {
			s.chaos.disturb(s)
		}
		time.Sleep(20*time.Millisecond + upTo(s.chaos.rng, 150*time.Millisecond))
		if stalled := s.lead.stalled(); stalled > s.cfg.Stall {
			s.violate("stall", fmt.Errorf("no round for %v: %+v", stalled, s.lead.c.Load().Status()))
		}
		now = time.Now()
		if now.After(check) {
			s.check()
			check = now.Add(s.cfg.Check)
		}
		if now.After(line) {
			s.line()
			line = now.Add(s.cfg.Line)
		}
	}
}

// close stops all parties.
func (s *soak) close() {
	for _, d := range s.devices {
		if err := d.stop(); err != nil {
			s.violate(d.id, err)
		}
	}
	if s.lead != nil && s.lead.cancel != nil {
		if err := s.lead.stop(); err != nil {
			s.violate("coordinator", err)
		}
	}
	for _, p := range s.proxies {
		p.Close()
	}
	if s.server != nil {
		s.server.stop()
	}
}

func (s *soak) violate(where string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Errorf("%s: %w", where, err))
}

func (s *soak) faults() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wrong)
}

func (s *soak) head() {
	fmt.Fprintf(s.cfg.Out, "%9s %8s %8s %8s %10s %6s %8s %7s %s\n", "time", "rounds", "rounds/s",
		"longest", "goroutines", "files", "heap MiB", "checks", "faults")
}

// line prints a line of the table. The heap in that line may include garbage, because line runs no
// collection.
func (s *soak) line() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	passed, rounds := time.Since(s.began), s.lead.rounds.Load()
	fmt.Fprintf(s.cfg.Out, "%9v %8d %8.1f %8v %10d %6d %8.1f %7d",
		passed.Round(time.Second), rounds, float64(rounds)/(passed-s.checked).Seconds(),
		time.Duration(s.lead.longest.Load()).Round(time.Millisecond), runtime.NumGoroutine(),
		openFiles(), float64(m.HeapAlloc)/(1<<20), s.checks)
	for _, name := range slices.Sorted(maps.Keys(s.chaos.counts)) {
		fmt.Fprintf(s.cfg.Out, " %s %d", name, s.chaos.counts[name])
	}
	fmt.Fprintln(s.cfg.Out)
}
