package mobile

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"

	"github.com/zofl/zofl/client/mobile"
)

// A storm has this many restarts of the broker, with rounds between them.
const (
	stormRestarts = 1
	stormRounds   = 10
)

// stormGusts is how often the network may change without a new record. Otherwise threads that never
// wait would cut every connection before its first round, and fast threads most often.
const stormGusts = 20

// A gale counts what disturbs a client since its last record.
type gale struct {
	mu     sync.Mutex
	record int64
	gusts  int
	runs   int
}

// since forgets the disturbances before the client's record.
func (g *gale) since(record int64) {
	if record != g.record {
		g.record, g.gusts, g.runs = record, 0, 0
	}
}

// gust reports whether the network may change once more.
func (g *gale) gust(p *phone) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.since(p.Record())
	g.gusts++
	return g.gusts <= stormGusts
}

// limit draws the length of a run in milliseconds. Runs that bring no record grow longer, so
// that a first join fits in on any machine.
func (g *gale) limit(p *phone, r *rand.Rand) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.since(p.Record())
	g.runs = min(g.runs+1, math.MaxUint8)
	return 1 + r.Int64N(500*int64(g.runs))
}

// TestLiveStorm calls every method from many threads, even from inside the loss and the listener,
// while the broker stops and restarts. Calls hang or fail only as documented, and afterwards the
// client trains to the digest of the log.
func TestLiveStorm(t *testing.T) {
	t.Parallel()
	const dim, rounds = 200, 1_000_000
	s := newSite(t)
	p := testPlan(t, "storm", dim, 2, 1, rounds)
	p.Deadline, p.Reannounce = 200, 100
	l := s.lead(p)
	l.companions(1)
	dir := t.TempDir()
	for range 2 {
		cfg := s.settings("storm", "phone", dim)
		cfg.StateDir = dir
		var p *phone
		model, digest := make([]byte, 4*dim), make([]byte, 32)
		asks := func(model, digest []byte) {
			if _, err := p.Params(model); err != nil {
				t.Errorf("Params: %v", err)
			}
			if _, err := p.Digest(digest); err != nil {
				t.Errorf("Digest: %v", err)
			}
		}
		cfg.SetObjective(&loss{f: func(n int) (float64, error) {
			asks(model, digest)
			if n%50 == 0 {
				p.Reconnect()
			}
			return 0, nil
		}})
		p = newPhone(t, cfg)
		heard := make([]byte, 4*dim)
		wind := &gale{}
		p.ear.does = func() {
			asks(heard, make([]byte, 32))
			p.SetNetwork(true, p.Record()%7 == 0 && wind.gust(p))
		}
		l.storm(p, wind)
		p.alone()
	}
	last := newPhone(t, func() *mobile.Config {
		c := s.settings("storm", "phone", dim)
		c.StateDir = dir // no other client uses it
		return c
	}())
	last.start()
	last.until("some rounds", func() bool { return last.Contributions() > 5 })
	last.stopped()
	l.holds(l.replayTo(uint64(last.Record())), last.Client, "phone")
}

// storm runs a client and calls all its methods from several threads.
func (l *lead) storm(p *phone, wind *gale) {
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	var all sync.WaitGroup
	call := func(f func(r *rand.Rand)) {
		all.Go(func() {
			pprof.Do(ctx, pprof.Labels("phone", p.name()), func(context.Context) {
				for r := rand.New(rand.NewPCG(1, 2)); ctx.Err() == nil; {
					f(r)
					runtime.Gosched() // leaves time for the broker and the coordinator
				}
			})
		})
	}
	for range 2 { // one of these runs, the others get an error
		call(func(r *rand.Rand) { p.allows("RunFor", p.RunFor(wind.limit(p, r))) })
	}
	call(func(*rand.Rand) { p.allows("Load", p.Load()) })
	for range 4 {
		call(func(r *rand.Rand) {
			model, digest := make([]byte, 4*p.Dim()), make([]byte, 32)
			p.allows("Params", first(p.Params(model)))
			p.allows("Digest", first(p.Digest(digest)))
			p.SetPower(r.IntN(2) == 0, r.IntN(101))
			switch r.IntN(1000) {
			case 0:
				if wind.gust(p) {
					p.Reconnect()
				}
			case 1, 2, 3:
				gust := wind.gust(p)
				p.SetNetwork(!gust || r.IntN(2) == 0, gust && r.IntN(2) == 0)
			}
			p.State()
			p.Ended()
			p.Loss()
			p.BytesSent()
			p.BytesReceived()
		})
	}
	for range stormRestarts {
		l.more(stormRounds)
		l.site.restart()
	}
	l.more(stormRounds)
	p.Stop() // while the calls go on
	p.Stop()
	cancel()
	all.Wait()
	if p.State() != mobile.StateStopped {
		l.t.Errorf("state %s after Stop", mobile.StateName(p.State()))
	}
}

// more waits for this many further rounds.
func (l *lead) more(rounds uint64) {
	l.t.Helper()
	l.after(<-l.round + rounds)
}

func first(_ int64, err error) error { return err }

// allows checks that an error, if any, says that another call is running or that the client
// was stopped.
func (p *phone) allows(what string, err error) {
	if err == nil {
		return
	}
	switch mobile.ErrorCode(err.Error()) {
	case mobile.CodeRunning, mobile.CodeStopped:
	default:
		p.t.Errorf("%s: %v", what, err)
	}
}
