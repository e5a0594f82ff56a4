package probe

import (
	"math/rand/v2"
	"slices"
)

// A choice is the active queries of FZooS, appendix G: of candidates around the iterate
// those where the gradient of the posterior mean is least certain.
type choice struct {
	candidates  [][]float64 // some at a time
	uncertainty []float64   // of each
	picked      []pick      // the least certain so far, of them the least certain first
	x           [][]float32 // as the app sees them
}

// A pick is a candidate that is to be asked for.
type pick struct {
	uncertainty float64
	x           []float32
}

// candidatesAtOnce are judged together, so that a round can end between.
const candidatesAtOnce = 32

// explore asks for the loss at the local iterate of step k, and then where the gradient
// is least certain around it, and adds all that to the points.
func (e *estimation) explore(k, queries int) error {
	t := e.prober.memory.trajectory
	e.place = place{n: e.N, k: k}
	e.batch = e.minibatch(e.N, k)
	t.frame.parameters(t.x[0], t.u)
	loss, err := e.learn(0, t.x[:])
	if err != nil {
		return err
	}
	if k == 0 {
		e.loss = loss
	}
	t.process.Center(t.u)
	if queries == 0 {
		return nil
	}
	if err := e.choose(queries); err != nil {
		return err
	}
	_, err = e.learn(1, t.choice.x)
	return err
}

// choose sets choice.x to the candidates of the step that are to be asked for, the
// least certain first.
func (e *estimation) choose(queries int) error {
	t := e.prober.memory.trajectory
	s := &t.choice
	// A source of its own, so that a record worked on again has the same candidates.
	random := rand.New(rand.NewPCG(e.batch.Seed, candidateStream))
	s.begin(queries, e.prober.dim)
	for left := int(e.plan.Candidates); left > 0; left -= candidatesAtOnce {
		n := min(left, candidatesAtOnce)
		for _, u := range s.candidates[:n] {
			t.scatter(u, float64(e.plan.Radius), random)
		}
		t.process.Uncertainty(s.uncertainty[:n], s.candidates[:n])
		for i, u := range s.candidates[:n] {
			s.offer(s.uncertainty[i], u, &t.frame)
		}
		if err := e.cancelled(); err != nil {
			return err
		}
	}
	s.x = s.x[:0]
	for _, p := range s.picked {
		s.x = append(s.x, p.x)
	}
	return nil
}

// candidateStream keeps the candidates' numbers apart from the app's, which draws from
// the same seed.
const candidateStream = 0x7a6f666c66756e63

// scatter sets u to a point of the cube of half side radius around the iterate, clipped
// to the boxes.
func (t *trajectory) scatter(u []float64, radius float64, random *rand.Rand) {
	at := 0
	for _, b := range t.frame.inside {
		for ; at < b.end; at++ {
			u[at] = min(max(t.u[at]+radius*(2*random.Float64()-1), b.low), b.high)
		}
	}
}

// begin is for another choice.
func (s *choice) begin(queries, d int) {
	if s.candidates == nil {
		s.uncertainty = make([]float64, candidatesAtOnce)
		for range candidatesAtOnce {
			s.candidates = append(s.candidates, make([]float64, d))
		}
	}
	for len(s.picked) < queries {
		s.picked = append(s.picked, pick{x: make([]float32, d)})
	}
	s.picked = s.picked[:queries]
	for i := range s.picked {
		s.picked[i].uncertainty = -1
	}
}

// offer takes a candidate in the place of the most certain one, if it is less certain.
func (s *choice) offer(uncertainty float64, u []float64, f *frame) {
	last := len(s.picked) - 1
	if !(uncertainty > s.picked[last].uncertainty) {
		return
	}
	at, _ := slices.BinarySearchFunc(s.picked, uncertainty, func(p pick, uncertainty float64) int {
		if p.uncertainty >= uncertainty {
			return -1
		}
		return 1
	})
	x := s.picked[last].x
	copy(s.picked[at+1:], s.picked[at:last])
	f.parameters(x, u)
	s.picked[at] = pick{uncertainty, x}
}
