package main

import (
	"fmt"
	"strings"
)

const (
	small, large = 1000, 1_000_000 // parameters
	beside       = 12_000_000      // bytes that a device may use besides its vectors
)

// A mode is a kind of objective, and the number of vectors of the model's size that it
// needs.
type mode struct {
	face, name string
	vectors    int64
}

var modes = []mode{
	{"stream", "client, streaming", 1},
	{"flat", "client, flat", 2},
	{"mobile-block", "client/mobile, blocks", 1},
	{"mobile", "client/mobile, simple", 2},
}

// Go collects garbage when garbage equals live memory, or every two minutes. The rounds measured
// here follow each other within milliseconds, so the first condition decides. A limit on Go's
// memory makes Go collect earlier and return memory to the system.
const (
	defaults = "GOGC=100"
	goBeside = 6_000_000 // bytes besides the vectors, for a device with a limit
)

func limit(m *mode, dim int) string {
	return fmt.Sprintf("GOMEMLIMIT=%d", 4*int64(dim)*m.vectors+goBeside)
}

// memories measures idle devices and devices after many rounds.
func memories(l *lab, o *options) (figures []figure, err error) {
	for _, m := range modes {
		idle, err := l.largest(trial{face: m.face, dim: small, marks: []int64{1}}, o.runs)
		if err != nil {
			return nil, err
		}
		figures = append(figures, idle[0].figure(&m, small, defaults))
		for _, env := range []string{defaults, limit(&m, large)} {
			marks := []int64{int64(o.rounds), int64(5 * o.rounds)}
			looks, err := l.largest(trial{face: m.face, dim: large, marks: marks,
				env: []string{env}}, o.runs)
			if err != nil {
				return nil, err
			}
			for _, k := range looks {
				figures = append(figures, k.figure(&m, large, env))
			}
		}
	}
	return figures, nil
}

// figure returns the peak resident memory.
func (k *look) figure(m *mode, dim int, env string) figure {
	f := figure{
		What: fmt.Sprintf("%s, d = %s, after round %d, %s",
			m.name, number(float64(dim)), k.Contributions, env),
		Value: float64(k.peak), Unit: "bytes", Note: k.detail(),
	}
	if dim == large {
		f.Most = float64(4*int64(dim)*m.vectors + beside)
	}
	return f
}

// detail returns the other measurements as text.
func (k *look) detail() string {
	parts := []string{
		"now " + number(float64(k.now)),
		"anonymous " + number(float64(k.anon)), "of the program's file " + number(float64(k.file)),
		"heap " + number(float64(k.Live)), number(float64(k.Collections)) + " collections",
	}
	return strings.Join(parts, ", ")
}

// largest returns, for each mark, the measurement with the largest peak over all runs.
func (l *lab) largest(t trial, runs int) (most []look, err error) {
	for range runs {
		looks, err := l.measure(t)
		if err != nil {
			return nil, err
		}
		if most == nil {
			most = looks
		}
		for i, k := range looks {
			if k.peak > most[i].peak {
				most[i] = k
			}
		}
	}
	return most, nil
}
