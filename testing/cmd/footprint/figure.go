package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// A figure is one measurement.
type figure struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Most is the limit of the figure; 0: none.
	Most float64 `json:"most,omitempty"`
	Note string  `json:"note,omitempty"`
}

// printTable writes a Markdown table.
func printTable(out io.Writer, figures []figure) {
	fmt.Fprintln(out, "| what | figure | at most | |")
	fmt.Fprintln(out, "|---|---|---|---|")
	for _, f := range figures {
		most := ""
		if f.Most > 0 {
			most = number(f.Most)
			if f.Value > f.Most {
				most += ": missed"
			}
		}
		fmt.Fprintf(out, "| %s | %s %s | %s | %s |\n", f.What, number(f.Value), f.Unit, most, f.Note)
	}
}

// number formats whole numbers in groups of three digits, and others with three digits.
func number(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%.3g", v)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// median returns the median of values, for an even number the lower of the middle two.
func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
