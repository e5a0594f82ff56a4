package tasks

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tables"
)

// A Scale describes the features of a task.
type Scale string

// Features are from 0 to 1 until they are scaled.
const (
	Unit         Scale = "0-1"          // as they are
	Sixteen      Scale = "0-16"         // times 16
	Standardized Scale = "standardized" // mean 0 and variance 1, each feature
)

// Rows returns a task's training and test rows. If the environment has no directory of data, Rows
// generates the rows, and drawn is true.
func (t *Task) Rows(e *lab.Env) (train, test *tables.Table, drawn bool, err error) {
	drawn = e.Generated > 0 || e.Data == ""
	if drawn {
		train, test = t.draw(e.Generated)
	} else {
		train, test, err = t.readRows(e)
	}
	if err != nil {
		return nil, nil, false, err
	}
	train, test = firstRows(train, t.Train), firstRows(test, t.Test)
	t.Scale.apply(train, test)
	return train, test, drawn, nil
}

// readRows reads a task's files, each set in an order that is always the same.
func (t *Task) readRows(e *lab.Env) (train, test *tables.Table, err error) {
	switch t.Data {
	case "covtype", "a9a":
		dir, err := e.Find("tables")
		if err != nil {
			return nil, nil, err
		}
		if t.Data == "a9a" {
			first, second, err := tables.A9A(dir)
			if err != nil {
				return nil, nil, err
			}
			return denseRows(first), denseRows(second), nil
		}
		all, err := tables.Covertype(dir)
		if err != nil {
			return nil, nil, err
		}
		train, test = shuffled(all).Split(all.Len() * 4 / 5)
		return train, test, nil
	case Drawn:
		train, test = t.draw(0)
		return train, test, nil
	}
	if tables.IsSmall(t.Data) {
		return t.smallRows(e)
	}
	s, err := e.Images(t.Data)
	if err != nil {
		return nil, nil, err
	}
	return t.imageRows(s.Train), t.imageRows(s.Test), nil
}

// smallRows reads a small table: seven tenths of its rows are for training.
func (t *Task) smallRows(e *lab.Env) (train, test *tables.Table, err error) {
	dir, err := e.Find("sklearn")
	if err != nil {
		return nil, nil, err
	}
	all, err := tables.Small(dir, t.Data)
	if err != nil {
		return nil, nil, err
	}
	train, test = shuffled(all).Split(all.Len() * 7 / 10)
	return train, test, nil
}

// Drawn is the name of the data of a task that needs no file.
const Drawn = "digits"

// draw generates rows in place of a task's data: n training rows, or as many as the task takes.
func (t *Task) draw(n int) (train, test *tables.Table) {
	n = cmp.Or(n, t.Train)
	n, held := min(n, t.Train), min(n, t.Test)
	switch t.Data {
	case "covtype":
		return drawRows(n+held, 54, 7).Split(n)
	case "a9a":
		return drawRows(n+held, 123, 2).Split(n)
	case "breast-cancer":
		return drawRows(n+held, 30, 2).Split(n)
	case "wine":
		return drawRows(n+held, 13, 3).Split(n)
	}
	return t.imageRows(data.Digits(n, 1)), t.imageRows(data.Digits(held, 1<<40))
}

// drawRows draws rows that resemble those of Covertype and a9a: a fifth of the features are
// uniform from 0 to 1, and the others are 1 in a tenth of the rows and else 0. A label is the
// class with the largest score: a linear function of the features plus noise.
func drawRows(n, features, classes int) *tables.Table {
	rng := rand.New(rand.NewPCG(uint64(features), uint64(classes)))
	out := &tables.Table{Features: features, Classes: classes}
	weights := make([]float64, features*classes)
	for i := range weights {
		weights[i] = rng.NormFloat64()
	}
	for range n {
		row := make([]float32, features)
		for k := range row {
			if v := rng.Float32(); k < features/5 {
				row[k] = v
			} else if v < 0.1 {
				row[k] = 1
			}
		}
		label, most := 0, math.Inf(-1)
		for c := range classes {
			score := 0.7 * rng.NormFloat64()
			for k, v := range row {
				score += float64(v) * weights[c*features+k]
			}
			if score > most {
				label, most = c, score
			}
		}
		out.Values, out.Labels = append(out.Values, row...), append(out.Labels, uint8(label))
	}
	return out
}

// imageRows returns images as rows of ink from 0 to 1, shrunk to the size that the task uses.
func (t *Task) imageRows(im *data.Images) *tables.Table {
	im = im.Shrink(max(t.Shrink, 1))
	out := &tables.Table{Features: im.Rows * im.Cols, Classes: im.Classes, Labels: im.Labels,
		Values: make([]float32, len(im.Pixels))}
	for i, p := range im.Pixels {
		out.Values[i] = float32(p) / 255
	}
	return out
}

func denseRows(s *tables.Sparse) *tables.Table {
	out := &tables.Table{Features: s.Features, Classes: 2, Labels: s.Labels,
		Values: make([]float32, s.Len()*s.Features)}
	for i := range s.Len() {
		index, value := s.At(i)
		for k, at := range index {
			out.Values[i*s.Features+int(at)] = value[k]
		}
	}
	return out
}

// shuffled returns the rows in an order that is always the same.
func shuffled(t *tables.Table) *tables.Table {
	out := &tables.Table{Features: t.Features, Classes: t.Classes,
		Values: make([]float32, 0, len(t.Values)), Labels: make([]uint8, 0, t.Len())}
	for _, at := range rand.New(rand.NewPCG(1, 0)).Perm(t.Len()) {
		out.Values, out.Labels = append(out.Values, t.At(at)...), append(out.Labels, t.Labels[at])
	}
	return out
}

func firstRows(t *tables.Table, n int) *tables.Table {
	first, _ := t.Split(min(n, t.Len()))
	return first
}

// apply scales features, which are from 0 to 1, by what the training rows show.
func (s Scale) apply(train, test *tables.Table) {
	shift, by := make([]float64, train.Features), make([]float64, train.Features)
	for k := range by {
		by[k] = 1
		switch s {
		case Sixteen:
			by[k] = 16
		case Standardized:
			shift[k], by[k] = standard(train, k)
		}
	}
	for _, t := range []*tables.Table{train, test} {
		scaled := make([]float32, len(t.Values)) // rows may be shared with others
		for i, v := range t.Values {
			k := i % t.Features
			scaled[i] = float32((float64(v) - shift[k]) * by[k])
		}
		t.Values = scaled
	}
}

// standard returns a feature's mean, and the inverse of its standard deviation. For a constant
// feature, standard returns an inverse of 1.
func standard(t *tables.Table, k int) (mean, by float64) {
	var squares float64
	for i := range t.Len() {
		v := float64(t.At(i)[k])
		mean += v
		squares += v * v
	}
	n := float64(t.Len())
	mean /= n
	if variance := squares/n - mean*mean; variance > 1e-12 {
		return mean, 1 / math.Sqrt(variance)
	}
	return mean, 1
}
