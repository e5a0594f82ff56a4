package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

func TestConfigErrors(t *testing.T) {
	m := bus.NewMemory()
	defer m.Close()
	good := client.Config{Bus: m, Run: "r", ID: "d", Objective: bowlLoss(1, 0)}
	tests := []struct {
		edit func(*client.Config)
		says []string // field and remedy
	}{
		{func(c *client.Config) { c.Bus = nil }, []string{"Conn is nil", "nats.Connect"}},
		{func(c *client.Config) { c.Run = "" }, []string{"Run:", "1..32"}},
		{func(c *client.Config) { c.Run = "a.b" }, []string{"Run:", "A-Z a-z 0-9 - _"}},
		{func(c *client.Config) { c.ID = "" }, []string{"ID:", "1..32"}},
		{func(c *client.Config) { c.ID = "my phone" }, []string{"ID:", "A-Z a-z 0-9 - _"}},
		{func(c *client.Config) { c.ID = strings.Repeat("x", 33) }, []string{"ID:", "33 characters"}},
		{func(c *client.Config) { c.Objective = nil }, []string{"Objective is nil", "client.Func"}},
		{func(c *client.Config) { c.Objective = bowlLoss(0, 0) }, []string{"Objective.Dim() = 0", "at least one"}},
		{func(c *client.Config) { c.Objective = bowlLoss(-1, 0) }, []string{"Objective.Dim() = -1"}},
		{func(c *client.Config) { c.RequestTimeout = -1 }, []string{"RequestTimeout = -1ns", "0 for 5 s"}},
		{func(c *client.Config) { c.RetryMax = -1 }, []string{"RetryMax = -1ns", "0 for 30 s"}},
		{func(c *client.Config) { c.RetryMax = 31 }, []string{"RetryMax = 31ns", "at least 1 ms"}},
	}
	for _, tt := range tests {
		cfg := good
		tt.edit(&cfg)
		c, err := client.New(cfg)
		if !errors.Is(err, client.ErrConfig) || c != nil {
			t.Errorf("got %v, want %v that says %q", err, client.ErrConfig, tt.says)
			continue
		}
		for _, s := range tt.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("got %q, want %q in it", err, s)
			}
		}
	}
	if _, err := client.New(good); err != nil {
		t.Errorf("a good config: %v", err)
	}
}

// A device that comes before its coordinator waits, longer from time to time,
// and joins when there is one.
func TestJoinWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := bus.NewMemory()
		h := &host{t: t, bus: m}
		d := h.device("d0", bowlLoss(small, 0), func(c *client.Config) { c.RetryMax = 32 * time.Second })
		t.Cleanup(m.Close)
		pass(time.Hour)
		said := d.progress()
		// At 0, 0.5, 1.5, 3.5, 7.5, 15.5 s and every 16 s on the average.
		if n := len(said); n < 3600/32 || n > 3600/10 {
			t.Errorf("%d attempts to join in an hour, want about 225", n)
		}
		for _, p := range said {
			if p.State != client.Joining || !errors.Is(p.Err, bus.ErrNoResponders) || p.N != 0 {
				t.Fatalf("progress %+v, want joining and %v", p, bus.ErrNoResponders)
			}
		}
		d.stop()
	})
}

// The pauses of two devices differ: a fleet does not come back in step.
func TestJoinJitter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := bus.NewMemory()
		h := &host{t: t, bus: m}
		var at [2][]time.Duration
		began := time.Now()
		for i := range at {
			h.device(string(rune('a'+i)), bowlLoss(small, 0), func(c *client.Config) {
				c.Recorder = client.RecorderFunc(func(client.Progress) error {
					at[i] = append(at[i], time.Since(began))
					return nil
				})
			})
		}
		t.Cleanup(m.Close)
		pass(time.Minute)
		if len(at[0]) < 4 || len(at[1]) < 4 {
			t.Fatalf("attempts at %v and %v, want four or more each", at[0], at[1])
		}
		same := 0
		for i := range 4 {
			if at[0][i] == at[1][i] {
				same++
			}
		}
		if same > 1 { // the first is at once
			t.Errorf("attempts at %v and %v, want different pauses", at[0], at[1])
		}
	})
}

// A coordinator that does not answer, or answers nonsense, is asked again.
func TestJoinRetries(t *testing.T) {
	for _, frame := range [][]byte{nil, {}, {0xc1}, bytes.Repeat([]byte{0xdd}, 7)} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			h.answers(func(m bus.Message) bool {
				if frame != nil {
					h.publish(m.Reply, frame)
				}
				return true
			})
			d := h.device("d0", bowlLoss(small, 0))
			pass(time.Minute)
			if p := d.now(); p.State != client.Joining || p.Err == nil {
				t.Errorf("progress %+v, want joining and an error", p)
			}
			h.answers(nil)
			pass(time.Minute)
			if p := d.now(); p.State != client.Waiting || p.N != 1 {
				t.Errorf("progress %+v, want waiting after record 1", p)
			}
			h.round()
			h.announce()
			h.agrees(d, h.last())
		})
	}
}

// What no waiting cures ends Run, and says what.
func TestJoinFails(t *testing.T) {
	given := make([]float32, small)
	given[3] = 1
	tests := []struct {
		name   string
		plan   func(*wire.Plan)
		config func(*client.Config)
		reply  *wire.JoinReply // nil: the host's
		want   error
		says   string
	}{
		{name: "full", reply: &wire.JoinReply{Status: wire.JoinFull, Reason: "the roster has its 10 members"},
			want: client.ErrRefused, says: "roster full: the roster has its 10 members"},
		{name: "denied", reply: &wire.JoinReply{Status: wire.JoinDenied, Reason: "not this phone"},
			want: client.ErrRefused, says: "denied: not this phone"},
		{name: "unknown status", reply: &wire.JoinReply{Status: 77, Reason: "later"}, want: client.ErrRefused, says: "later"},
		{name: "no plan", reply: &wire.JoinReply{}, want: wire.ErrTruncated, says: "plan"},
		{name: "dim", plan: func(p *wire.Plan) { p.Dim, p.Segments = 7, nil }, want: replica.ErrDim, says: "the plan has 7, this model 100"},
		{name: "no initial parameters", plan: func(p *wire.Plan) { give(p, given) },
			want: replica.ErrInitial, says: "this device gives 0"},
		{name: "other initial parameters", plan: func(p *wire.Plan) { give(p, given) },
			config: func(c *client.Config) { c.Initial = make([]float32, small) },
			want:   replica.ErrInitial, says: "load the file that the plan was made with"},
		{name: "bad plan", plan: func(p *wire.Plan) { p.Mu = 0 }, want: &wire.PlanError{}, says: "mu = 0"},
		{name: "another run", plan: func(p *wire.Plan) { p.Run = "other" }, want: &wire.PlanError{}, says: `this replica is of run "t"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(small)
				if tt.plan != nil {
					tt.plan(p)
				}
				h := newHost(t, p)
				if tt.reply != nil {
					h.answers(func(m bus.Message) bool { h.publish(m.Reply, tt.reply.Append(nil)); return true })
				}
				d := h.newDevice("d0", bowlLoss(small, 0), func(c *client.Config) {
					if tt.config != nil {
						tt.config(c)
					}
				})
				d.run()
				err := d.result()
				var plan *wire.PlanError
				if _, ok := tt.want.(*wire.PlanError); ok && !errors.As(err, &plan) || !ok && !errors.Is(err, tt.want) {
					t.Fatalf("Run returned %v, want %v", err, tt.want)
				}
				if !strings.Contains(err.Error(), tt.says) {
					t.Errorf("Run returned %q, want %q in it", err, tt.says)
				}
			})
		})
	}
}

func give(p *wire.Plan, x []float32) {
	p.Initial, p.InitialDigest, p.Segments = wire.Given, replica.InitialDigest(x), nil
}

// Given parameters are where the run starts, and stay the app's.
func TestGivenParameters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		given := make([]float32, small)
		for i := range given {
			given[i] = float32(i)
		}
		p := testPlan(small)
		give(p, given)
		h := newHost(t, p)
		d := h.device("d0", bowlLoss(small, 0), func(c *client.Config) { c.Initial = given })
		if x := d.params(small); x[7] != 7 {
			t.Errorf("parameter 7 is %v at first, want 7", x[7])
		}
		h.round()
		h.announce()
		if x := d.params(small); x[7] == 7 || given[7] != 7 {
			t.Errorf("parameter 7 is %v after a round and %v of those given, want another and 7", x[7], given[7])
		}
	})
}

// A frame of another version from the coordinator ends Run.
func TestJoinUpgrade(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.answers(func(m bus.Message) bool {
			h.publish(m.Reply, []byte{0x91, wire.FrameVersion + 1})
			return true
		})
		if err := h.device("d0", bowlLoss(small, 0)).result(); !errors.Is(err, wire.ErrUpgrade) {
			t.Errorf("Run returned %v, want %v", err, wire.ErrUpgrade)
		}
	})
}

// A denied subject ends Run, wherever it is found out.
func TestPermissions(t *testing.T) {
	tests := []struct {
		name  string
		deny  func(*bus.Memory)
		after time.Duration
	}{
		{"join", func(m *bus.Memory) { m.DenyPublish("zo.t.j.*") }, 5 * time.Second},
		{"announcements", func(m *bus.Memory) { m.DenySubscribe("zo.t.a.*") }, 0},
		{"catch-up", func(m *bus.Memory) { m.DenyPublish("zo.t.c.*") }, 5 * time.Second},
		{"replies", func(m *bus.Memory) { m.DenyPublish("zo.t.p.>") }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				tt.deny(h.bus)
				d := h.device("d0", bowlLoss(small, 0))
				h.commit()
				h.commit()
				if tt.name != "catch-up" {
					h.announce(h.bring(2))
				} else {
					h.announce()
				}
				pass(tt.after)
				if err := d.result(); !errors.Is(err, bus.ErrPermission) {
					t.Errorf("Run returned %v, want %v", err, bus.ErrPermission)
				}
			})
		})
	}
}

// A connection that was closed for good ends Run: before, and while it waits.
func TestClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.bus.Close()
		pass(20 * time.Second)
		if err := d.result(); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run returned %v, want %v", err, bus.ErrClosed)
		}
		d = h.device("d1", bowlLoss(small, 0))
		if err := d.result(); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run returned %v, want %v", err, bus.ErrClosed)
		}
	})
}

// A closed connection ends Run when there is a reply to send, too.
func TestClosedWhileWorking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		d := h.device("d0", o)
		query := time.Second
		o.mood = slow(&query)
		h.announce()
		h.bus.Close()
		pass(3 * time.Second)
		if err := d.result(); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run returned %v, want %v", err, bus.ErrClosed)
		}
	})
}

// offline is a bus whose connection is down at times.
type offline struct {
	*bus.Memory
	down atomic.Bool
}

func (o *offline) Publish(subject string, data []byte) error {
	if o.down.Load() {
		return bus.ErrOffline
	}
	return o.Memory.Publish(subject, data)
}

func (o *offline) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if o.down.Load() {
		return nil, bus.ErrOffline
	}
	return o.Memory.Request(ctx, subject, data)
}

func (o *offline) Check(ctx context.Context, subject string) error {
	if o.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return o.Memory.Check(ctx, subject)
}

// Being offline is no error: Run says so, waits, and goes on.
func TestOffline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		o := &offline{Memory: h.bus}
		o.down.Store(true)
		d := h.device("d0", bowlLoss(small, 0), func(c *client.Config) { c.Bus = o })
		pass(time.Minute)
		if p := d.now(); p.State != client.Joining || !errors.Is(p.Err, bus.ErrOffline) {
			t.Errorf("progress %+v, want joining and %v", p, bus.ErrOffline)
		}
		o.down.Store(false)
		pass(time.Minute)
		o.down.Store(true)
		h.announce()
		h.silent() // the reply was lost
		pass(time.Hour)
		if p := d.now(); p.State != client.Waiting || p.Err == nil {
			t.Errorf("progress %+v, want waiting and an error", p)
		}
		h.commit()
		h.commit()
		h.announce()          // comes, and the catch-up does not
		pass(5 * time.Second) // it may be asking the server
		if p := d.now(); p.State != client.CatchingUp || !errors.Is(p.Err, bus.ErrOffline) {
			t.Errorf("progress %+v, want catching up and %v", p, bus.ErrOffline)
		}
		o.down.Store(false)
		h.announce()
		pass(10 * time.Second) // it may be between two attempts
		if replies := h.take(); len(by(replies, wire.Contribution)) != 1 {
			t.Errorf("got %s, want a contribution", kinds(replies))
		}
		h.agrees(d, h.last())
	})
}

// What was announced before a device listened comes with its second join.
func TestJoinBringsTheOpenRound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		for range 3 {
			h.commit()
		}
		open := h.announcement()
		open.Cohort, open.Records = wire.Cohort{Sampled: 1, Members: 1}, wire.Records{}
		h.mu.Lock()
		h.inForce = open.Append(nil)
		h.mu.Unlock()
		d := h.device("d0", bowlLoss(small, 0))
		h.one(wire.Contribution)
		h.agrees(d, 4)
	})
}

// A second Run learns that the coordinator has another slot for this device,
// or none any more.
func TestSecondRunJoins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		d.stop()
		h.slots = map[string]uint32{"d0": 7}
		d.run()
		h.announce(func(a *wire.Announcement) { a.Cohort = wire.Cohort{Sampled: 1, Members: 1} })
		h.silent()
		h.announce(func(a *wire.Announcement) { a.Cohort = wire.Cohort{Sampled: 8, Members: 8} })
		h.one(wire.Contribution)
		d.stop()
		refusal := wire.JoinReply{Status: wire.JoinDenied, Reason: "not any more"}
		h.answers(func(m bus.Message) bool { h.publish(m.Reply, refusal.Append(nil)); return true })
		d.run()
		if err := d.result(); !errors.Is(err, client.ErrRefused) {
			t.Errorf("Run returned %v, want %v", err, client.ErrRefused)
		}
	})
}

// Run refuses a second one at the same time, and leaves nothing behind.
func TestRunTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		if err := d.Run(t.Context()); !errors.Is(err, client.ErrRunning) {
			t.Errorf("second Run: got %v, want %v", err, client.ErrRunning)
		}
		h.round()
		h.announce()
		h.take()
		d.stop()
		h.commit()
		h.announce()
		h.silent()
		d.run()
		if h.joins != 3 {
			t.Errorf("%d joins, want 3: for the plan, and each Run for what is open", h.joins)
		}
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// A recorder's error ends Run, whatever the client does, and said once.
func TestRecorderStopsRun(t *testing.T) {
	errEnough := errors.New("enough")
	for _, state := range []client.State{client.Joining, client.CatchingUp, client.Waiting, client.Working, client.Paused, client.Ended} {
		t.Run(state.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHost(t, testPlan(small))
				if state == client.Joining {
					h.answers(func(m bus.Message) bool { h.publish(m.Reply, nil); return true })
				}
				said := false
				d := h.device("d0", bowlLoss(small, 0), func(c *client.Config) {
					c.Recorder = client.RecorderFunc(func(p client.Progress) error {
						if p.State == state && !said {
							said = true
							return errEnough
						}
						return nil
					})
				})
				pass(0)
				if state > client.Waiting || state == client.CatchingUp {
					h.commit()
					h.commit()
					h.announce(func(a *wire.Announcement) {
						if state == client.Paused {
							a.State = wire.Paused
						}
					})
					h.end()
					h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
				}
				if err := d.result(); !errors.Is(err, errEnough) {
					t.Errorf("Run returned %v, want %v", err, errEnough)
				}
			})
		})
	}
}

// Params and Digest may be called at any time, from anywhere: what they return
// is the state after one record.
func TestParamsMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim, rounds = 5000, 30
		h := newHost(t, testPlan(dim))
		var d *device
		d = h.newDevice("d0", client.Func(dim, func(_ context.Context, x []float32, b client.Batch) (float64, error) {
			if n, err := d.Params(make([]float32, dim)); n != b.N-1 || err != nil {
				t.Errorf("Params within the loss: %d, %v, want record %d", n, err, b.N-1)
			}
			return bowl(x[:10], 0, b), nil
		}))
		type seen struct {
			n      uint64
			digest [32]byte
		}
		readers, results := 3, make(chan []seen)
		quit := make(chan struct{})
		for i := range readers {
			go func() {
				var all []seen
				x := make([]float32, dim)
				for done := false; !done; {
					if i == 0 {
						n, digest := d.Digest()
						all = append(all, seen{n, digest})
					} else if n, err := d.Params(x); err != nil {
						t.Error(err)
					} else if n > 0 {
						all = append(all, seen{n, replica.Digest(x)})
					}
					select {
					case <-quit:
						done = true
					case <-time.After(time.Millisecond):
					}
				}
				results <- all
			}()
		}
		d.run()
		for range rounds {
			h.round()
			pass(time.Millisecond)
		}
		h.announce()
		close(quit)
		digests := map[uint64][32]byte{}
		for n := range h.last() {
			digests[n+1] = h.witness(n + 1).Digest()
		}
		for range readers {
			for _, s := range <-results {
				if s.n > 0 && s.digest != digests[s.n] {
					t.Errorf("digest %x after record %d, want %x", s.digest, s.n, digests[s.n])
				}
			}
		}
	})
}

func TestParams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.newDevice("d0", bowlLoss(small, 0))
		x := make([]float32, small)
		x[0] = 42
		if n, err := d.Params(x); n != 0 || err != nil || x[0] != 42 {
			t.Errorf("before the plan: got %d, %v and %v, want 0, no error and what was there", n, err, x[0])
		}
		if n, _ := d.Digest(); n != 0 {
			t.Errorf("Digest before the plan: got record %d, want 0", n)
		}
		for _, n := range []int{0, small - 1, small + 1} {
			if _, err := d.Params(make([]float32, n)); err == nil || !strings.Contains(err.Error(), "the model 100") {
				t.Errorf("%d elements: got %v, want an error", n, err)
			}
		}
		d.run()
		if n, err := d.Params(x); n != 1 || err != nil || x[0] == 42 {
			t.Errorf("after the plan: got %d, %v and %v, want 1, no error and the model", n, err, x[0])
		}
	})
}

// A loss that does not move at all gets a warning, once.
func TestZerosWarning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		h := newHost(t, testPlan(small))
		flat := true
		h.device("d0", client.Func(small, func(_ context.Context, x []float32, b client.Batch) (float64, error) {
			if flat {
				return 1, nil
			}
			return bowl(x, 0, b), nil
		}), func(c *client.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		rounds := func(n int) int {
			for range n {
				h.round()
			}
			synctest.Wait()
			return strings.Count(log.String(), "raise mu")
		}
		for _, step := range []struct {
			flat         bool
			rounds, want int
		}{{true, 2, 0}, {false, 1, 0}, {true, 2, 0}, {true, 1, 1}, {true, 5, 1}} {
			flat = step.flat
			if got := rounds(step.rounds); got != step.want {
				t.Errorf("%+v: %d warnings", step, got)
			}
		}
	})
}
