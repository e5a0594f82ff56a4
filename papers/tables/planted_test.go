package tables

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"reflect"
	"testing"
)

func TestPlanted(t *testing.T) {
	const n = 5000
	s := Planted(n, 1)
	if err := valid(s); err != nil {
		t.Fatal(err)
	}
	if s.Len() != n || s.Features != 20000 || len(s.Index) != 40*n {
		t.Errorf("got %d samples of %d features, %d entries", s.Len(), s.Features, len(s.Index))
	}
	positive, first := 0, 0
	for i := range n {
		index, value := s.At(i)
		var square float64
		for _, v := range value {
			square += float64(v) * float64(v)
			if v <= 0 {
				t.Fatalf("sample %d has value %v", i, v)
			}
		}
		if math.Abs(square-1) > 1e-6 {
			t.Fatalf("sample %d has squared length %v", i, square)
		}
		if index[0] == 0 {
			first++
		}
		positive += int(s.Labels[i])
	}
	if p := float64(positive) / n; p < 0.4 || p > 0.6 {
		t.Errorf("%.3f of the labels are positive", p)
	}
	if p := float64(first) / n; p < 0.15 || p > 0.35 {
		t.Errorf("feature 0 is in %.3f of the samples, want about 0.25", p)
	}
}

// The planted weights themselves are right for all but the flipped labels; and a
// perceptron learns something of them that holds for new samples.
func TestPlantedIsSeparable(t *testing.T) {
	train, test := Planted(12000, 2).Split(10000)
	weights := plantedWeights(2)
	if got := accuracy(test, weights); got < 0.93 || got > 0.97 {
		t.Errorf("the planted weights are right for %.3f, want 0.95", got)
	}
	if got := accuracy(Planted(2000, 3), weights); got < 0.4 || got > 0.6 {
		t.Errorf("the weights of another seed are right for %.3f", got)
	}
	w, sum := make([]float32, train.Features), make([]float32, train.Features)
	for range 5 {
		for i := range train.Len() {
			if side := 2*float32(train.Labels[i]) - 1; side*score(train, i, w) <= 0 {
				index, value := train.At(i)
				for k, at := range index {
					w[at] += side * value[k]
				}
			}
			if i%100 == 99 {
				for k, v := range w {
					sum[k] += v
				}
			}
		}
	}
	got := accuracy(test, sum)
	t.Logf("an averaged perceptron is right for %.3f of the test set", got)
	if got < 0.7 || got > 0.95 {
		t.Errorf("an averaged perceptron is right for %.3f, want 0.7 to 0.95", got)
	}
}

func score(s *Sparse, i int, w []float32) (sum float32) {
	index, value := s.At(i)
	for k, at := range index {
		sum += w[at] * value[k]
	}
	return sum
}

func accuracy(s *Sparse, w []float32) float64 {
	right := 0
	for i := range s.Len() {
		if score(s, i, w) > 0 == (s.Labels[i] == 1) {
			right++
		}
	}
	return float64(right) / float64(s.Len())
}

func TestPlantedIsAFunctionOfItsArguments(t *testing.T) {
	all := Planted(50, 7)
	some, _ := all.Split(20)
	if !reflect.DeepEqual(Planted(20, 7), some) {
		t.Error("the first samples depend on how many there are")
	}
	if reflect.DeepEqual(Planted(20, 8).Index, some.Index) {
		t.Error("two seeds give the same samples")
	}
}

// Golden: machines that draw the samples must agree.
func TestPlantedGolden(t *testing.T) {
	s := Planted(1000, 42)
	h := fnv.New64a()
	for _, part := range []any{s.Index, s.Value, s.Labels} {
		if err := binary.Write(h, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := h.Sum64(), uint64(0x3ddd414b6875ac5e); got != want {
		t.Errorf("got digest %#x, want %#x", got, want)
	}
}
