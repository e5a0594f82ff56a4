package client_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A device that starts before its coordinator waits, with growing pauses, and joins when there
// is a coordinator.
func TestJoinWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := bus.NewMemory()
		h := &host{t: t, bus: m}
		d := h.device("d0", bowlLoss(small, 0),
			func(c *client.Config) { c.RetryMax = 32 * time.Second })
		t.Cleanup(m.Close)
		pass(time.Hour)
		reports := d.progress()
		// Attempts at 0, 0.5, 1.5, 3.5, 7.5, 15.5 s, and then every 16 s on average.
		if n := len(reports); n < 3600/32 || n > 3600/10 {
			t.Errorf("%d attempts to join in an hour, want about 225", n)
		}
		for _, p := range reports {
			if p.State != client.Joining || !errors.Is(p.Err, bus.ErrNoResponders) || p.N != 0 {
				t.Fatalf("progress %+v, want joining and %v", p, bus.ErrNoResponders)
			}
		}
		d.stop()
	})
}

// The pauses of two devices differ, so that devices do not return at the same time.
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

// The same device draws the same pauses at the same time, so a simulation gives the same result
// each time.
func TestJoinRepeats(t *testing.T) {
	var runs [2][]time.Duration
	for i := range runs {
		bubble(t, func(t *testing.T) {
			m, began := bus.NewMemory(), time.Now()
			h := &host{t: t, bus: m}
			h.device("d0", bowlLoss(small, 0), func(c *client.Config) {
				c.Recorder = client.RecorderFunc(func(client.Progress) error {
					runs[i] = append(runs[i], time.Since(began))
					return nil
				})
			})
			t.Cleanup(m.Close)
			pass(time.Hour)
		})
	}
	if len(runs[0]) < 100 || !slices.Equal(runs[0], runs[1]) {
		t.Errorf("attempts at %v and %v, want the same", runs[0], runs[1])
	}
}

// A device asks again if the coordinator does not answer, or answers nonsense.
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

// An error that waiting does not cure ends Run, and names the cause.
func TestJoinFails(t *testing.T) {
	given := make([]float32, small)
	given[3] = 1
	tests := []struct {
		name   string
		plan   func(*plan.Plan)
		config func(*client.Config)
		reply  *wire.JoinReply // nil: the host's
		want   error
		says   string
	}{
		{name: "full", reply: &wire.JoinReply{Status: wire.JoinFull,
			Reason: "the roster has its 10 members"},
			want: client.ErrRefused, says: "roster full: the roster has its 10 members"},
		{name: "denied", reply: &wire.JoinReply{Status: wire.JoinDenied, Reason: "not this phone"},
			want: client.ErrRefused, says: "denied: not this phone"},
		{name: "unknown status", reply: &wire.JoinReply{Status: 77, Reason: "later"},
			want: client.ErrRefused, says: "later"},
		{name: "no plan", reply: &wire.JoinReply{}, want: wire.ErrTruncated, says: "plan"},
		{name: "dim", plan: func(p *plan.Plan) { p.Dim, p.Segments = 7, nil }, want: replica.ErrDim,
			says: "the plan has 7, this model 100"},
		{name: "no initial parameters", plan: func(p *plan.Plan) { give(p, given) },
			want: replica.ErrInitial, says: "this device gives 0"},
		{name: "other initial parameters", plan: func(p *plan.Plan) { give(p, given) },
			config: func(c *client.Config) { c.Initial = make([]float32, small) },
			want:   replica.ErrInitial, says: "load the file that the plan was made with"},
		{name: "other parameters read", plan: func(p *plan.Plan) { give(p, given) },
			config: reading(make([]float32, small), nil),
			want:   replica.ErrInitial, says: "load the file that the plan was made with"},
		{name: "parameters that cannot be read", plan: func(p *plan.Plan) { give(p, given) },
			config: reading(given, errors.New("the disk is gone")),
			want:   replica.ErrInitial, says: "the disk is gone"},
		{name: "bad plan", plan: func(p *plan.Plan) { p.Mu = 0 }, want: &plan.Error{},
			says: "mu = 0"},
		{name: "another run", plan: func(p *plan.Plan) { p.Run = "other" }, want: &plan.Error{},
			says: `this replica is of run "t"`},
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
					h.answers(func(m bus.Message) bool {
						h.publish(m.Reply, tt.reply.Append(nil))
						return true
					})
				}
				d := h.newDevice("d0", bowlLoss(small, 0), func(c *client.Config) {
					if tt.config != nil {
						tt.config(c)
					}
				})
				d.run()
				err := d.final()
				var pl *plan.Error
				if _, ok := tt.want.(*plan.Error); ok && !errors.As(err, &pl) ||
					!ok && !errors.Is(err, tt.want) {
					t.Fatalf("Run returned %v, want %v", err, tt.want)
				}
				if !strings.Contains(err.Error(), tt.says) ||
					strings.Count(err.Error(), "plan: ") > 1 {
					t.Errorf("Run returned %q, want %q in it, and plan: once", err, tt.says)
				}
			})
		})
	}
}

func give(p *plan.Plan, x []float32) {
	p.Initial, p.InitialDigest, p.Segments = plan.Given, replica.InitialDigest(x), nil
}

// A client that reads the given parameters has the same model as one that was given them. It goes
// on from its checkpoint, and starts over from the same parameters.
func TestReadParameters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		given := make([]float32, small)
		given[7] = 7
		p := testPlan(small)
		give(p, given)
		h, store := newHost(t, p), newStore(t)
		h.initial = given
		d := h.device("d0", bowlLoss(small, 0), with(store), reading(given, nil))
		other := h.device("d1", bowlLoss(small, 0), func(c *client.Config) { c.Initial = given })
		for range 3 {
			h.round()
			h.announce()
		}
		h.agrees(d, h.last())
		h.agrees(other, h.last())
		d.stop()
		again := h.device("d0", bowlLoss(small, 0), with(store), reading(given, nil))
		h.agrees(again, h.last())
		if !slices.Equal(d.params(small), again.params(small)) {
			t.Error("the checkpoint has another model")
		}
	})
}

// The run starts from the given parameters, and the client does not change the app's copy.
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
			t.Errorf("parameter 7 is %v after a round and %v of those given, want another and 7",
				x[7], given[7])
		}
	})
}

// Answers of another version end Run, once they have come for minutes.
func TestJoinUpgrade(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.answers(func(m bus.Message) bool {
			h.publish(m.Reply, []byte{0x91, wire.FrameVersion + 1})
			return true
		})
		began := time.Now()
		err := h.device("d0", bowlLoss(small, 0)).final()
		if !errors.Is(err, wire.ErrUpgrade) || time.Since(began) < 3*time.Minute {
			t.Errorf("Run returned %v after %v, want %v after minutes", err, time.Since(began),
				wire.ErrUpgrade)
		}
	})
}

// offline is a bus whose connection is down at times.
// A device gets an announcement from before it listened in the answer to its second join.
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

// A second Run learns that the coordinator has another slot, or no slot, for this device.
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
		if err := d.final(); !errors.Is(err, client.ErrRefused) {
			t.Errorf("Run returned %v, want %v", err, client.ErrRefused)
		}
	})
}
