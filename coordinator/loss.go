package coordinator

import (
	"fmt"
	"math"
)

// smoothing is the weight of a new round in the smoothed loss.
const smoothing = 0.2

// A lossWatch says when training diverges. It starts anew with each
// coordinator, because records hold no losses.
type lossWatch struct {
	begun                   bool
	first, smoothed, lowest float64
}

// observe takes the loss of a round.
func (w *lossWatch) observe(loss float64) {
	if !w.begun {
		*w = lossWatch{begun: true, first: loss, smoothed: loss, lowest: loss}
		return
	}
	w.smoothed += float64(smoothing * (loss - w.smoothed))
	w.lowest = min(w.lowest, w.smoothed)
}

// limit is what the smoothed loss may reach: the first loss, and diverge times
// its size or what was gained since, whichever is more.
func (w *lossWatch) limit(diverge float64) float64 {
	return w.first + float64(diverge*max(math.Abs(w.first), w.first-w.lowest))
}

// diverged says why the run has diverged, or "" if it has not.
func (w *lossWatch) diverged(diverge float64) string {
	if !w.begun || diverge == 0 || w.smoothed <= w.limit(diverge) {
		return ""
	}
	return fmt.Sprintf("the smoothed loss %.6g is above %.6g: it began at %.6g and was %.6g at best",
		w.smoothed, w.limit(diverge), w.first, w.lowest)
}
