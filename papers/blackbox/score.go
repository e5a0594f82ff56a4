package blackbox

import "fmt"

// A Score is a metric of a classifier on labeled rows, from 0 for the worst to 1 for the best.
// tp, fp and fn count the rows of a class that are correctly assigned to it, wrongly assigned to
// it, and wrongly not assigned to it:
type Score uint8

const (
	Precision Score = iota // tp / (tp + fp)
	Recall                 // tp / (tp + fn)
	F1                     // 2 tp / (2 tp + fp + fn)
	Jaccard                // tp / (tp + fp + fn)
)

// Scores lists all scores.
var Scores = []Score{Precision, Recall, F1, Jaccard}

func (s Score) String() string {
	names := [...]string{"precision", "recall", "f1", "jaccard"}
	if int(s) >= len(names) {
		return fmt.Sprintf("Score(%d)", uint8(s))
	}
	return names[s]
}

// A confusion counts rows by their label and by the class that the MLP assigns to them:
// [label][class].
type confusion [7][7]int

// macro returns the mean of s over the classes that are the label or the assigned class of any
// row. If s is undefined for a class, macro counts 0, like scikit-learn's average="macro",
// zero_division=0. Without rows, macro returns 0.
func (c *confusion) macro(s Score) float64 {
	sum, present := 0.0, 0
	for k := range c {
		tp, fp, fn := c[k][k], -c[k][k], -c[k][k]
		for other := range c {
			fp += c[other][k]
			fn += c[k][other]
		}
		if tp+fp+fn == 0 {
			continue
		}
		present++
		sum += s.of(float64(tp), float64(fp), float64(fn))
	}
	if present == 0 {
		return 0
	}
	return sum / float64(present)
}

// of returns the score of one class from its counts.
func (s Score) of(tp, fp, fn float64) float64 {
	if tp == 0 {
		return 0 // also where it is undefined
	}
	switch s {
	case Precision:
		return tp / (tp + fp)
	case Recall:
		return tp / (tp + fn)
	case F1:
		return 2 * tp / (2*tp + fp + fn)
	}
	return tp / (tp + fp + fn)
}
