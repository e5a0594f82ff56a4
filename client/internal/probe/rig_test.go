package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// A rig runs rounds with transport=dense without a network. Its members have replicas of their own,
// and the rig averages what they send as a coordinator does.
type rig struct {
	t       testing.TB
	plan    *plan.Plan
	log     [][]byte
	rounds  uint64
	clients []*member
	warned  bytes.Buffer // what the probers logged
	objects [][]byte     // of the log's records, nil for the plan
}

// A member is a device: its prober and its replica.
type member struct {
	*Prober
	replica *replica.Replica
	slot    uint32
}

func newRig(t testing.TB, p *plan.Plan, objectives ...objective.Objective) *rig {
	t.Helper()
	r := &rig{t: t, plan: p}
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	r.append(wire.Record{Kind: wire.KindPlan, Plan: p}, nil)
	for i, o := range objectives {
		r.clients = append(r.clients, r.client(i, o))
	}
	return r
}

// client makes a member that has caught up.
func (r *rig) client(i int, o objective.Objective) *member {
	r.t.Helper()
	c := &member{
		Prober: New(Config{
			Objective: o, Dim: o.Dim(), ID: fmt.Sprintf("d%d", i), Workers: 2,
			Logger: slog.New(slog.NewTextHandler(&r.warned, nil)),
		}),
		replica: replica.New(replica.Config{Run: r.plan.Run, Dim: r.plan.Dim}),
		slot:    uint32(i),
	}
	for n := range r.log {
		r.apply(c, n)
	}
	r.t.Cleanup(c.Close)
	return c
}

// append commits a record, with its vector.
func (r *rig) append(record wire.Record, object []byte) {
	record.N, record.Prev = uint64(len(r.log))+1, wire.Genesis(r.plan.Run)
	if len(r.log) > 0 {
		record.Prev = wire.HashRecord(r.log[len(r.log)-1])
	}
	r.log, r.objects = append(r.log, record.Append(nil)), append(r.objects, object)
	for _, c := range r.clients {
		r.apply(c, len(r.log)-1)
	}
}

// apply applies a record to a client's replica.
func (r *rig) apply(c *member, i int) {
	r.t.Helper()
	if err := c.replica.Apply(r.log[i]); err != nil {
		r.t.Fatal(err)
	}
	if b := r.objects[i]; b != nil {
		if err := c.replica.Supply(wire.HashObject(b), b); err != nil {
			r.t.Fatal(err)
		}
	}
}

// work makes a member do its part of the next record, and returns a copy of the member's vector.
func (r *rig) work(c *member) ([]float32, float64, error) {
	c.Prepare(c.replica)
	result, err := c.Run(r.t.Context(), c.replica, c.Task(c.replica, r.announcement(), c.slot, 0))
	return append([]float32(nil), result.Vector...), result.Loss, err
}

func (r *rig) announcement() *wire.Announcement {
	return &wire.Announcement{
		N: uint64(len(r.log)) + 1, StepSize: r.plan.StepSizeAt(r.rounds + 1),
		Perturbations: r.plan.PerturbationsAt(r.rounds + 1),
	}
}

// round makes one record, to which the given clients contribute; none given: all clients. round
// returns what they sent.
func (r *rig) round(in ...*member) [][]float32 {
	r.t.Helper()
	if len(in) == 0 {
		in = r.clients
	}
	var sent [][]float32
	for _, c := range in {
		v, _, err := r.work(c)
		if err != nil {
			r.t.Fatal(err)
		}
		sent = append(sent, v)
	}
	r.commit(meanOf(sent))
	return sent
}

// commit commits a record with a mean.
func (r *rig) commit(mean []float32) {
	phase := r.clients[0].replica.Phase()
	if phase != 2 {
		r.rounds++
	}
	a := r.announcement()
	if phase == 2 {
		a.StepSize, a.Perturbations = r.plan.StepSizeAt(r.rounds), r.plan.PerturbationsAt(r.rounds)
	}
	object := make([]byte, 0, 4*len(mean))
	for _, v := range mean {
		object = binary.LittleEndian.AppendUint32(object, math.Float32bits(v))
	}
	digest := wire.HashObject(object)
	r.append(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
		Round: r.rounds, Phase: phase, StepSize: a.StepSize, Perturbations: a.Perturbations,
		Contributors: 1,
		Object:       digest[:],
	}}, object)
}

func meanOf(sent [][]float32) []float32 {
	mean := make([]float32, len(sent[0]))
	for i := range mean {
		var sum mathx.ExactSum
		for _, v := range sent {
			sum.Add(v[i], 1)
		}
		mean[i] = sum.Mean(uint64(len(sent)))
	}
	return mean
}

// params returns the model of the first client.
func (r *rig) params() []float32 { return r.clients[0].replica.Params() }

// A slopes is the quadratic function sum of curve/2 (x-center)^2, and counts its queries.
type slopes struct {
	curve, center []float64
	low, high     float32 // what queries must be within
	queries       int
	outside       int
	mood          func(query int) float64 // not nil: returns the loss instead, unless 0
}

func (s *slopes) Dim() int { return len(s.curve) }

func (s *slopes) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	s.queries++
	f := s.value(x)
	for i, v := range x {
		if s.high > s.low && (v < s.low || v > s.high) {
			s.outside++
		}
		x[i] = float32(math.NaN()) // the app may write to x: the client ignores it
	}
	if s.mood != nil {
		if v := s.mood(s.queries); v != 0 {
			return v, nil
		}
	}
	return f, nil
}

func (s *slopes) value(x []float32) float64 {
	f := 0.0
	for i, v := range x {
		d := float64(v) - s.center[i]
		f += s.curve[i] / 2 * d * d
	}
	return f
}

// newSlopes returns the slopes objective of one device.
func newSlopes(d, device int, spread float64) *slopes {
	s := &slopes{}
	for i := range d {
		s.curve = append(s.curve, 1+0.5*math.Sin(float64(i+3*device)))
		s.center = append(s.center, 0.3*math.Cos(float64(i))+spread*math.Sin(float64(2*i+5*device)))
	}
	return s
}

// densePlan returns the plan of a preset, edited, for d parameters.
func densePlan(t testing.TB, name string, d int, fields ...string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "rig", uint64(d))
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.DigestEvery = make(plan.Bytes, 32), 0
	for _, f := range fields {
		name, text, _ := strings.Cut(f, "=")
		if err := planfile.Set(p, name, text); err != nil {
			t.Fatal(err)
		}
	}
	return p
}
