package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A walk feeds random inputs to a core, and checks each record against a slow computation from the
// accepted replies.
type walk struct {
	stage
	rng      *rand.Rand
	accepted map[string]sentReply // by device, for the open record
	rounds   int
}

// A sentReply is a contribution that the core accepted.
type sentReply struct {
	scalars         wire.Scalars
	values, control []float32
	controlOf       uint64
	weight          int64
}

func TestRandomWalks(t *testing.T) {
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			rounds := 0
			for seed := range uint64(60) {
				w := &walk{rng: rand.New(rand.NewPCG(seed, 7))}
				w.t = t
				w.begin(slices.Concat([]string{"members=5", "target=3", "over_sample=1.4",
					"quorum=2", "deadline=50",
					"reannounce=20", "max_attempts=2", "max_weight=7", "max_scalar=100"},
					withoutMaxScalar(m.fields)))
				w.forget()
				for range 250 {
					w.stepRandomly()
				}
				rounds += w.rounds
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			if rounds < 150 {
				t.Errorf("the walks made only %d rounds", rounds)
			}
		})
	}
}

func withoutMaxScalar(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields),
		func(f string) bool { return strings.HasPrefix(f, "max_scalar=") })
}

// crash starts another coordinator, before or after the log has stored the pending outputs.
func (w *walk) crash() {
	for _, o := range w.held {
		if w.rng.IntN(2) == 0 {
			w.store(o, "ok")
			if o.Kind == OutAppend {
				w.checkRecord(o.N)
			}
		}
	}
	w.restart()
	w.forget()
}

func (w *walk) forget() {
	w.accepted = map[string]sentReply{}
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
	case p < 97:
		w.command([]string{"rollback", strconv.FormatUint(1+w.rng.Uint64N(max(w.core.N, 1)), 10)})
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

// contribute sends a reply that the core may refuse, and notes the reply if the core accepts it.
func (w *walk) contribute(id string) {
	r := wire.Reply{Kind: wire.Contribution, N: w.core.N + 1, Tip: w.core.Hash.Tip(), Loss: 1,
		Weight: 1 + w.rng.Uint32N(9)}
	var sent sentReply
	count := w.core.round.scalars
	if count == 0 {
		count = 2 // no round is open
	}
	sent.values = w.scalars(count, &r.Values)
	sent.scalars = r.Values
	switch w.rng.IntN(12) {
	case 0:
		r.N--
	case 1:
		r.Tip[0]++
	case 2:
		r.Values = r.Values[2:]
	}
	if r.N == 0 {
		return
	}
	w.addControl(&r, &sent)
	sent.weight = 1
	if w.core.Plan.Weights == plan.BySamples {
		sent.weight = int64(min(r.Weight, 7))
	}
	before := w.core.counters
	held := len(w.held)
	// Note the accepted reply before checking the record that it may complete.
	had, again := w.accepted[id]
	w.accepted[id] = sent
	w.step(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
	after := w.core.counters
	switch {
	case after.Contributions == before.Contributions:
		w.accepted[id] = had
		if !again {
			delete(w.accepted, id)
		}
		if after.Messages() != before.Messages()+1 {
			w.t.Errorf("a reply was neither counted nor dropped")
		}
	case again && len(w.held) == held:
		w.t.Errorf("%s contributed twice to record %d", id, r.N)
	}
}

// scalars draws n scalars, and appends them to s as they are encoded.
func (w *walk) scalars(n int, s *wire.Scalars) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(w.rng.NormFloat64() * 30)
	}
	precision, p := w.core.Plan.Precision, max(1, int(w.core.round.perturbations))
	for block := range slices.Chunk(values, p) {
		at := len(*s)
		*s = precision.Append(*s, block...)
		precision.Decode(block, (*s)[at:], 0)
	}
	return values
}

// addControl adds a control variate, often along a record that can have no variates.
func (w *walk) addControl(r *wire.Reply, sent *sentReply) {
	c := w.core
	if c.Plan.Control == plan.NoControl || w.rng.IntN(5) == 0 || r.N < 3 {
		return
	}
	v := wire.ControlVariate{N: 1 + w.rng.Uint64N(r.N-1)}
	if w.rng.IntN(3) > 0 && c.Point.N > 0 {
		v.N = c.Point.N
	}
	sent.controlOf, sent.control = v.N, w.scalars(2, &v.Scalars)
	r.Rest = v.Append(nil)
}

// checkRecord compares a round with the slow computation.
func (w *walk) checkRecord(n uint64) {
	r, err := wire.DecodeRecord(w.stored(n))
	w.check(err)
	if r.Kind != wire.KindRound {
		return
	}
	w.rounds++
	p, err := runlog.Replay(w.t.Context(), w.log, n, func([]byte) {})
	if err != nil {
		w.t.Error(err)
	}
	if int(r.Round.Contributors) != len(w.accepted) || len(w.accepted) < 2 || len(w.accepted) > 3 {
		w.t.Errorf("record %d: %d contributors, %d were accepted, quorum 2, target 3", n,
			r.Round.Contributors, len(w.accepted))
		return
	}
	rounds := w.roundsBefore(n)
	for id, sent := range w.accepted {
		if sent.controlOf > 0 && !rounds[sent.controlOf] && r.Round.Phase != 1 {
			w.t.Errorf("record %d counts a control variate of %s, of record %d, which is no "+
				"round that is left", n, id, sent.controlOf)
		}
	}
	want := (&slowRound{w: w, n: n, phase: r.Round.Phase, plan: &p.Plan}).body()
	got := *r.Round
	got.Round, got.Attempt, got.StepSize, got.Perturbations = 0, 0, 0, 0
	// Devices may have joined since the record was made.
	if int(got.Population) >= len(got.Slots) && got.Population < want.Population {
		want.Population = got.Population
	}
	if !bytes.Equal(roundBytes(&got), roundBytes(want)) {
		w.t.Errorf("record %d: %+v, want %+v", n, got, want)
	}
}

// roundsBefore returns the rounds on the path to record n-1.
func (w *walk) roundsBefore(n uint64) map[uint64]bool {
	rounds := map[uint64]bool{}
	for n--; n > 1; {
		r, err := wire.DecodeRecord(w.stored(n))
		w.check(err)
		rounds[n] = r.Kind == wire.KindRound
		if n--; r.Kind == wire.KindRollback {
			n = r.To
		}
	}
	return rounds
}

func roundBytes(r *wire.Round) []byte {
	return (&wire.Record{N: 1 << 40, Kind: wire.KindRound, Round: r}).Append(nil)
}
