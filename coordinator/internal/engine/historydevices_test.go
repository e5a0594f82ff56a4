package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/coordinator/internal/engine"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

const devices = 6

func id(device int) string { return fmt.Sprint("d", device) }

// A fleet holds what devices keep. For secure aggregation, that is the steps of the attempt.
type fleet struct {
	attempt secagg.Attempt
	members map[int]*secagg.Device
	given   map[int][]byte
	step    map[int]secagg.Step // the next one
	words   map[int][]uint32
}

// act makes a device do what a real device would most likely do.
func (f *fleet) act(w *walk, device int) engine.Input {
	switch {
	case w.plan.Secure > 0:
		return f.mask(w, device)
	case w.now.SendsVectors() && w.now.Peek().Survey == survey.None:
		return w.upload(device)
	}
	return w.contribute(device)
}

// contribute answers the open record.
func (w *walk) contribute(device int) engine.Input {
	r := w.contribution(device, w.now.N+1, opened{w.now.Hash.Tip(), w.now.Peek().Scalars,
		w.now.Peek().Perturbations})
	return engine.Input{Kind: engine.InReply, ID: id(device), Frame: r.Append(nil)}
}

// late answers a closed record, or any record.
func (w *walk) late(device int) engine.Input {
	n := max(w.now.N, 3) + 1 - w.rng.Uint64N(4)
	r := w.contribution(device, n, w.past[n])
	return engine.Input{Kind: engine.InReply, ID: id(device), Frame: r.Append(nil)}
}

// contribution returns a device's contribution: a signal that all devices share, plus noise. Some
// devices lie now and then.
func (w *walk) contribution(device int, n uint64, at opened) *wire.Reply {
	p := w.now.Peek()
	r := &wire.Reply{Kind: wire.Contribution, N: n, Tip: at.tip, Loss: w.rng.Float32(),
		Weight: 1 + uint32(device)*3}
	if w.grows {
		r.Loss *= float32(w.now.N)
	}
	if w.rng.IntN(8) == 0 {
		r.Weight = 1 + w.rng.Uint32N(1<<20)
	}
	scale := 1.0
	switch {
	case device == 0 && w.rng.IntN(2) == 0:
		scale = -40
	case w.rng.IntN(10) == 0:
		scale = math.Exp(3 * w.rng.NormFloat64())
	}
	kind := p.Survey
	if kind != survey.None && n == w.now.N+1 {
		w.answer(r, kind)
		return r
	}
	v := make([]float32, at.scalars)
	for i := range v {
		v[i] = float32(scale * (1 + 0.5*w.rng.NormFloat64()))
		if w.rng.IntN(20) == 0 {
			v[i] = float32(math.Copysign(0, w.rng.NormFloat64()))
		}
	}
	w.encode(r, v, max(at.perturbations, 1))
	w.tail(r, device, v)
	return r
}

// answer answers a survey with a parabola, or with shares of classes.
func (w *walk) answer(r *wire.Reply, kind survey.Kind) {
	v := make([]float32, kind.Values())
	for i := range v {
		x := float64(i) - float64(len(v))/2
		v[i] = float32(1 + 0.01*x*x + 0.001*w.rng.NormFloat64())
	}
	if kind == survey.Sketch && w.plan.Classes > 0 {
		clear(v)
		v[0] = w.rng.Float32()
		v[1] = 1 - v[0]
	}
	r.Values, r.Rest = wire.AppendScalars(nil, v...), survey.Answer(kind)
}

// encode appends the scalars in the plan's encoding.
func (w *walk) encode(r *wire.Reply, v []float32, perturbations int) {
	plan := &w.now.Plan
	for block := 0; block < len(v); block += perturbations {
		some := v[block:min(block+perturbations, len(v))]
		if plan.Classes > 0 {
			last := -1
			for class := range plan.Classes {
				if w.rng.IntN(3) == 0 && class+1 < plan.Classes {
					continue
				}
				r.Values = perclass.Append(r.Values, last, perclass.Part{Class: class,
					Count: 1 + w.rng.Uint32N(9), Scalars: plan.Precision.Append(nil, some...)})
				last = int(class)
			}
			continue
		}
		r.Values = plan.Precision.Append(r.Values, some...)
	}
}

// tail appends the part of a contribution after its scalars.
func (w *walk) tail(r *wire.Reply, device int, v []float32) {
	p, plan := w.now.Peek(), &w.now.Plan
	switch {
	case plan.StepAuto > 0:
		r.Rest = survey.Slope(w.rng.Float32())
	case p.Group != nil && w.rng.IntN(8) > 0:
		if g, ok := p.Group(uint32(device)); ok {
			r.Rest = wiregroups.AppendReply(nil, g)
		}
	case plan.SendsControl() && r.N > 2 && w.rng.IntN(4) > 0:
		c := wire.ControlVariate{N: 1 + w.rng.Uint64N(r.N-1)}
		if w.rng.IntN(3) > 0 && w.now.Point.N > 0 {
			c.N = w.now.Point.N
		}
		n, ok := p.Controls(c.N)
		if !ok {
			n = 2
		}
		for range n {
			c.Scalars = plan.Precision.Append(c.Scalars, float32(2*w.rng.NormFloat64()))
		}
		r.Rest = c.Append(nil)
	}
}

// fault sends a message that no device sends, or a message to a record that is not open.
func (w *walk) fault(device int) engine.Input {
	r := w.contribution(device, w.now.N+1, opened{w.now.Hash.Tip(), w.now.Peek().Scalars,
		w.now.Peek().Perturbations})
	switch w.rng.IntN(9) {
	case 0:
		r.Tip[0]++
	case 1:
		r.N++
	case 2:
		r.Values = r.Values[len(r.Values)/2:]
	case 3:
		r.Values = append(r.Values, 1, 2, 3, 4)
	case 4:
		r.Loss = float32(math.NaN())
	case 5:
		if len(r.Values) > 3 {
			copy(r.Values, wire.AppendScalars(nil, float32(math.Inf(1))))
		}
	case 6:
		r.Rest = survey.Answer(survey.Mu)
	case 7:
		r.Rest = []byte{0xc1}
	case 8:
		frame := r.Append(nil)
		return engine.Input{Kind: engine.InReply, ID: id(device),
			Frame: frame[:w.rng.IntN(len(frame))]}
	}
	return engine.Input{Kind: engine.InReply, ID: id(device), Frame: r.Append(nil)}
}

// upload sends a piece of a vector, or all of it.
func (w *walk) upload(device int) engine.Input {
	n := w.now.Peek().Scalars
	rng := rand.New(rand.NewPCG(w.now.N, uint64(device)))
	var data wire.Scalars
	for range n {
		data = wire.AppendScalars(data, float32(rng.NormFloat64()))
	}
	u := wire.Upload{N: w.now.N + 1, Tip: w.now.Hash.Tip(), Weight: 1 + uint32(device)*5,
		Loss: rng.Float32(), Size: uint64(len(data)), Digest: wire.HashObject(data), Data: data}
	if device == 0 {
		u.Weight = 1 << 18
	}
	switch w.rng.IntN(12) {
	case 0:
		u.Data = data[:len(data)/2]
	case 1:
		u.Offset, u.Data = uint64(len(data)/2), data[len(data)/2:]
	case 2:
		u.Digest[0]++
	case 3:
		u.Tip[0]++
	case 4:
		u.N--
	case 5:
		u.Size += 4
	}
	return engine.Input{Kind: engine.InUpload, ID: id(device), Token: "to." + id(device),
		Frame: u.Append(nil)}
}

// mask makes a device take its next step of secure aggregation.
func (f *fleet) mask(w *walk, device int) engine.Input {
	p := w.now.Peek()
	if !p.Open || p.Halted {
		return engine.Input{Kind: engine.InTick}
	}
	if a := secagg.Of(w.plan.Run, &p.Head, w.now.Hash.Tip(), p.Scalars); f.members == nil ||
		f.attempt.Nonce() != a.Nonce() {
		f.begin(w, a)
	}
	d, in := f.members[device]
	if !in {
		return w.decline(device)
	}
	body, err := []byte(nil), error(nil)
	switch step := f.step[device]; {
	case step == secagg.StepKeys:
		body = d.Keys()
	case f.given[device] == nil:
	case step == secagg.StepShares:
		body, err = d.Shares(f.given[device])
	case step == secagg.StepMask:
		body, err = d.Mask(f.given[device], f.words[device])
	case step == secagg.StepAgree:
		body, err = d.Agree(f.given[device])
	case step == secagg.StepUnmask:
		body, err = d.Unmask(f.given[device])
	}
	if err != nil || body == nil {
		return engine.Input{Kind: engine.InTick}
	}
	r := secagg.Request{N: f.attempt.N, Nonce: f.attempt.Nonce(), Step: f.step[device], Body: body}
	return engine.Input{Kind: engine.InStep, ID: id(device), Frame: r.Append(nil),
		Token: fmt.Sprint("step.", device)}
}

// begin makes all members of an attempt draw keys. No device can take part in an attempt with one
// member.
func (f *fleet) begin(w *walk, a secagg.Attempt) {
	f.attempt, f.members = a, map[int]*secagg.Device{}
	f.given, f.step, f.words = map[int][]byte{}, map[int]secagg.Step{}, map[int][]uint32{}
	round := a.Round(w.plan)
	if len(round.Members) < 2 {
		return
	}
	scalars, loss := secagg.Codings(w.plan, len(round.Members))
	for _, slot := range round.Members {
		seed := [32]byte{byte(slot), byte(a.N), byte(a.Number), byte(w.epoch)}
		d, err := secagg.NewDevice(round, slot, rand.NewChaCha8(seed), nil)
		w.must(err)
		f.members[int(slot)], f.step[int(slot)] = d, secagg.StepKeys
		for range a.Words - 1 {
			word, _, err := scalars.Word(float32(w.rng.NormFloat64()), 1)
			w.must(err)
			f.words[int(slot)] = append(f.words[int(slot)], word)
		}
		word, _, err := loss.Word(w.rng.Float32(), 1)
		w.must(err)
		f.words[int(slot)] = append(f.words[int(slot)], word)
	}
}

// answer takes the answer to a step.
func (f *fleet) answer(w *walk, o engine.Output) {
	var device int
	if _, err := fmt.Sscanf(o.Token, "step.%d", &device); err != nil || f.members == nil {
		return
	}
	a, err := secagg.DecodeAnswer(o.Frame)
	w.must(err)
	if a.State == secagg.Next && a.Nonce == f.attempt.Nonce() && a.Step == f.step[device] {
		f.given[device] = a.Body
		f.step[device]++
		if f.step[device] == secagg.StepAgree && w.plan.SecureLists == 0 {
			f.step[device]++
		}
	}
}
