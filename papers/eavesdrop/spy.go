package eavesdrop

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/leak"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A spy keeps the messages that the coordinator receives.
type spy struct {
	plan *plan.Plan
	mu   sync.Mutex
	sent map[uint64]map[int]sentScalars // by record and slot
}

// sentScalars are the scalars that a device sent for a record.
type sentScalars struct {
	values []float32
	loss   float32
	group  uint32
}

func newSpy(p *plan.Plan) *spy {
	return &spy{plan: p, sent: map[uint64]map[int]sentScalars{}}
}

// heard stores the scalars of a reply.
func (s *spy) heard(slot int, frame []byte) {
	r, err := wire.DecodeReply(frame)
	if err != nil || r.Kind != wire.Contribution {
		return
	}
	one := sentScalars{values: decoded(s.plan, r.Values), loss: r.Loss}
	one.group, _ = grouping.OfReply(&r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[r.N] == nil {
		s.sent[r.N] = map[int]sentScalars{}
	}
	s.sent[r.N][slot] = one
}

// keepRounds forgets what devices sent for other records than rounds. Answers to a survey are
// contributions too, but their values are no slopes and have another precision.
func (s *spy) keepRounds(ctx context.Context, result *run.Result) error {
	rounds := map[uint64]bool{}
	err := result.Log.Read(ctx, 1, func(n uint64, record []byte) bool {
		one, err := wire.DecodeRecord(record)
		rounds[n] = err == nil && one.Kind == wire.KindRound
		return true
	})
	maps.DeleteFunc(s.sent, func(n uint64, _ map[int]sentScalars) bool { return !rounds[n] })
	return err
}

func decoded(p *plan.Plan, scalars wire.Scalars) []float32 {
	values := make([]float32, p.Perturbations)
	p.Precision.Decode(values, scalars, 0)
	return values
}

// source returns the owner of the directions for which the device computed its scalars.
func (s *spy) source(slot int, one *sentScalars) uint32 {
	switch s.plan.Sharing {
	case plan.SharedDirections:
		return prng.Shared
	case plan.GroupDirections:
		return prng.Slot(one.group)
	}
	return prng.Slot(uint32(slot))
}

// pupils is the number of images of each label that the attacker has. These are test images,
// which no device has.
const pupils = 30

// A reader replays a log, and evaluates the model on the attacker's images.
type reader struct {
	spy     *spy
	replica *replica.Replica
	model   *softmax.Classifier
	images  [labelCount][]int
	slopes  map[uint32][][]float64 // of the next record, by source
	grads   [][]float32
}

func newReader(s *spy, set *lab.Set) *reader {
	r := &reader{spy: s, replica: replica.New(replica.Config{Run: s.plan.Run, Workers: 1}),
		model: softmax.New(set.Test, set.Mean, set.Std)}
	for i, label := range set.Test.Labels {
		if len(r.images[label]) < pupils {
			r.images[label] = append(r.images[label], i)
		}
	}
	return r
}

// read calls see with each round, while the replica has the state before it.
func (r *reader) read(ctx context.Context, result *run.Result,
	see func(n uint64, round *wire.Round)) error {
	var failed error
	err := result.Log.Read(ctx, 1, func(n uint64, record []byte) bool {
		one, err := wire.DecodeRecord(record)
		if err == nil && one.Kind == wire.KindRound {
			r.slopes, r.grads = map[uint32][][]float64{}, nil
			see(n, one.Round)
		}
		if err == nil {
			err = r.replica.Apply(record)
		}
		failed = err
		return err == nil
	})
	err = cmp.Or(err, failed)
	return err
}

// slopesOf returns the scalars that devices with one label each would send for record n, by scalar
// and label.
func (r *reader) slopesOf(n uint64, source uint32) [][]float64 {
	if r.slopes[source] != nil {
		return r.slopes[source]
	}
	dim := r.model.Dim()
	if r.grads == nil {
		params := r.replica.Params()
		for _, images := range r.images {
			g := make([]float32, dim)
			if len(images) > 0 {
				r.model.Gradient(g, params, images)
			}
			r.grads = append(r.grads, g)
		}
	}
	list := make([][]float64, r.spy.plan.Perturbations)
	for p := range list {
		direction := r.replica.Direction(n, 0, p, source)
		z, scale, _, _ := r.replica.Parts(&direction)
		list[p] = make([]float64, labelCount)
		for c, g := range r.grads {
			for from := 0; from < dim; from += prng.BlockLen {
				part := r.replica.Dot(g[from:min(from+prng.BlockLen, dim)], z, uint32(from/prng.BlockLen))
				list[p][c] += float64(scale) * part
			}
		}
	}
	r.slopes[source] = list
	return list
}

// observed returns the part of a round that a view sees.
func (r *reader) observed(of sight, n uint64, round *wire.Round) (list []leak.Observation) {
	sent, everyone := r.spy.sent[n], []int(nil)
	for slot := range sent {
		everyone = append(everyone, slot)
	}
	slices.Sort(everyone)
	add := func(devices []int, source uint32, scalars []float64) {
		list = append(list, leak.Observation{Devices: devices, Slopes: r.slopesOf(n, source),
			Scalars: scalars, Clip: float64(r.spy.plan.DPClip)})
	}
	switch of {
	case eachDevice:
		for _, slot := range everyone {
			one := sent[slot]
			o := leak.Observation{Devices: []int{slot}, Slopes: r.slopesOf(n, r.spy.source(slot, &one)),
				Scalars: doubles(one.values)}
			if device, _ := r.spy.plan.Noisy(); device {
				o.Clip = float64(r.spy.plan.DPClip)
			}
			list = append(list, o)
		}
	case theLog:
		for _, t := range round.Terms {
			p := r.spy.plan
			add(r.members(sent, everyone, t.Source), t.Source,
				doubles(p.TermPrecision().Read(t.Scalars, 1, int(p.Perturbations))))
		}
	case theSum:
		mean := make([]float64, r.spy.plan.Perturbations)
		for _, slot := range everyone {
			for p, v := range sent[slot].values {
				mean[p] += float64(v) / float64(len(everyone))
			}
		}
		add(everyone, prng.Shared, mean)
	}
	return list
}

// members returns the devices over which a term of a record takes the mean. Announcements name
// them.
func (r *reader) members(sent map[int]sentScalars, everyone []int, source uint32) (list []int) {
	for _, slot := range everyone {
		one := sent[slot]
		if r.spy.source(slot, &one) == source {
			list = append(list, slot)
		}
	}
	return list
}

func doubles(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
