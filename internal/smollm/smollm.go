// Package smollm has the shapes of a language model, SmolLM2 of 134.5 million parameters, for
// benchmarks. It knows no numbers of the model.
package smollm

import (
	"fmt"

	"github.com/zofl/zofl/plan"
)

// Segments returns the tensors of the model as segments of a plan: the embedding, 30 layers and the
// last norm. Together they have 134,515,008 parameters.
func Segments() (segments []plan.Segment) {
	const words, width, middle, heads, layers = 49152, 576, 1536, 192, 30
	add := func(rows, columns uint64) {
		segments = append(segments, plan.Segment{Name: fmt.Sprint("s", len(segments)),
			Len: max(rows, 1) * columns, Rows: rows})
	}
	add(words, width)
	for range layers {
		for _, rows := range []uint64{width, heads, heads, width, middle, middle} {
			add(rows, width)
		}
		add(width, middle)
		add(0, width) // norms are no matrices
		add(0, width)
	}
	add(0, width)
	return segments
}
