package secagg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func sparseServer(t *testing.T) *Server {
	t.Helper()
	r := Round{Context: []byte("round"), Words: 1}
	for i := range uint32(150) {
		r.Members = append(r.Members, i)
	}
	s, err := NewServer(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A device that is left out can leave its neighbors with too few neighbors, and so on. Among the
// devices that remain, none has too few.
func TestRemaining(t *testing.T) {
	s, r := sparseServer(t), rand.New(rand.NewPCG(7, 8))
	emptied, kept, ring := 0, 0, s.ring()
	for range 300 {
		full := r.IntN(150)
		for i := range s.took { // a part of the ring answers, and a few other devices
			s.took[i] = int(ring.place[i]) < full || r.Float64() < 0.2
		}
		in := s.remaining()
		want := slices.Clone(s.took)
		for range want { // as often as a device can be left out
			before := slices.Clone(want)
			for i := range want {
				want[i] = before[i] && s.count(i, before) >= s.threshold
			}
		}
		switch {
		case !slices.Contains(want, true):
			emptied++
			if in != nil {
				t.Fatalf("got %v, want nobody", in)
			}
		case !slices.Equal(in, want):
			t.Fatalf("got %v, want %v", in, want)
		default:
			kept++
		}
	}
	if emptied == 0 || kept == 0 {
		t.Errorf("%d rounds emptied, %d went on, want some of each", emptied, kept)
	}
}

// The server needs no secret of a device that left together with all its neighbors, because no
// vector has its masks.
func TestNothingToLearn(t *testing.T) {
	s := sparseServer(t)
	s.in[StepMask] = s.in[StepKeys]
	sent := slices.Repeat([]bool{true}, 150)
	for _, i := range s.hoods[9] {
		sent[i] = false
	}
	needs, _ := s.needs(sent)
	for i, need := range needs {
		want := itsKey
		switch {
		case i == 9:
			want = nothing
		case sent[i]:
			want = itsSeed
		}
		if need != want {
			t.Errorf("member %d: need %d, want %d", i, need, want)
		}
	}
}
