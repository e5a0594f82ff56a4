package probe

import (
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/client/internal/localrule"
)

// A choice holds the active queries of FZooS, appendix G. Of the candidates around the iterate, the
// device queries those where the gradient of the posterior mean is least certain.
type choice struct {
	candidates  [][]float64 // candidatesAtOnce of them
	uncertainty []float64   // of each candidate
	picks       []pick      // the least certain candidates so far, the least certain first
	x           [][]float32 // the picks as parameters
}

// A pick is a candidate to query.
type pick struct {
	uncertainty float64
	x           []float32
}

// candidatesAtOnce is how many candidates choose compares before it checks again whether the round
// ended.
const candidatesAtOnce = 32

// explore measures the loss at the local iterate of step k, and then at the points around the
// iterate where the gradient is least certain. explore adds all these points to the trajectory.
func (e *estimation) explore(k, queries int) error {
	t := e.prober.memory.trajectory
	e.place = place{n: e.N, k: k}
	e.batch = e.minibatch(e.N, k)
	t.frame.Parameters(t.x[0], t.u)
	loss, err := e.measure(0, t.x[:])
	if err != nil {
		return err
	}
	if k == 0 {
		e.loss = loss
	}
	if e.plan.LengthFit > 0 {
		t.process.FitLengthScale()
	}
	if queries == 0 {
		return nil
	}
	if err := e.choose(queries); err != nil {
		return err
	}
	_, err = e.measure(1, t.choice.x)
	return err
}

// choose sets choice.x to the candidates that the step queries, the least certain first.
func (e *estimation) choose(queries int) error {
	t := e.prober.memory.trajectory
	s := &t.choice
	// The minibatch's seed gives the same candidates if the device works on a record again.
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
	for _, p := range s.picks {
		s.x = append(s.x, p.x)
	}
	return nil
}

// candidateStream separates the candidates' random numbers from the app's numbers, because the app
// draws from the same seed.
const candidateStream = 0x7a6f666c66756e63

// scatter draws u from the cube around the iterate whose half side is radius, and clips u to the
// boxes.
func (t *trajectory) scatter(u []float64, radius float64, random *rand.Rand) {
	at := 0
	for _, b := range t.frame.Inside {
		for ; at < b.End; at++ {
			u[at] = min(max(t.u[at]+radius*(2*random.Float64()-1), b.Low), b.High)
		}
	}
}

// begin readies the choice for another step.
func (s *choice) begin(queries, d int) {
	if s.candidates == nil {
		s.uncertainty = make([]float64, candidatesAtOnce)
		for range candidatesAtOnce {
			s.candidates = append(s.candidates, make([]float64, d))
		}
	}
	for len(s.picks) < queries {
		s.picks = append(s.picks, pick{x: make([]float32, d)})
	}
	s.picks = s.picks[:queries]
	for i := range s.picks {
		s.picks[i].uncertainty = -1
	}
}

// offer replaces the most certain pick with a candidate that is less certain.
func (s *choice) offer(uncertainty float64, u []float64, f *localrule.Frame) {
	last := len(s.picks) - 1
	if !(uncertainty > s.picks[last].uncertainty) {
		return
	}
	at, _ := slices.BinarySearchFunc(s.picks, uncertainty, func(p pick, uncertainty float64) int {
		if p.uncertainty >= uncertainty {
			return -1
		}
		return 1
	})
	x := s.picks[last].x
	copy(s.picks[at+1:], s.picks[at:last])
	f.Parameters(x, u)
	s.picks[at] = pick{uncertainty, x}
}
