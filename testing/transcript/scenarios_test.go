package transcript

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/memstore"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A scenario is a run, and what happens in it.
type scenario struct {
	name, about string
	run         func(t *testing.T) *world
}

var scenarios = []scenario{{
	name: "decomfl",
	about: `Preset decomfl: three devices, shared directions, forward differences. The operator
ends the run after six rounds.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, none), 2048, nil)
		w.join(0, 1, 2)
		w.until(6)
		w.End("enough")
		return w
	},
}, {
	name: "zofl",
	about: `Preset zofl, the default: a survey of mu before round 1, one of the step after some
rounds, groups of devices that share directions, slopes, and short announcements.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "zofl", 6, func(p *plan.Plan) {
			p.Members, p.Target, p.Rounds = 4, 4, 12
		}), 2048, nil)
		w.join(0, 1, 2, 3)
		return w
	},
}, {
	name: "slots",
	about: `The device joins last, so its slot is 3. A survey of mu names no group: its direction
is that of group 0, and not of the slot. Then a survey of kind sketch asks for the slopes along
64 directions that all devices share, from which the coordinator makes groups.`,
	run: func(t *testing.T) *world {
		p := planOf(t, "zofl", 5, func(p *plan.Plan) { p.Members, p.Target, p.Rounds = 4, 4, 3 })
		set(t, p, "groups=sketch", "group_size=2", "regroup=2", "step_auto=off", "step=0.1")
		w := newWorld(t, p, 2048, nil)
		w.join(1, 2, 3, 0)
		return w
	},
}, {
	name: "own-slot",
	about: `Directions of each device's own, in a device of slot 1: a survey of mu and rounds
along them, with source 2.`,
	run: func(t *testing.T) *world {
		p := planOf(t, "zofl", 5, func(p *plan.Plan) { p.Members, p.Target, p.Rounds = 2, 2, 3 })
		set(t, p, "sharing=per-client", "groups=none", "regroup=0", "step_auto=off", "step=0.1")
		w := newWorld(t, p, 2048, nil)
		w.join(1, 0)
		return w
	},
}, {
	name: "drawn",
	about: `An open roster: devices have no slots, and draw their groups. The survey of mu is along
the direction of the drawn group, too. Every second record devices draw anew.`,
	run: func(t *testing.T) *world {
		p := planOf(t, "zofl", 5, func(p *plan.Plan) { p.Members, p.Target, p.Rounds = 4, 4, 6 })
		set(t, p, "roster=open", "groups=random", "group_size=1", "regroup=2", "step_auto=off",
			"step=0.1")
		w := newWorld(t, p, 2048, nil)
		w.join(1, 2, 3, 0)
		return w
	},
}, {
	name: "shared",
	about: `Preset zofl-shared: as zofl, but all devices share directions, and a record has the
mean of their scalars, as binary16.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "zofl-shared", 6, rounds(8)), 2048, nil)
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "own",
	about: `Preset zofl with directions of each device's own, scalars of 4 bits, and normal
directions: frames name no group, and short announcements have a term for each device.`,
	run: func(t *testing.T) *world {
		p := planOf(t, "zofl", 7, rounds(8))
		set(t, p, "sharing=per-client", "groups=none", "regroup=0", "precision=int4",
			"distribution=normal", "weights=samples")
		w := newWorld(t, p, 2048, nil)
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "lowrank",
	about: `Preset zofl with directions of rank 1 over two matrices and a vector, of each device's
own: surveys of mu and of the step, and rounds along them.`,
	run: func(t *testing.T) *world {
		p := planOf(t, "zofl", 5*7+3+2*4, rounds(8))
		set(t, p, "sharing=per-client", "groups=none", "regroup=0", "distribution=lowrank",
			`segments=[{"name":"a","len":35,"rows":5},{"name":"b","len":3},`+
				`{"name":"c","len":8,"rows":2,"mu_scale":2,"step_scale":0.5}]`)
		w := newWorld(t, p, 2048, nil)
		w.join(0, 1, 2)
		return w
	},
}, {
	name:  "central",
	about: `Central differences, and scalars in units of 4 (loss_unit).`,
	run: func(t *testing.T) *world {
		p := planOf(t, "zofl-shared", 5, rounds(6))
		set(t, p, "difference=central", "loss_unit=4")
		w := newWorld(t, p, 2048, nil)
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "coarse",
	about: `Losses in steps of 64, which small moves do not change, and infinite beyond 4,096: the
survey of mu has a slope at the largest distance whose two losses are finite.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "zofl-shared", 5, rounds(4)), 2048, nil)
		w.bends = func(_ uint64, value float64) float64 {
			if value > 4096 {
				return math.Inf(1)
			}
			return 64 * math.Floor(value/64)
		}
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "plateau",
	about: `Losses in steps of 4, and of at most 32: far away they are level, so no direction has a
slope. The device tries eight directions in its survey of mu, and answers with the first that
changed its losses.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "zofl-shared", 5, rounds(4)), 2048, nil)
		w.bends = func(_ uint64, value float64) float64 {
			return min(32, 4*math.Floor(value/4))
		}
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "steps",
	about: `Local steps: K = 3 with momentum, prox, weight decay and minibatches of 4 samples. The
run is private: its directions derive from the secret, and digests are keyed. After every third
record devices evaluate a metric.`,
	run: func(t *testing.T) *world {
		p := planOf(t, "decomfl", 5, rounds(6))
		p.RunKey, p.KeyCheck = nil, plan.KeyCheck(secret)
		set(t, p, "steps=3", "perturbations=2", "rule=momentum", "beta=0.5", "prox=0.25",
			"weight_decay=0.001", "batch=4", "step=0.01", "eval_every=3", "eval_count=3")
		p.Metrics = []string{"distance"}
		w := newWorld(t, p, 2048, secret)
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "cma",
	about: `Preset cma, the evolution strategy: a survey of the first sigma, then rounds whose
scalars are the losses of candidates.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "cma", 3, func(p *plan.Plan) {
			p.Rounds, p.Perturbations = 8, 7
		}), 2048, nil)
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "rollback",
	about: `The operator pauses the run, resumes it, changes a field of the plan, and rolls the run
back to record 4. The device has no store: it fetches the log from record 2 on, and applies what
the rollback left.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, none), 2048, nil)
		w.join(0, 1, 2)
		w.until(5)
		w.Pause("maintenance")
		w.pass(time.Second)
		w.Resume()
		w.until(7)
		w.must(w.Change(change(t, "step=0.002")))
		w.until(9)
		w.must(w.Rollback(4))
		w.until(7)
		w.must(w.Rollback(10))
		w.until(12)
		w.End("")
		return w
	},
}, {
	name: "late-joiner",
	about: `The device joins a run of many records, one of them a rollback, over a connection that
takes 1,024 bytes. Its app stops it later, with a goodbye, and begins it anew without memory.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "zofl", 6, func(p *plan.Plan) { p.Target = 2 }), 1024, nil)
		w.join(1, 2, 3)
		w.until(20)
		w.must(w.Rollback(9))
		w.until(30)
		stop := w.start(0)
		w.until(33)
		stop()
		w.pass(time.Second)
		w.start(0)
		w.until(40)
		w.End("")
		return w
	},
}, {
	name: "kept/sleep",
	about: `The device keeps its state. Its app stops it and starts it again: first some records
later, then after a rollback that undid its last records.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, none), 2048, nil)
		w.store = memstore.Store{}
		w.join(1, 2)
		stop := w.start(0)
		w.until(4)
		stop()
		w.until(7)
		stop = w.start(0)
		w.until(10)
		stop()
		w.must(w.Rollback(7))
		w.until(8)
		w.start(0)
		w.until(11)
		w.End("")
		return w
	},
}, {
	name: "gap",
	about: `The network loses the device's contribution to record 4, and the round closes without
it. Then it loses the announcement of record 7: the device asks for the records that it lacks.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, rounds(8)), 2048, nil)
		w.lose = once("out 97010104", "in 9c010007")
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "repeated",
	about: `A quorum of all devices. The network loses the device's contribution to record 4, and
the coordinator repeats the announcement with the slots that are missing. It loses the announcement
of record 5, which comes again. It loses the contribution to record 6 so often that the coordinator
begins a second attempt.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, func(p *plan.Plan) {
			p.Rounds, p.Quorum = 8, 3
		}), 2048, nil)
		w.lose = once(append(slices.Repeat([]string{"out 97010106"}, 4), "out 97010104",
			"in 9c010005")...)
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "silence",
	about: `Answers are lost: to the first join, to the third, and to a request for records. The
times after a silence are random, within the bounds that docs/device.md gives.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, func(p *plan.Plan) {
			p.Members, p.Target, p.Rounds = 2, 2, 60
		}), 2048, nil)
		w.lose = once("ask 910194c4080000", "ask 9301", "in 9c010008")
		w.join(1, 2)
		w.until(3)
		w.join(0)
		return w
	},
}, {
	name: "slow",
	about: `A plan with late=2: the device takes so long that the others close the round. Its
contribution still counts for two records.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, func(p *plan.Plan) {
			p.Target, p.Rounds, p.Late, p.OverSample = 2, 12, 2, 1.5
		}), 2048, nil)
		w.took = 40 * time.Millisecond
		w.join(0, 1, 2)
		return w
	},
}, {
	name: "declines",
	about: `The loss of the device fails at records 4 and 5, and at record 7 it gives a scalar
above max_scalar.`,
	run: func(t *testing.T) *world {
		w := newWorld(t, planOf(t, "decomfl", 5, rounds(8)), 2048, nil)
		w.fails = func(n uint64) bool { return n == 4 || n == 5 }
		w.bends = func(n uint64, value float64) float64 {
			if n == 7 {
				return 1e9 * value
			}
			return value
		}
		w.join(0, 1, 2)
		return w
	},
}}

var secret = bytes.Repeat([]byte{0x5a}, 32)

func none(*plan.Plan) {}

func rounds(n uint64) func(*plan.Plan) { return func(p *plan.Plan) { p.Rounds = n } }

// set sets fields of a plan: "name=value".
func set(t *testing.T, p *plan.Plan, fields ...string) {
	t.Helper()
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// change returns a change of one field.
func change(t *testing.T, field string) *plan.Change {
	t.Helper()
	name, value, _ := strings.Cut(field, "=")
	c := &plan.Change{}
	if err := planfile.SetChange(c, name, value); err != nil {
		t.Fatal(err)
	}
	return c
}

// once loses the first frame that begins with each of these texts: a line's kind, and hex digits.
func once(texts ...string) func(kind string, frame []byte) bool {
	return func(kind string, frame []byte) bool {
		says := fmt.Sprintf("%s %x", kind, frame)
		at := slices.IndexFunc(texts, func(s string) bool { return strings.HasPrefix(says, s) })
		if at < 0 {
			return false
		}
		texts = slices.Delete(texts, at, at+1)
		return true
	}
}
