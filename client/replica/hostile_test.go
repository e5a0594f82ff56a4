package replica

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// hostilePlans has a plan for each kind of record.
var hostilePlans = map[string]string{
	"mean":  `{"dim":50,"steps":2,"perturbations":3}`,
	"relay": `{"dim":50,"steps":2,"perturbations":3,"sharing":"per-client","transport":"relay"}`,
	"samples": `{"dim":50,"steps":2,"sharing":"per-client","transport":"relay",` +
		`"weights":"samples","distribution":"sphere"}`,
	"point": `{"dim":50,"steps":2,"perturbations":3,"control":"scaffold-1",` +
		`"precision":"half","max_scalar":6e4}`,
	"variates": `{"dim":50,"steps":2,"perturbations":3,"control":"scaffold-2",` +
		`"distribution":"rademacher"}`,
	"subspace": `{"dim":50,"distribution":"subspace","subspace_moves":2,"subspace_share":0.5,` +
		`"server_rule":"yogi","server_step":0.02,"server_beta1":0.9,"server_beta2":0.99,` +
		`"server_epsilon":1e-8}`,
	"pool": `{"dim":50,"steps":2,"perturbations":2,"pool":9,"rebase":2,"rule":"momentum",` +
		`"beta":0.5,"prox":1}`,
	"signs": `{"dim":50,"perturbations":9,"pool":9,"rebase":3,"distribution":"rademacher"}`,
	"private": `{"dim":50,"steps":2,"control":"scaffold-1","distribution":"subspace",` +
		`"subspace_moves":2,"subspace_share":0.5,"key_check":"00"}`,
	"amsgrad": `{"dim":50,"distribution":"sphere","server_rule":"amsgrad","server_step":0.02,` +
		`"server_beta1":0.9,"server_beta2":0.99,"server_epsilon":1e-8}`,
	"server": `{"dim":50,"precision":"half","max_scalar":6e4,"server_rule":"sign",` +
		`"server_step":0.02}`,
	"dense": `{"dim":50,"transport":"dense","dense_keep":4,"distribution":"sphere",` +
		`"sharing":"per-client"}`,
	"dense1": `{"dim":50,"transport":"dense","dense_keep":4,"control":"scaffold-1"}`,
	"dense2": `{"dim":50,"transport":"dense","dense_keep":4,"control":"scaffold-2"}`,
	"surrogate": `{"dim":50,"transport":"dense","dense_keep":4,"estimator":"surrogate",` +
		`"features":7,"length_scale":1,"noise":1e-6,"window":9,"active":1,"candidates":2,"radius":0.1}`,
	"late": `{"dim":50,"steps":2,"perturbations":3,"late":3}`,
	"late relay": `{"dim":50,"steps":2,"perturbations":3,"late":3,"sharing":"per-client",` +
		`"transport":"relay"}`,
	"normalized": `{"dim":50,"perturbations":3,"sharing":"per-client","transport":"relay",` +
		`"weights":"samples","max_weight":9,"late":2,"server_rule":"normalized",` +
		`"server_beta1":0.9,"server_beta2":0.99,"server_decay":0.5}`,
	"bits": `{"dim":50,"steps":2,"perturbations":3,"sharing":"per-client","transport":"relay",` +
		`"precision":"int4","max_scalar":6e4}`,
	"tauOfMany": `{"dim":3,"distribution":"subspace","subspace_moves":64,"subspace_share":0.5}`,
}

// hostileScript returns a run of one of these plans with a few rounds.
func hostileScript(t testing.TB, name string, rounds int) *script {
	t.Helper()
	p := planOf(t, hostilePlans[name])
	if p.Private() {
		p.KeyCheck = plan.KeyCheck(secret)
	}
	s := newScript(p)
	for n := range uint64(rounds) {
		s.round(n + 1)
	}
	return s
}

// after returns the replica after the first records of a script.
func after(t testing.TB, s *script, records int) *Replica {
	t.Helper()
	r := New(s.cfg)
	if n, err := r.ApplyAll(s.records[:records]); err != nil {
		t.Fatalf("record %d: %v", n, err)
	}
	s.supply(t, r)
	return r
}

// hostileRounds are impossible under their plans.
var hostileRounds = []struct {
	plan, name string
	edit       func(r *wire.Round)
}{
	{"mean", "phase 1", func(r *wire.Round) { r.Phase = 1 }},
	{"mean", "phase 2", func(r *wire.Round) { r.Phase = 2 }},
	{"mean", "weights", func(r *wire.Round) { r.Weights = []uint32{1} }},
	{"mean", "population", func(r *wire.Round) { r.Population = 9 }},
	{"mean", "an older term", func(r *wire.Round) {
		r.Terms = append(r.Terms, wire.Term{Back: 1, Scalars: zeros(6)})
	}},
	{"mean", "more P than scalars", func(r *wire.Round) { r.Perturbations = math.MaxUint16 }},
	{"relay", "a weight", func(r *wire.Round) { r.Weights = []uint32{1} }},
	{"relay", "shared term", func(r *wire.Round) { r.Terms[0].Source = prng.Shared }},
	{"relay", "older term", func(r *wire.Round) { r.Terms[len(r.Terms)-1].Back = 1 }},
	{"relay", "scalars of one step", func(r *wire.Round) { r.Terms[0].Scalars = zeros(3) }},
	{"relay", "no scalars", func(r *wire.Round) { r.Terms[0].Scalars = nil }},
	{"relay", "no terms", func(r *wire.Round) { r.Terms = nil }},
	{"samples", "no weights", func(r *wire.Round) { r.Weights = nil }},
	{"samples", "a weight more", func(r *wire.Round) { r.Weights = append(r.Weights, 1) }},
	{"point", "phase 0", func(r *wire.Round) { r.Phase = 0 }},
	{"point", "phase 2 first", func(r *wire.Round) { r.Phase = 2 }},
	{"point", "correction in phase 1", func(r *wire.Round) {
		r.Terms = append(r.Terms, wire.Term{Back: 1, Scalars: r.Terms[0].Scalars})
	}},
	{"point", "half of a half", func(r *wire.Round) { r.Terms[0].Scalars = r.Terms[0].Scalars[:4] }},
	{"variates", "no contributors", func(r *wire.Round) { r.Contributors = 0 }},
	{"variates", "no population", func(r *wire.Round) { r.Population = 0 }},
	{"variates", "population below contributors", func(r *wire.Round) {
		r.Contributors, r.Population = 4, 3
	}},
	{"variates", "a slot's variate", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Source: 1, Scalars: zeros(6)})
	}},
	{"variates", "a variate without scalars", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1})
	}},
	{"variates", "a variate of half a step", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Scalars: zeros(3)})
	}},
	{"variates", "a variate of the present", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Source: 1, Scalars: zeros(6)})
	}},
	{"mean", "late work", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Scalars: zeros(6)})
	}},
	{"relay", "late work", func(r *wire.Round) {
		r.Terms = append(r.Terms, wire.Term{Back: 1, Source: 1, Scalars: zeros(6)})
	}},
	{"late", "late work without a mean", func(r *wire.Round) {
		r.Terms = []wire.Term{{Back: 1, Scalars: zeros(6)}}
	}},
	{"late", "late work of a slot", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Source: 1, Scalars: zeros(6)})
	}},
	{"late", "late work of half a step", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Scalars: zeros(3)})
	}},
	{"late", "late work without scalars", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1})
	}},
	{"late", "a second mean", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Source: 1, Scalars: zeros(6)})
	}},
	{"late relay", "late work of nobody", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Scalars: zeros(6)})
	}},
	{"late relay", "late work of half a step", func(r *wire.Round) {
		r.Terms = append(r.Terms[:1], wire.Term{Back: 1, Source: 1, Scalars: zeros(3)})
	}},
	{"bits", "an unused bit", func(r *wire.Round) { r.Terms[0].Scalars[3] |= 0x80 }},
	{"bits", "an unused bit of step 1", func(r *wire.Round) { r.Terms[0].Scalars[7] |= 0x10 }},
	{"bits", "a negative scale", func(r *wire.Round) { r.Terms[0].Scalars[1] |= 0x80 }},
	{"bits", "an infinite scale", func(r *wire.Round) {
		copy(r.Terms[0].Scalars[4:], []byte{0, 0x7c})
	}},
	{"bits", "a scale that is no number", func(r *wire.Round) {
		copy(r.Terms[0].Scalars[4:], []byte{1, 0x7c})
	}},
	{"bits", "codes without a scale", func(r *wire.Round) {
		copy(r.Terms[0].Scalars, []byte{0, 0, 1})
	}},
	{"bits", "as long with another P", func(r *wire.Round) { r.Perturbations = 2 }},
	{"bits", "one step", func(r *wire.Round) { r.Terms[0].Scalars = r.Terms[0].Scalars[:4] }},
	{"bits", "late work", func(r *wire.Round) {
		r.Terms = append(r.Terms, wire.Term{Back: 1, Source: 1, Scalars: r.Terms[0].Scalars})
	}},
	{"mean", "an object", func(r *wire.Round) { r.Object = make(plan.Bytes, wire.ObjectLen) }},
	{"point", "an object", func(r *wire.Round) { r.Object = make(plan.Bytes, wire.ObjectLen) }},
	{"dense", "no object", func(r *wire.Round) { r.Object = nil }},
	{"dense", "a term", func(r *wire.Round) { r.Terms = []wire.Term{{Scalars: zeros(1)}} }},
	{"dense", "an empty term", func(r *wire.Round) { r.Terms = []wire.Term{{}} }},
	{"dense", "slots", func(r *wire.Round) { r.Slots = []uint32{0} }},
	{"dense", "weights", func(r *wire.Round) { r.Weights = []uint32{1} }},
	{"dense", "population", func(r *wire.Round) { r.Population = 9 }},
	{"dense", "phase 1", func(r *wire.Round) { r.Phase = 1 }},
	{"mean", "a factor", func(r *wire.Round) { r.Factor = 0.5 }},
	{"normalized", "a factor", func(r *wire.Round) { r.Factor = 0.5 }},
	{"normalized", "step -1", func(r *wire.Round) { r.StepSize = -1 }},
	{"server", "factor -1", func(r *wire.Round) { r.Factor = -1 }},
	{"server", "step 0", func(r *wire.Round) { r.StepSize = 0 }},
	{"dense", "a factor", func(r *wire.Round) { r.Factor = 2 }},
	{"dense", "step 0", func(r *wire.Round) { r.StepSize = 0 }},
	{"dense1", "phase 0", func(r *wire.Round) { r.Phase = 0 }},
	{"dense1", "phase 2 first", func(r *wire.Round) { r.Phase = 2 }},
	{"dense1", "no object", func(r *wire.Round) { r.Object = nil }},
	{"dense2", "phase 2", func(r *wire.Round) { r.Phase = 2 }},
	{"dense2", "population", func(r *wire.Round) { r.Population = 9 }},
	{"surrogate", "phase 0", func(r *wire.Round) { r.Phase = 0 }},
	{"surrogate", "phase 2 first", func(r *wire.Round) { r.Phase = 2 }},
	{"subspace", "a round left out", func(r *wire.Round) { r.Round++ }},
	{"subspace", "round 0", func(r *wire.Round) { r.Round = 0 }},
	{"pool", "a round twice", func(r *wire.Round) { r.Round-- }},
	{"pool", "the last round of all", func(r *wire.Round) { r.Round = math.MaxInt64 }},
}

// zeros are n scalars.
func zeros(n int) wire.Scalars { return wire.AppendScalars(nil, make([]float32, n)...) }

// A replica refuses a round that is impossible under the plan. The error says why, and the state
// does not change.
func TestHostileRounds(t *testing.T) {
	for _, tt := range hostileRounds {
		t.Run(tt.plan+": "+tt.name, func(t *testing.T) {
			s := hostileScript(t, tt.plan, 3)
			r := after(t, s, len(s.records))
			record := hostileRecord(t, s, tt.edit)
			refuses(t, r, record, wire.ErrValue)
			for _, record := range s.records[r.N():] {
				mustApply(t, r, record)
			}
		})
	}
}

// hostileRecord adds a fourth round to s, and returns its first record as edit makes it.
func hostileRecord(t *testing.T, s *script, edit func(*wire.Round)) []byte {
	t.Helper()
	at, n := *s.chain, len(s.records)
	s.round(4)
	rec, err := wire.DecodeRecord(bytes.Clone(s.records[n]))
	if err != nil {
		t.Fatal(err)
	}
	edit(rec.Round)
	return at.add(rec)
}

// A replica refuses a phase 2 that does not follow its phase 1, or has another number of scalars.
func TestHostilePhases(t *testing.T) {
	s := hostileScript(t, "point", 1)
	s.round(2) // with a change between its phases
	r := after(t, s, len(s.records)-1)
	at := chain{r.N(), r.Hash()}
	good, err := wire.DecodeRecord(s.records[r.N()])
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(r *wire.Round){
		"phase 1 again": func(r *wire.Round) {
			r.Phase, r.Terms = 1, []wire.Term{{Scalars: r.Terms[1].Scalars}}
		},
		"phase 0":         func(r *wire.Round) { r.Phase = 0 },
		"no correction":   func(r *wire.Round) { r.Terms = r.Terms[:1] },
		"the change":      func(r *wire.Round) { r.Terms[1].Back = 1 },
		"an older record": func(r *wire.Round) { r.Terms[1].Back = 3 },
		"fewer scalars":   func(r *wire.Round) { r.Terms[1].Scalars = r.Terms[1].Scalars[:4] },
		"two corrections": func(r *wire.Round) {
			r.Terms = append(r.Terms, wire.Term{Back: 3, Scalars: r.Terms[1].Scalars})
		},
		"a slot's": func(r *wire.Round) { r.Terms[1].Source = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			rec, here, round := good, at, *good.Round
			round.Terms = append([]wire.Term(nil), round.Terms...)
			rec.Round = &round
			edit(&round)
			refuses(t, r, here.add(rec), wire.ErrValue)
		})
	}
	mustApply(t, r, s.records[r.N()])
}

// For a control variate that cannot exist, Correct returns an error and does not write dst.
func TestHostileCorrections(t *testing.T) {
	for _, tt := range []struct {
		plan    string
		records int // before it
		own     wire.ControlVariate
	}{
		{"mean", 2, wire.ControlVariate{}},
		{"point", 1, wire.ControlVariate{}}, // phase 1
		{"point", 2, wire.ControlVariate{N: 1, Scalars: make(wire.Scalars, 6)}},
		{"point", 2, wire.ControlVariate{N: 2, Scalars: make(wire.Scalars, 4)}},
		{"point", 2, wire.ControlVariate{N: 2, Scalars: make(wire.Scalars, 5)}},
		{"point", 2, wire.ControlVariate{N: 2}},
		{"variates", 3, wire.ControlVariate{N: 2, Scalars: make(wire.Scalars, 12)}},
		{"variates", 3, wire.ControlVariate{N: 2, Scalars: make(wire.Scalars, 7)}},
		{"variates", 3, wire.ControlVariate{N: 1, Scalars: make(wire.Scalars, 24)}},
		{"variates", 3, wire.ControlVariate{N: 0, Scalars: make(wire.Scalars, 24)}},
		{"variates", 3, wire.ControlVariate{N: 4, Scalars: make(wire.Scalars, 24)}},
		{"variates", 3, wire.ControlVariate{N: 2, Scalars: make(wire.Scalars, 8*(1<<17))}},
	} {
		r := after(t, hostileScript(t, tt.plan, 3), tt.records)
		dst := []float32{50: 0}[:50]
		dst[7] = 7
		if err := r.Correct(dst, tt.own); !errors.Is(err, wire.ErrValue) || dst[7] != 7 {
			t.Errorf("%s, %d bytes of record %d: got %v, want %v",
				tt.plan, len(tt.own.Scalars), tt.own.N, err, wire.ErrValue)
		}
	}
}

// Scalars that no device can have computed fill the state with NaNs. The NaNs have one encoding in
// digest and file, and the basis becomes zero.
func TestHostileScalars(t *testing.T) {
	nan := math.Float32frombits(0xffc54321)
	for name := range hostilePlans {
		for _, bad := range []float32{nan, float32(math.Inf(-1)), math.MaxFloat32, 1e-45} {
			s := hostileScript(t, name, 1)
			if s.plan.Transport == plan.DenseVectors {
				continue // it has no scalars
			}
			r := after(t, s, len(s.records))
			for n := uint64(2); n < 8; n++ {
				s.round(n)
				for _, b := range s.records[r.N():] {
					rec, err := wire.DecodeRecord(bytes.Clone(b))
					if err != nil {
						t.Fatal(err)
					}
					here, sound := chain{r.N(), r.Hash()}, true
					if rec.Round != nil {
						for _, term := range rec.Round.Terms {
							block := s.plan.Precision.Append(nil, bad)
							copy(term.Scalars, block)
							sound = sound && s.plan.Precision.Fits(block, 1, 1)
						}
					}
					if !sound { // the scale is not finite
						refuses(t, r, here.add(rec), wire.ErrValue)
						mustApply(t, r, b)
						continue
					}
					mustApply(t, r, here.add(rec))
					file := fileOf(t, r, History{})
					if again, _, err := load(s.cfg, file); err != nil || stateOf(again) != stateOf(r) {
						t.Fatalf("%s, %v: record %d: load: %v", name, bad, r.N(), err)
					}
				}
			}
			if bad != bad {
				for j, q := range r.basis {
					if !sameBits(q, make([]float32, len(q))) {
						t.Errorf("%s: column %d of the basis is %v", name, j, q)
					}
				}
			}
		}
	}
}

// FuzzRound: either a replica refuses a record and does not change, or it accepts the record, and
// Save then succeeds.
func FuzzRound(f *testing.F) {
	var names []string
	for name := range hostilePlans {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		s := hostileScript(f, name, 5)
		for n, record := range s.records[1:] {
			f.Add(uint8(i), uint8(n+1), record[bodyAt:])
		}
	}
	f.Fuzz(func(t *testing.T, p, records uint8, body []byte) {
		s := hostileScript(t, names[int(p)%len(names)], 5)
		n := 1 + int(records)%(len(s.records)-1)
		r := after(t, s, n)
		if n+1 > 127 || len(s.records[n]) < bodyAt {
			t.Skip()
		}
		head := s.records[n][:bodyAt]
		before := stateOf(r)
		err := r.Apply(append(bytes.Clone(head), body...))
		var decode *wire.DecodeError
		var plans *plan.Error
		switch {
		case err == nil:
			for _, o := range r.Missing() {
				r.Supply(o.Digest, s.objects[o.Digest]) // if the script has it
			}
			if missing := r.Missing(); missing != nil {
				if err := r.Save(io.Discard, History{}); !errors.Is(err, ErrObject) {
					t.Fatalf("saved without an object: got %v, want %v", err, ErrObject)
				}
			} else if again, _, err := load(s.cfg, fileOf(t, r, History{})); err != nil ||
				stateOf(again) != stateOf(r) {
				t.Fatalf("saved and loaded: %v", err)
			}
			if r.Ended() == nil {
				r.Direction(r.N()+1, 0, 0, 0)
			}
		case stateOf(r) != before:
			t.Fatalf("%v, and the state changed", err)
		case !errors.As(err, &decode) && !errors.As(err, &plans) && !errors.Is(err, wire.ErrValue):
			t.Fatalf("got %v", err)
		}
	})
}

// bodyAt is where the body of a record begins: after the array's head, version, kind, n
// below 128, the hash and epoch 1.
const bodyAt = 1 + 1 + 1 + 1 + 2 + 16 + 1
