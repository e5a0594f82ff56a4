package tables

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// a9aFeatures is the largest feature number of a9a, which counts from 1.
const a9aFeatures = 123

// Sparse is a set of labeled samples of two classes, in which most features of a sample are 0.
// The entries Start[i] to Start[i+1] of Index and Value hold the features of sample i that are
// not 0.
//
// Invariants:
//  1. len(Start) == len(Labels)+1, Start[0] == 0, Start ascends
//  2. len(Index) == len(Value) == Start[len(Labels)]
//  3. the indices of a sample ascend, and are below Features
//  4. every label is 0 or 1
//
// A Sparse does not change after it is made, so any number of goroutines may share a Sparse.
type Sparse struct {
	Features int
	Start    []int
	Index    []int32
	Value    []float32
	Labels   []uint8 // one a sample: 0 stands for -1, 1 for +1
}

// Len returns the number of samples.
func (s *Sparse) Len() int { return len(s.Labels) }

// At returns the features of sample i that are not 0, which the caller must not
// change.
func (s *Sparse) At(i int) (index []int32, value []float32) {
	from, to := s.Start[i], s.Start[i+1]
	return s.Index[from:to:to], s.Value[from:to:to]
}

// Split returns the first n samples and the rest. Split panics if there are fewer than n samples.
func (s *Sparse) Split(n int) (first, others *Sparse) {
	at := s.Start[n]
	a := &Sparse{s.Features, s.Start[: n+1 : n+1], s.Index[:at:at], s.Value[:at:at], s.Labels[:n:n]}
	b := &Sparse{s.Features, nil, s.Index[at:], s.Value[at:], s.Labels[n:]}
	for _, from := range s.Start[n:] {
		b.Start = append(b.Start, from-at)
	}
	return a, b
}

// A9A reads a9a-train.libsvm.gz and a9a-test.libsvm.gz from dir: UCI's Adult in
// LIBSVM's form, 123 features that are 0 or 1.
func A9A(dir string) (train, test *Sparse, err error) {
	if train, err = readLIBSVM(filepath.Join(dir, "a9a-train.libsvm.gz"), a9aFeatures); err != nil {
		return nil, nil, err
	}
	if test, err = readLIBSVM(filepath.Join(dir, "a9a-test.libsvm.gz"), a9aFeatures); err != nil {
		return nil, nil, err
	}
	return train, test, nil
}

// readLIBSVM reads a gzipped file of lines "label index:value ...", with labels
// +1 and -1 and ascending indices from 1 to features.
func readLIBSVM(path string, features int) (*Sparse, error) {
	s := &Sparse{Features: features, Start: []int{0}}
	if err := eachLine(path, s.parse); err != nil {
		return nil, err
	}
	return s, nil
}

// parse appends the sample in a line.
func (s *Sparse) parse(line string) error {
	label, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch label {
	case "+1", "1":
		s.Labels = append(s.Labels, 1)
	case "-1":
		s.Labels = append(s.Labels, 0)
	default:
		return fmt.Errorf("the label is %q, not +1 or -1", label)
	}
	last := -1
	for _, field := range strings.Fields(rest) {
		index, value, err := s.parseEntry(field)
		if err != nil {
			return err
		}
		if index <= last {
			return fmt.Errorf("index %d after %d: indices must ascend", index+1, last+1)
		}
		last = index
		s.Index = append(s.Index, int32(index))
		s.Value = append(s.Value, value)
	}
	s.Start = append(s.Start, len(s.Index))
	return nil
}

// parseEntry reads "index:value", and returns the index counted from 0.
func (s *Sparse) parseEntry(field string) (index int, value float32, err error) {
	left, right, ok := strings.Cut(field, ":")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not index:value", field)
	}
	index, err = strconv.Atoi(left)
	if err != nil || index < 1 || index > s.Features {
		return 0, 0, fmt.Errorf("index %q is not 1 to %d", left, s.Features)
	}
	v, err := strconv.ParseFloat(right, 32)
	if err != nil || v-v != 0 {
		return 0, 0, errors.New("value " + strconv.Quote(right) + " is not a finite number")
	}
	return index - 1, float32(v), nil
}
