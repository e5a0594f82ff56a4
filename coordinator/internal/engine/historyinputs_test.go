package engine_test

import (
	"context"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// changes are the changes that an operator tries: sections switched on and off, and other fields.
var changes = []string{"bound=0", "bound=2", "bound=1.5", "claim_bound=0", "claim_bound=2",
	"trust=0 roots=[]", "trust=5", `trust=7 roots=["d1"]`, "roots=[]", "bound=0 trust=0 roots=[]",
	"bound=3 claim_bound=3", "late=0", "late=1", "late=3", "async=on", "async=off", "late=0 async=off",
	"clip=1", "clip=50", "trim=0.1", "trim=0.4", "quorum=1", "quorum=2", "quorum=3", "target=2",
	"target=4", "over_sample=1", "over_sample=2", "perturbations=1", "perturbations=2",
	"perturbations=4", "step=0.5", "deadline=90", "max_attempts=1", "digest_every=3", "eval_every=2",
	"regroup=1", "group_size=2", "dense_keep=2", "diverge=0", "diverge=0.5", "max_weight=5",
	"prox=0.5", "weight_decay=0.1", "max_scalar=50", "step=0", "mu=0"}

// themes are changes of one section, which a walk makes again and again.
var themes = [][]string{{"bound=0", "bound=2", "bound=1.5"}, {"clip=1", "clip=30"},
	{"claim_bound=0", "claim_bound=2"}, {"trust=0 roots=[]", "trust=5", `trust=7 roots=["d1"]`},
	{"bound=0 trust=0 roots=[]", "bound=2", "bound=2 trust=4"}, {"late=0 async=off", "late=2"},
	{"late=0 async=off", "late=2 async=on"},
	{"bound=0", "bound=2", "bound=0 late=3", "bound=1.5 late=3"},
	{"perturbations=1", "perturbations=4"},
	{"trim=0.2", "trim=0.45"}, {"diverge=0", "diverge=0.5"},
	{"bound=0", "bound=2", "late=2", "late=0"},
	{"target=2", "target=5", "quorum=1", "quorum=3"}, changes, changes, changes}

// next draws the next input.
func (w *walk) next() engine.Input {
	if w.rng.IntN(3) == 0 {
		w.time += w.rng.Uint64N(12)
	}
	switch p := w.rng.IntN(200); {
	case w.over:
	case p < 110:
		return w.fleet.act(w, w.rng.IntN(devices))
	case p < 124:
		if at, ok := w.now.Wake(); ok && at < 1<<60 && w.rng.IntN(2) == 0 {
			w.time = max(w.time, at)
		}
		w.time += w.rng.Uint64N(40)
	case p < 132:
		return w.late(w.rng.IntN(devices))
	case p < 142:
		return w.fault(w.rng.IntN(devices))
	case p < 148:
		return w.decline(w.rng.IntN(devices))
	case p < 158:
		return w.metrics(w.rng.IntN(devices))
	case p < 162:
		return w.join(w.rng.IntN(devices + 2))
	case p < 164:
		return engine.Input{Kind: engine.InPause, Text: "lunch"}
	case p < 170:
		return engine.Input{Kind: engine.InResume}
	case p < 178:
		return w.request()
	case p < 181:
		w.hold = !w.hold
		return w.settle()
	case p < 195:
		return w.settle()
	default:
		return w.seldom()
	}
	return engine.Input{Kind: engine.InTick}
}

// settle makes the log perform its oldest pending output.
func (w *walk) settle() engine.Input {
	if len(w.held) == 0 {
		return engine.Input{Kind: engine.InTick}
	}
	o := w.held[0]
	w.held = w.held[1:]
	return w.store(o)
}

func (w *walk) seldom() engine.Input {
	switch w.rng.IntN(40) {
	case 0, 1:
		return engine.Input{Kind: engine.InRetire, ID: id(w.rng.IntN(devices))}
	case 2:
		return engine.Input{Kind: engine.InEnd, Text: "enough"}
	case 3, 4, 5, 6:
		w.restart()
	case 7:
		w.time += 5000
	case 8, 9:
		for range 3 {
			w.settleAll()
		}
		w.hold = false
	case 10:
		return engine.Input{Kind: engine.InStop}
	}
	return engine.Input{Kind: engine.InTick}
}

func (w *walk) settleAll() {
	for range len(w.held) {
		w.step(w.settle())
	}
}

// request asks for a change or a rollback, mostly a possible one.
func (w *walk) request() engine.Input {
	r := &wire.Record{Kind: wire.KindRollback, To: 1 + w.rng.Uint64N(max(w.now.N, 1))}
	if w.rng.IntN(12) > 0 {
		r = &wire.Record{Kind: wire.KindChange, Change: &plan.Change{}}
		for _, f := range strings.Fields(w.theme[w.rng.IntN(len(w.theme))]) {
			name, value, _ := strings.Cut(f, "=")
			if err := planfile.SetChange(r.Change, name, value); err != nil {
				w.Fatalf("%s: %v", f, err)
			}
		}
	}
	if w.now.Check(r) != nil && w.rng.IntN(4) > 0 {
		return engine.Input{Kind: engine.InTick}
	}
	return engine.Input{Kind: engine.InRequest, Record: r}
}

// foreign makes another coordinator store record n first.
func (w *walk) foreign(n uint64) {
	if n != w.log.Last()+1 || n == 1 {
		return
	}
	r := wire.Record{N: n, Prev: w.now.Hash, Epoch: max(w.now.LastEpoch, 1)}
	if w.rng.IntN(4) == 0 {
		r.Epoch = w.epoch + 1
	}
	switch w.rng.IntN(4) {
	case 0:
		r.Kind, r.To = wire.KindRollback, 1+w.rng.Uint64N(n-1)
		if w.now.Lacks(r.To) > 0 {
			return
		}
	default:
		r.Kind, r.Change = wire.KindChange, &plan.Change{}
		if err := planfile.SetChange(r.Change, "step", "0.25"); err != nil {
			w.Fatal(err)
		}
	}
	if w.now.Check(&wire.Record{Kind: r.Kind, To: r.To, Change: r.Change}) == nil {
		w.must(w.log.Append(context.Background(), n, r.Append(nil)))
	}
}

// join joins a device, which may say which records of the run it has.
func (w *walk) join(device int) engine.Input {
	r := wire.JoinRequest{}
	return engine.Input{Kind: engine.InJoin, ID: id(device), Token: "join." + id(device),
		Frame: r.Append(nil)}
}

func (w *walk) decline(device int) engine.Input {
	r := wire.Reply{Kind: wire.Decline, N: w.now.N + 1, Tip: w.now.Hash.Tip(),
		Reason: wire.DeclineReason(1 + w.rng.IntN(5))}
	switch w.rng.IntN(12) {
	case 0:
		r.Reason = wire.DeclineLeaving
	case 1:
		r.Rest = (&wire.Away{Milliseconds: w.rng.Uint64N(900)}).Append(nil)
	case 2:
		r.Reason = 99
	}
	return engine.Input{Kind: engine.InReply, ID: id(device), Frame: r.Append(nil)}
}

// metrics sends an evaluation or a digest.
func (w *walk) metrics(device int) engine.Input {
	p := w.now.Peek()
	r := wire.Reply{Kind: wire.Evaluation, N: p.EvalN, Tip: p.EvalTip, Weight: 1 + w.rng.Uint32N(9),
		Values: wire.AppendScalars(nil, w.rng.Float32())}
	name := id(device)
	if w.rng.IntN(2) == 0 {
		r = wire.Reply{Kind: wire.DigestReport, N: w.now.N, Tip: w.now.Hash.Tip()}
		if r.Digest[0] = 7; w.rng.IntN(4) == 0 {
			r.Digest[0] = 8
		}
		if w.rng.IntN(6) == 0 {
			name = "witness"
		}
	}
	return engine.Input{Kind: engine.InReply, ID: name, Frame: r.Append(nil)}
}
