package gather

import (
	"fmt"
	"math"
	"slices"
)

const (
	// smoothing is the weight of a new round in the smoothed loss.
	smoothing = 0.2
	// window is how many rounds the loss is a median over.
	window = 5
)

// A lossWatch says when training diverges. One device among three or more
// neither makes it say so nor keeps it from that, whatever it reports. It starts
// anew with each coordinator, because records hold no losses.
//
// The loss of a round is the median of what its contributors report, the lower
// one of two, whatever their weights. The level after a round is the median of
// the losses of the last 5 rounds, and nothing is judged before there are so
// many. first is the first level, and spread twice the distance between the
// lowest and the highest loss of these rounds, for objectives that begin near 0:
// five losses do not show how far noise goes. Each later level moves the
// smoothed loss, which begins at first, a fifth of the way to it; lowest is the
// lowest that it was. The run has diverged when
//
//	smoothed > first + diverge * max(|first|, first - lowest, spread)
type LossWatch struct {
	rounds                          int
	last                            [window]float64 // losses, at rounds mod window
	first, spread, smoothed, lowest float64
}

// observe takes the loss of a round.
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

// limit is what the smoothed loss may reach.
func (w *LossWatch) limit(diverge float64) float64 {
	return w.first + float64(diverge*max(math.Abs(w.first), w.first-w.lowest, w.spread))
}

// diverged says why the run has diverged, or "" if it has not.
func (w *LossWatch) Diverged(diverge float64) string {
	if w.rounds < window || diverge == 0 || w.smoothed <= w.limit(diverge) {
		return ""
	}
	return fmt.Sprintf("the smoothed median loss %.6g is above %.6g: it began at %.6g and was %.6g at best",
		w.smoothed, w.limit(diverge), w.first, w.lowest)
}

// median returns the median of losses, the lower one of two, and sorts them.
func Median(losses []float32) float32 {
	slices.Sort(losses)
	return losses[(len(losses)-1)/2]
}
