package gather

import (
	"fmt"
	"math"
	"slices"
)

const (
	// smoothing is the weight of a new level in the smoothed loss.
	smoothing = 0.2
	// window is how many rounds' losses make a level.
	window = 5
)

// A LossWatch says when training diverges. Among three or more devices, one alone can neither
// trigger nor prevent that, whatever it reports. Each coordinator starts a new watch, because
// records hold no losses.
//
// The loss of a round is the median of its contributors' reports, the lower one of two, whatever
// their weights. The level after a round is the median of the last 5 rounds' losses; before there
// are 5, nothing is judged. first is the first level. spread is twice the distance between the
// lowest and the highest of the first 5 losses; it serves objectives that begin near 0, and is
// doubled because five losses do not show all of the noise. Each later level moves the smoothed
// loss, which begins at first, a fifth of the way towards it. lowest is the lowest smoothed loss so
// far. The run has diverged when
//
//	smoothed > first + diverge * max(|first|, first - lowest, spread)
type LossWatch struct {
	rounds                          int
	last                            [window]float64 // losses, at index rounds mod window
	first, spread, smoothed, lowest float64
}

// Observe takes the loss of a round.
func (w *LossWatch) Observe(loss float64) {
	w.last[w.rounds%window] = loss
	w.rounds++
	sorted := w.last
	slices.Sort(sorted[:])
	level := sorted[window/2]
	switch {
	case w.rounds < window:
	case w.rounds == window:
		w.first, w.smoothed, w.lowest = level, level, level
		w.spread = 2 * (sorted[window-1] - sorted[0])
	default:
		w.smoothed += float64(smoothing * (level - w.smoothed))
		w.lowest = min(w.lowest, w.smoothed)
	}
}

// limit is the largest smoothed loss of a run that has not diverged.
func (w *LossWatch) limit(diverge float64) float64 {
	return w.first + float64(diverge*max(math.Abs(w.first), w.first-w.lowest, w.spread))
}

// Diverged says why the run has diverged, "" if it has not.
func (w *LossWatch) Diverged(diverge float64) string {
	if w.rounds < window || diverge == 0 || w.smoothed <= w.limit(diverge) {
		return ""
	}
	return fmt.Sprintf("the smoothed median loss %.6g is above %.6g: it began at %.6g and was "+
		"%.6g at best",
		w.smoothed, w.limit(diverge), w.first, w.lowest)
}

// Median sorts losses and returns their median, the lower one of two.
func Median(losses []float32) float32 {
	slices.Sort(losses)
	return losses[(len(losses)-1)/2]
}
