package coordinator

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
)

// A walk feeds a core random inputs and checks each record against a slow
// account of what was accepted for it.
type walk struct {
	stage
	rng      *rand.Rand
	accepted map[string][]float32 // by device, for the open record
	weights  map[string]int64
	rounds   int
}

func TestRandomWalks(t *testing.T) {
	rounds := 0
	for seed := range uint64(150) {
		w := &walk{rng: rand.New(rand.NewPCG(seed, 7))}
		w.t = t
		w.begin([]string{"members=5", "target=3", "over_sample=1.4", "quorum=2", "deadline=50", "reannounce=20",
			"max_attempts=2", "weights=samples", "max_weight=7", "max_scalar=100"})
		w.forget()
		for range 250 {
			w.stepRandomly()
		}
		rounds += w.rounds
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if rounds < 1000 {
		t.Errorf("the walks came to %d rounds only", rounds)
	}
}

// crash begins another coordinator, after what was handed to the log was stored,
// or before.
func (w *walk) crash() {
	for _, o := range w.held {
		if w.rng.IntN(2) == 0 {
			w.store(o, "ok")
			if o.kind == outAppend {
				w.checkRecord(o.n)
			}
		}
	}
	w.restart()
	w.forget()
}

func (w *walk) forget() {
	w.accepted, w.weights = map[string][]float32{}, map[string]int64{}
}

func (w *walk) stepRandomly() {
	id := ids(8)[w.rng.IntN(8)]
	before := w.log.Last()
	switch p := w.rng.IntN(100); {
	case p < 10:
		w.command([]string{"join", id})
	case p < 75:
		w.contribute(id)
	case p < 80:
		w.command([]string{"decline", id})
	case p < 90:
		w.command([]string{"tick", "17"})
	case p < 92:
		w.command([]string{"pause"})
	case p < 95:
		w.command([]string{"resume"})
	case p < 96:
		w.hold = !w.hold
	case p < 98:
		w.command([]string{"append", []string{"fail", "lost"}[w.rng.IntN(2)]})
	case p < 99:
		w.crash()
	default:
		w.command([]string{"store", "ok"})
	}
	if w.rng.IntN(3) == 0 {
		w.command([]string{"append", "ok"})
	}
	w.out.Reset()
	if w.log.Last() > before && len(w.accepted) > 0 {
		w.checkRecord(w.log.Last())
		w.forget()
	}
}

// contribute sends what may be refused, and notes what is accepted.
func (w *walk) contribute(id string) {
	r := wire.Reply{Kind: wire.Contribution, N: w.core.n + 1, Tip: w.core.hash.Tip(), Loss: 1, Weight: 1 + w.rng.Uint32N(9)}
	values := []float32{float32(w.rng.NormFloat64() * 50), float32(w.rng.NormFloat64())}
	r.Values = wire.AppendScalars(nil, values...)
	switch w.rng.IntN(12) {
	case 0:
		r.N--
	case 1:
		r.Tip[0]++
	case 2:
		r.Values = r.Values[4:]
	}
	if r.N == 0 {
		return
	}
	before := w.core.counters
	held := len(w.held)
	// What was accepted is noted before the record that it may close is checked.
	had, weight := w.accepted[id], w.weights[id]
	w.accepted[id], w.weights[id] = values, int64(min(r.Weight, 7))
	w.step(input{kind: inReply, id: id, frame: r.Append(nil)})
	after := w.core.counters
	switch {
	case after.Contributions == before.Contributions:
		w.accepted[id], w.weights[id] = had, weight
		if had == nil {
			delete(w.accepted, id)
		}
		if after.Dropped() != before.Dropped()+1 {
			w.t.Errorf("a reply was neither counted nor dropped")
		}
	case had != nil && len(w.held) == held:
		w.t.Errorf("%s contributed twice to record %d", id, r.N)
	}
}

// checkRecord compares a round with the rational mean of what was accepted.
func (w *walk) checkRecord(n uint64) {
	r, err := wire.DecodeRecord(w.stored(n))
	w.check(err)
	if r.Kind != wire.KindRound {
		return
	}
	w.rounds++
	if _, err := replay(w.t.Context(), w.log, n, func([]byte) {}); err != nil {
		w.t.Error(err)
	}
	if int(r.Round.Contributors) != len(w.accepted) || len(w.accepted) < 2 {
		w.t.Errorf("record %d: %d contributors, %d were accepted, quorum 2", n, r.Round.Contributors, len(w.accepted))
		return
	}
	var got, want []float32
	for i := range r.Round.Terms[0].Scalars.Len() {
		got = append(got, r.Round.Terms[0].Scalars.At(i))
		want = append(want, w.mean(i))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("record %d: mean %v, want %v", n, got, want)
	}
}

func (w *walk) mean(i int) float32 {
	sum, weights := new(big.Rat), new(big.Rat)
	for id, values := range w.accepted {
		weight := new(big.Rat).SetInt64(w.weights[id])
		x := new(big.Rat).SetFloat64(float64(values[i]))
		sum.Add(sum, x.Mul(x, weight))
		weights.Add(weights, weight)
	}
	mean, _ := sum.Quo(sum, weights).Float32()
	return mean
}
