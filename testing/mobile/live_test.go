package mobile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
)

// TestLive trains one model over TLS with clients in both modes and clients of package client,
// through a restart of the broker. All clients end with the bits of a replay of the log, and leave
// no goroutine running.
func TestLive(t *testing.T) {
	t.Parallel()
	const dim, rounds = 5000, 20
	s := newSite(t)
	p := testPlan(t, "live", dim, 4, 3, rounds)
	l := s.lead(p)
	finished := l.companions(2)
	block := func(c *mobile.Config) { c.SetBlockObjective(blockBowl(3)) }
	phones := []*phone{s.phone("live", "simple", dim), s.phone("live", "block", dim, block)}
	l.after(rounds / 2)
	s.restart()
	for _, p := range phones {
		p.Reconnect()
	}
	for _, p := range phones {
		p.returned("")
		if !p.Ended() || p.Contributions() < rounds/2 || p.Round() != rounds || p.Record() != p.Last() {
			t.Errorf("%s: state %s, %d contributions, round %d, record %d of %d", p.id,
				mobile.StateName(p.State()), p.Contributions(), p.Round(), p.Record(), p.Last())
		}
		l.agrees(p.Client, p.id)
		p.alone()
	}
	w := l.replay()
	for i, c := range finished() {
		if n, digest := c.Digest(); n != w.N() || digest != w.Digest() {
			t.Errorf("device %d: digest %x after record %d, want %x after %d",
				i, digest, n, w.Digest(), w.N())
		}
	}
}

// TestLiveSlices runs a client for fractions of a second, each time in a new process, like a
// system's background workers. The run still ends, every process begins with the state of the
// process before, and no round waits longer than for this client.
func TestLiveSlices(t *testing.T) {
	t.Parallel()
	const dim, rounds = 1000, 100
	slice := int64(300) // milliseconds
	s := newSite(t)
	l := s.lead(testPlan(t, "slices", dim, 2, 2, rounds))
	finished := l.companions(1)
	dir := t.TempDir()
	var last *mobile.Client
	model, contributions, record, slices := make([]byte, 4*dim), int64(0), int64(0), 0
	for began := time.Now(); last == nil || !last.Ended(); slices++ {
		if time.Since(began) > patience {
			t.Fatalf("no end after %d slices, at record %d", slices, record)
		}
		cfg := s.settings("slices", "phone", dim)
		cfg.StateDir = dir
		cfg.SetObjective(slow(2 * time.Millisecond))
		p := newPhone(t, cfg)
		last = p.Client
		if err := last.Load(); err != nil {
			t.Fatal(err)
		}
		if n, err := last.Params(model); n != record || last.Record() != n || err != nil {
			t.Errorf("slice %d begins after record %d, %v, and reports %d, want %d",
				slices, n, err, last.Record(), record)
		}
		began := time.Now()
		if err := last.RunFor(slice); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > time.Duration(slice)*time.Millisecond+soon {
			t.Errorf("slice %d took %v", slices, d)
		}
		contributions += last.Contributions()
		before := record
		var err error
		if record, err = last.Params(model); err != nil || record != last.Record() {
			t.Errorf("slice %d ends after record %d, %v, but reports %d", slices, record, err, last.Record())
		}
		if record == before {
			slice *= 2 // too short for this machine to connect
		}
		if !last.Ended() {
			last.Stop()
		}
	}
	if contributions < rounds || slices < 3 {
		t.Errorf("%d contributions in %d slices, want %d in several", contributions, slices, rounds)
	}
	l.agrees(last, "phone")
	for _, c := range finished() {
		if n, _ := c.Digest(); n != uint64(record) {
			t.Errorf("the companion is at record %d, the phone at %d", n, record)
		}
	}
}

// TestLiveEvaluator measures the model with two evaluators, of which one throws. The coordinator
// gets the metrics of the other evaluator, and the client with the bad evaluator continues. Both
// modes read the same parameters.
func TestLiveEvaluator(t *testing.T) {
	t.Parallel()
	const dim, rounds = 2500, 12
	s := newSite(t)
	p := testPlan(t, "measure", dim, 2, 2, rounds)
	p.EvalEvery, p.EvalCount, p.Metrics = 3, 2, []string{"loss", "accuracy"}
	l, told := s.told(p)
	good := s.phone("measure", "good", dim, func(c *mobile.Config) {
		c.SetEvaluator(evaluator(func(e *mobile.Evaluation) error {
			params := make([]byte, 4*e.Dim())
			if _, err := e.ReadParams(0, params); err != nil {
				return err
			}
			f, err := flatBowl(0).Loss(params)
			return errors.Join(err, e.AddMetric(f), e.AddMetric(0.25), e.SetSamples(10))
		}))
	})
	bad := s.phone("measure", "bad", dim, func(c *mobile.Config) {
		c.SetBlockObjective(blockBowl(1)) // the same as the other's
		c.SetEvaluator(evaluator(func(*mobile.Evaluation) error { panic("no measure") }))
	})
	for _, p := range []*phone{good, bad} {
		p.returned("")
		l.agrees(p.Client, p.id)
		if p.Contributions() < rounds-1 {
			t.Errorf("%s contributed to %d of %d rounds", p.id, p.Contributions(), rounds)
		}
	}
	if good.Loss() != bad.Loss() {
		t.Errorf("at the same parameters the loss was %v in simple mode and %v in blocks",
			good.Loss(), bad.Loss())
	}
	if len(bad.ear.said(mobile.CodeFault)) == 0 {
		t.Errorf("the listener was told %q, want the evaluator's panic", bad.ear.all())
	}
	late := time.After(patience)
	for {
		select {
		case e := <-told:
			if v := e.Evaluation; e.Kind == report.Evaluated && v.Count > 0 {
				if v.Samples != 10 || len(v.Metrics) != 2 || v.Metrics[0] <= 0 || v.Metrics[1] != 0.25 {
					t.Errorf("the coordinator has %+v", v)
				}
				return
			}
		case <-late:
			t.Fatal("no metrics arrived")
		}
	}
}

type evaluator func(*mobile.Evaluation) error

func (f evaluator) Evaluate(e *mobile.Evaluation) error { return f(e) }

// TestLiveGiven trains a private run from parameters that the apps have. A device with the
// key and the parameters ends with the model; others are told what they lack.
func TestLiveGiven(t *testing.T) {
	t.Parallel()
	const dim = 1000
	initial, key := make([]float32, dim), bytes.Repeat([]byte{7}, 32)
	given := []byte{}
	for i := range initial {
		initial[i] = float32(i) / 16
		given = binary.LittleEndian.AppendUint32(given, math.Float32bits(initial[i]))
	}
	s := newSite(t)
	private := func(run string) *plan.Plan {
		p := testPlan(t, run, dim, 2, 2, 10)
		p.Initial, p.InitialDigest = plan.Given, replica.InitialDigest(initial)
		p.RunKey, p.KeyCheck = nil, plan.KeyCheck(key)
		return p
	}
	with := func(params, key []byte) func(*mobile.Config) {
		return func(c *mobile.Config) {
			if params != nil {
				if err := c.SetInitial(params); err != nil {
					t.Fatal(err)
				}
			}
			if key != nil {
				if err := c.SetRunKey(key); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	s.lead(private("lacking"))
	s.phone("lacking", "keyless", dim, with(given, nil)).returned(mobile.CodeRunKey)
	s.phone("lacking", "wrong", dim, with(given, make([]byte, 32))).returned(mobile.CodeRunKey)
	s.phone("lacking", "other", dim, with(make([]byte, 4*dim), key)).returned(mobile.CodeInitial)
	s.phone("lacking", "long", dim+1, with(make([]byte, 4*dim+4), key)).returned(mobile.CodeDim)

	l := s.lead(private("given"))
	phones := []*phone{s.phone("given", "a", dim, with(given, key)),
		s.phone("given", "b", dim, with(given, key))}
	w := replica.New(replica.Config{Run: "given", Initial: initial, RunKey: key})
	for _, p := range phones {
		p.returned("")
	}
	if err := l.log.Read(t.Context(), 1,
		func(_ uint64, record []byte) bool { return w.Apply(record) == nil }); err != nil {
		t.Fatal(err)
	}
	for _, p := range phones {
		l.holds(w, p.Client, p.id)
	}
}
