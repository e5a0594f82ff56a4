package history

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzFile: for any file, the points of the history ascend and are within the bounds, and reading
// them back gives the same points.
func FuzzFile(f *testing.F) {
	loss := 0.5
	points := []Point{{N: 2, Loss: &loss, Rejected: map[string]uint64{"late": 1}},
		{N: 3, Evaluation: &Evaluation{Devices: 1, Metrics: map[string]*float64{"a": &loss, "b": nil}}}}
	whole := encodeAll(points, []Mark{{N: 3, Kind: Paused, Text: "x", Fields: []string{"a"}}})
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(append(slices.Clone(whole), whole...))
	f.Add([]byte("{}\n\x00\n{\"point\":{\"n\":1e400}}\n{\"zofl_history\":7}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := &History{}
		got, err := readLines(bytes.NewReader(data), func(l line) { h.merge(l, maxN) })
		if got.whole > int64(len(data)) || err == nil && got.torn != (got.whole < int64(len(data))) {
			t.Fatalf("%+v of %d bytes", got, len(data))
		}
		h.settle()
		points, marks := h.Snapshot(0)
		ns(t, points)
		if len(points) >= mostPoints || len(marks) >= mostMarks {
			t.Fatalf("%d points and %d marks", len(points), len(marks))
		}
		again := &History{}
		got, err = readLines(bytes.NewReader(encodeAll(points, marks)),
			func(l line) { again.merge(l, maxN) })
		again.settle()
		p, m := again.Snapshot(0)
		if err != nil || got.damaged > 0 || !bytes.Equal(encodeAll(p, m), encodeAll(points, marks)) {
			t.Fatalf("read again as %+v %+v, want %+v %+v: %+v %v", p, m, points, marks, got, err)
		}
	})
}
