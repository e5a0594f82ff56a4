package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// A table holds the ratios and speeds of all rounds by row.
type table struct {
	rows []*row // in the order of their first measurement
}

type row struct {
	peer, name     string
	ratios, speeds []float64
}

// add adds the measurements of one round, with the measurement of the yardstick.
func (t *table) add(peer string, speeds []speed, yardstick float64) {
	for _, s := range speeds {
		r := t.row(peer, s.Name)
		r.ratios = append(r.ratios, s.Speed/yardstick)
		r.speeds = append(r.speeds, s.Speed)
	}
}

func (t *table) row(peer, name string) *row {
	for _, r := range t.rows {
		if r.peer == peer && r.name == name {
			return r
		}
	}
	r := &row{peer: peer, name: name}
	t.rows = append(t.rows, r)
	return r
}

// print writes medians, and the least and greatest ratio.
func (t *table) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tM elements/s\tx NormFloat64\tfrom\tto\tpython")
	for _, r := range t.rows {
		slices.Sort(r.ratios)
		slices.Sort(r.speeds)
		last := len(r.ratios) - 1
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.2f\t%.2f\t%s\n",
			r.name, r.speeds[len(r.speeds)/2]/1e6, r.ratios[len(r.ratios)/2], r.ratios[0],
			r.ratios[last], r.peer)
	}
	return w.Flush()
}
