package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/survey"
)

// A fleet has a core, its log, and devices that do what package client does, except for secure
// aggregation. Messages take some time, and a share of the messages is lost.
type fleet struct {
	*testing.T
	plan    *plan.Plan
	c       *Core
	log     *runlog.Memory
	now     uint64
	rng     *rand.Rand
	loss    float64
	devices []*device
	steps   []func() // to be done now
	later   []delayed
	busy    bool
}

// A delayed is a function that the fleet calls at a time.
type delayed struct {
	at uint64
	do func()
}

// A device is one device of a fleet.
type device struct {
	*fleet
	number  int
	id      string
	slot    uint32
	up      bool // it runs, and has a connection
	joined  bool
	asks    bool // it joins with the next announcement
	epoch   uint64
	kept    kept
	heard   [3]uint64 // the attempt that a join told of
	nays    int       // declines in a row
	backoff uint64    // until when it takes no part
}

// A kept is a contribution that a device repeats.
type kept struct {
	n     uint64
	tip   wire.Tip
	asked string // the survey and the group
	frame []byte
}

func newFleet(t *testing.T, plan *plan.Plan, devices int, seed uint64) *fleet {
	w := &fleet{T: t, plan: plan, log: &runlog.Memory{}, rng: rand.New(rand.NewPCG(seed, 5))}
	for i, id := range ids(devices) {
		w.devices = append(w.devices, &device{fleet: w, number: i, id: id, up: true})
	}
	w.restart()
	for _, h := range w.devices {
		h.join()
	}
	return w
}

// restart starts another coordinator in place of the present one.
func (w *fleet) restart() {
	epoch, err := w.log.Begin(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if w.c, err = newCore(w.Context(), w.plan, w.log, epoch); err != nil {
		w.Fatal(err)
	}
	w.steps = nil
	w.at(0, func() { w.do(w.c.Start(w.now)) })
}

// at calls do after a delay in milliseconds. With delay 0, the fleet calls do before time passes.
func (w *fleet) at(delay uint64, do func()) {
	if delay > 0 {
		w.later = append(w.later, delayed{w.now + delay, do})
		return
	}
	if w.steps = append(w.steps, do); w.busy {
		return
	}
	w.busy = true
	for len(w.steps) > 0 {
		do := w.steps[0]
		w.steps = w.steps[1:]
		do()
	}
	w.busy = false
}

func (w *fleet) input(in Input) { w.at(0, func() { w.do(w.c.Step(w.now, in)) }) }

// pass lets time pass.
func (w *fleet) pass(ms uint64) {
	for end := w.now + ms; ; {
		slices.SortStableFunc(w.later, func(a, b delayed) int { return int(a.at) - int(b.at) })
		wake, ok := w.c.Wake()
		switch due := len(w.later) > 0; {
		case due && w.later[0].at <= end && (!ok || w.later[0].at <= wake):
			next := w.later[0]
			w.later = w.later[1:]
			w.now = max(w.now, next.at)
			w.at(0, next.do)
		case ok && wake <= end:
			w.now = max(w.now, wake)
			w.input(Input{Kind: InTick})
		default:
			w.now = end
			return
		}
	}
}

// lost draws whether a message is lost.
func (w *fleet) lost() bool { return w.rng.Float64() < w.loss }

// do performs the core's outputs. While messages get lost, the log fails now and then.
func (w *fleet) do(out []Output) {
	for _, o := range out {
		switch o.Kind {
		case OutAppend:
			if w.rng.Float64() < w.loss/5 {
				w.input(Input{Kind: InAppendFailed, N: o.N, Err: errDisk})
				continue
			}
			if o.Object != nil {
				w.log.PutObject(w.Context(), o.Object.Name, o.Object.Data)
			}
			if err := w.log.Append(w.Context(), o.N, o.Frame); err != nil {
				w.Fatal(err)
			}
			w.input(Input{Kind: InAppended, N: o.N})
		case OutMember:
			w.log.AddMembers(w.Context(), []string{o.ID})
			w.input(Input{Kind: InStored, Count: 1})
		case OutDecide:
			err := w.log.Decide(w.Context(), *o.Decisions)
			w.input(Input{Kind: InDecided, Err: err})
		case OutAnnounce:
			a, err := compact.Decode(slices.Clone(o.Frame))
			if err != nil {
				w.Fatal(err)
			}
			for _, h := range w.devices {
				if !w.lost() {
					w.at(0, func() { h.hear(&a.Announcement, false) })
				}
			}
		case OutRespond:
			w.respond(o.Token, slices.Clone(o.Frame))
		}
	}
}

// respond delivers the answer to a join to its device.
func (w *fleet) respond(token string, frame []byte) {
	var number int
	if _, err := fmt.Sscanf(token, "to.%d", &number); err == nil && !w.lost() {
		w.at(0, func() { w.devices[number].welcome(frame) })
	}
}

// send sends a message, which arrives within half a second.
func (h *device) send(in Input) {
	if in.ID = h.id; !h.lost() {
		h.at(50+h.rng.Uint64N(450), func() { h.input(in) })
	}
}

// join asks for a slot. If no answer comes, the device asks again with the next announcement.
func (h *device) join() {
	h.asks = true
	if !h.lost() {
		h.input(Input{Kind: InJoin, ID: h.id, Token: fmt.Sprint("to.", h.number),
			Frame: (&wire.JoinRequest{}).Append(nil)})
	}
}

func (h *device) welcome(frame []byte) {
	r, err := wire.DecodeJoinReply(frame)
	if err != nil || r.Status != wire.JoinOK {
		h.Fatalf("join: %+v, %v", r, err)
	}
	h.slot, h.joined, h.asks = r.Slot, true, false
	if len(r.Announcement) == 0 {
		return
	}
	a, err := wire.DecodeAnnouncement(r.Announcement)
	if err != nil {
		h.Fatal(err)
	}
	h.hear(&a, true)
}

// hear handles an announcement; asked says whether it came with the answer to a join.
func (h *device) hear(a *wire.Announcement, asked bool) {
	if !h.up || !h.joined {
		return
	}
	h.asks = h.asks || h.epoch > 0 && a.Epoch > h.epoch
	h.epoch = max(h.epoch, a.Epoch)
	if h.asks && !asked {
		h.join()
	}
	if a.State == wire.Open && a.N == h.c.N+1 {
		h.work(a, asked)
	}
}

// work answers an announcement that asks this device.
func (h *device) work(a *wire.Announcement, asked bool) {
	p, tip, kind := &h.c.Plan, h.c.Hash.Tip(), survey.Asked(a.Rest)
	group, in := wiregroups.Of(a, h.slot)
	if !wiregroups.Names(p) || kind != survey.None {
		in = a.Cohort.Has(p.Run, p.Draw(a.N, h.c.Point.N), a.Attempt, h.slot, h.id)
	}
	if !in {
		return
	}
	this := [3]uint64{a.N, a.Epoch, uint64(a.Attempt)}
	repeats := asked || h.heard != this
	if h.heard = [3]uint64{}; asked {
		h.heard = this
	}
	what := fmt.Sprint(kind, group)
	if k := &h.kept; k.n == a.N && k.tip == tip && k.asked == what {
		if m, ok := a.Missing(); ok && m.Has(h.slot) || !ok && repeats {
			h.send(Input{Kind: InReply, Frame: k.frame})
		}
		return
	}
	if h.now < h.backoff || h.lost() {
		return // it does not take part, or is too late
	}
	if h.lost() {
		h.decline(a, tip)
		return
	}
	h.nays, h.backoff = 0, 0
	if h.c.SendsVectors() {
		h.upload(a, tip)
		return
	}
	h.kept = kept{a.N, tip, what, h.contribution(a, tip, kind, group)}
	h.send(Input{Kind: InReply, Frame: h.kept.frame})
}

// decline declines. After four declines in a row the device says for how long it will be away.
func (h *device) decline(a *wire.Announcement, tip wire.Tip) {
	r := wire.Reply{Kind: wire.Decline, N: a.N, Tip: tip, Reason: wire.DeclineLoss}
	if h.nays++; h.nays > 3 {
		h.backoff = h.now + 1000 + h.rng.Uint64N(20_000)
		r.Rest = (&wire.Away{Milliseconds: h.backoff - h.now}).Append(nil)
	}
	h.send(Input{Kind: InReply, Frame: r.Append(nil)})
}

// values draws n numbers.
func (h *device) values(n int) (v []float32) {
	for range n {
		v = append(v, float32(h.rng.NormFloat64()))
	}
	return v
}

func (h *device) contribution(a *wire.Announcement, tip wire.Tip, kind survey.Kind,
	group uint32) []byte {
	p := &h.c.Plan
	r := wire.Reply{Kind: wire.Contribution, N: a.N, Tip: tip, Weight: 1, Loss: 1}
	if kind != survey.None {
		v := h.values(kind.Values())
		for i := range v { // a parabola
			x := float32(i) - float32(len(v))/2
			v[i] = 1 + 0.01*x*x + 0.0001*v[i]
		}
		r.Values, r.Rest = wire.AppendScalars(nil, v...), survey.Answer(kind)
		return r.Append(nil)
	}
	for block := range slices.Chunk(h.values(h.c.round.scalars), int(h.c.round.perturbations)) {
		r.Values = p.Precision.Append(r.Values, block...)
	}
	switch n, ok := h.c.controlScalars(h.c.Point.N); {
	case p.StepAuto > 0:
		r.Rest = survey.Slope(1)
	case wiregroups.Names(p):
		r.Rest = wiregroups.AppendReply(nil, group)
	case p.SendsControl() && ok:
		v := wire.ControlVariate{N: h.c.Point.N, Scalars: p.Precision.Append(nil, h.values(n)...)}
		r.Rest = v.Append(nil)
	}
	return r.Append(nil)
}

// upload sends a vector in one piece.
func (h *device) upload(a *wire.Announcement, tip wire.Tip) {
	data := wire.AppendScalars(nil, h.values(h.c.round.scalars)...)
	u := wire.Upload{N: a.N, Tip: tip, Weight: 1, Loss: 1, Size: uint64(len(data)),
		Digest: wire.HashObject(data), Data: data}
	h.send(Input{Kind: InUpload, Token: "to.u", Frame: u.Append(nil)})
}
