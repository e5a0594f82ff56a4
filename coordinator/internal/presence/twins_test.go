package presence

import (
	"slices"
	"testing"
)

// Two different answers to each of three records show two devices. One answer to each of 16 records
// in a row shows one device again.
func TestTwins(t *testing.T) {
	var w Crowd
	w.Grow(2, true)
	for n := uint64(1); n <= 10; n++ {
		first := w.Compare(1, Answer{Record: n, Numbers: 7})
		second := w.Compare(1, Answer{Record: n, Numbers: 8})
		third := w.Compare(1, Answer{Record: n, Numbers: 9})
		if first || third || second != (n == 3) {
			t.Errorf("record %d: found %t, %t, %t, want the second of record 3", n, first, second,
				third)
		}
		w.Compare(0, Answer{Record: n, Numbers: 7})
	}
	named := w.Twins([]string{"a", "b"})
	if !slices.Equal(named, []string{"b"}) || !w.Members[1].Twin() || w.Members[0].Twin() {
		t.Fatalf("twins are %v, want b", named)
	}
	for n := uint64(11); n <= 11+aloneAfter; n++ {
		if !w.Members[1].Twin() {
			t.Fatalf("forgotten before record %d", n)
		}
		w.Compare(1, Answer{Record: n})
	}
	if len(w.twins) != 0 || w.Members[1].Twin() {
		t.Errorf("after %d records with one answer twins are %v", aloneAfter, w.twins)
	}
}

// What a single device may do does not show two devices: the device repeats its answers, answers
// another question, is late, and after a restart may now and then compute another answer.
func TestNoTwins(t *testing.T) {
	var w Crowd
	w.Grow(1, true)
	for n := uint64(1); n < 500; n++ {
		answers := []Answer{{n, 0, 1}, {n, 0, 1}, {n, 1, 2}, {n, 1, 2}, {n - 1, 0, 5}}
		if n%(aloneAfter+1) == 0 {
			answers = append(answers, Answer{n, 1, 3})
		}
		for _, a := range answers {
			if w.Compare(0, a) {
				t.Fatalf("found at %+v", a)
			}
		}
	}
	if len(w.twins) != 0 {
		t.Errorf("twins are %v", w.twins)
	}
}
