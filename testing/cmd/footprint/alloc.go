package main

import "fmt"

// warm is the number of rounds after which a device's allocations begin to count.
const warm = 50

// allocations measures the allocations of a round.
func allocations(l *lab, o *options) (figures []figure, err error) {
	for _, m := range modes {
		t := trial{face: m.face, dim: small, marks: []int64{warm, warm + int64(o.rounds)}}
		var mallocs, bytes []float64
		for range o.runs {
			looks, err := l.measure(t)
			if err != nil {
				return nil, err
			}
			rounds := float64(looks[1].Contributions - looks[0].Contributions)
			mallocs = append(mallocs, float64(looks[1].Mallocs-looks[0].Mallocs)/rounds)
			bytes = append(bytes, float64(looks[1].Bytes-looks[0].Bytes)/rounds)
		}
		figures = append(figures, figure{
			What: m.name + ", allocated a round", Value: median(mallocs), Unit: "objects",
			Note: fmt.Sprintf("%s bytes; d = %s, K = 1, P = 10", number(median(bytes)), number(small)),
		})
	}
	return figures, nil
}
