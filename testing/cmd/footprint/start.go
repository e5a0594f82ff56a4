package main

import "fmt"

// starts measures how soon a device contributes.
func starts(l *lab, o *options) (figures []figure, err error) {
	for _, m := range modes {
		for _, dim := range []int{small, large} {
			var since, connect []float64
			for range o.runs {
				looks, err := l.measure(trial{face: m.face, dim: dim, marks: []int64{1}})
				if err != nil {
					return nil, err
				}
				since, connect = append(since, 1000*looks[0].Since), append(connect, 1000*looks[0].Connect)
			}
			f := figure{
				What: fmt.Sprintf("%s, d = %s, from New to the first contribution",
					m.name, number(float64(dim))),
				Value: median(since), Unit: "ms", Note: "TLS and NATS handshakes are in it",
			}
			if c := median(connect); c > 0 {
				f.Note = fmt.Sprintf("nats.Connect took %s ms before", number(c))
			}
			figures = append(figures, f)
		}
	}
	return figures, nil
}
