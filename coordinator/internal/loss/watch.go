package loss

import (
	"cmp"
	"math"
	"slices"
)

const (
	// smoothing is the weight of a new level in the smoothed loss.
	smoothing = 0.2
	// window is the number of rounds whose median loss is a level.
	window = 5
	// many is the number of reports in a round among which one device cannot decide the median, and
	// which show the noise of the reports.
	many = 3
	// certain is the factor on the median distance beyond which a difference of losses is not chance.
	certain = 6
	// plateaus is how often the losses of a few devices may rise to another level after a restart.
	plateaus = 3
)

// A Watch says when training diverges. Among three or more devices, one device can neither make the
// Watch report divergence nor keep the Watch from reporting it. Each coordinator starts a new
// Watch, because records hold no losses.
//
// The loss of a round is the median of its contributors' reports, whatever their weights; of an
// even number of reports, the lower middle one. Devices measure the loss at the point where the
// round begins, so the loss of round 1, the first loss, belongs to the initial point. base begins
// as the first loss. Two rules say that the run has diverged:
//
//   - A blow-up: the last two losses exceed base + steep * diverge * scale, where scale is the
//     largest of |base|, of base minus the lowest loss, and of noise. steep is 4. If one of these
//     rounds or round 1 had fewer than three reports, the noise is unknown, and steep is 20.
//     Then the rise above base must also have tripled.
//   - A drift: the smoothed loss exceeds base + diverge * scale, where scale is the largest of
//     |base|, of base minus the lowest smoothed loss, of noise and of spread. From round 5 on
//     there is a level, the median of the last 5 losses. The smoothed loss begins at base with
//     round 5, and each level moves the smoothed loss a fifth of the way towards that level.
//
// noise measures how reports differ within a round, and spread how losses differ between rounds.
// Both are needed for objectives that begin near 0. The distance of a round is the median distance
// of its reports from their median. In round 1, noise is 10 distances. In round 5, Watch sets the
// values with which it compares later losses:
//
//   - If each of the 5 rounds had three or more reports, base stays if base exceeds 6 distances of
//     round 1, or if the rise to the level exceeds 6 median distances. noise becomes 3 median
//     distances if base stays, otherwise 6.
//   - With fewer reports base stays if the level is more than three times the first loss, and the
//     losses rose in each round, or jumped by twice the range of the last 4. Then spread is 1.5
//     times that range.
//   - If base does not stay, base becomes the level. spread becomes twice the range of the 5
//     losses, because 5 losses do not show all of the noise.
//
// The report of a device that evaluates candidates is the least of their losses, which in round 1
// may be low by luck. [Watch.Lucky] tells how far below a usual one it is. Both scales are at least
// that.
//
// A Watch that begins [Watch.Midway] does not see the loss of the initial point. By then the losses
// may be a thousandth of the initial loss, and the losses of two devices may differ a thousandfold.
// So if one of the Watch's first 5 rounds has fewer than three reports, base becomes the level in
// round 5, and the Watch reports no blow-up before. After that, a drift only moves base and spread
// to the present losses, up to 3 times, because other devices contribute. The Watch reports the
// fourth drift.
type Watch struct {
	Midway bool // the run has rounds that this watch did not see

	rounds          int
	last            [window]lossAt  // at index rounds mod window
	distances       [window]float64 // of reports from their median, in the first rounds
	first, base     float64
	lowest, bottom  float64 // losses, smoothed losses
	smoothed        float64
	noise, spread   float64 // of reports in a round, of rounds
	luck            float64 // see Lucky
	best            lossAt
	voted           int    // the last so many rounds had many reports
	firstVoted      bool   // so had round 1
	latest          uint64 // the last record whose state was measured
	infinite, large uint32 // declines in the last attempt that failed, see Exploded
	failures        uint32 // such attempts since most devices contributed
	again           bool   // the watch began anew, and first, base and best are known
	unsure          bool   // nobody knows what losses are far apart, see Midway
	moves           int    // of base, since nobody knows
}

// A lossAt is the loss of the state after record n.
type lossAt struct {
	n    uint64
	loss float64
}

// Observe takes the reports of a round that measured the state after record n, if there are any,
// and sorts them. Observe says whether the run has diverged; with diverge = 0 it never has.
func (w *Watch) Observe(diverge float64, n uint64, reports []float32) (diverged bool) {
	if len(reports) == 0 {
		return false
	}
	w.latest = max(w.latest, n)
	if len(reports) > int(w.infinite+w.large) {
		w.failures = 0
	}
	loss := float64(Median(reports))
	w.last[w.rounds%window] = lossAt{n, loss}
	if w.rounds < window {
		w.distances[w.rounds] = distance(loss, reports)
	}
	w.rounds++
	if w.voted++; len(reports) < many {
		w.voted = 0
	}
	if w.rounds == 1 {
		w.begin(n, loss)
		return false
	}
	w.lowest = min(w.lowest, loss)
	if w.rounds >= window {
		w.follow()
	}
	return diverge > 0 && (w.blewUp(diverge) || w.drifted(diverge))
}

// Lucky takes how far the least of the candidates' losses in the round that comes next is below a
// usual one.
func (w *Watch) Lucky(least float64) {
	if w.rounds == 0 {
		w.luck = least
	}
}

// distance returns the median distance of the other reports from loss, the reports' median. Of
// three reports, distance uses the smaller distance, so that no device alone decides it. That
// distance is too small on average, so distance multiplies it by 4.
func distance(loss float64, reports []float32) float64 {
	distances := make([]float64, len(reports))
	for i, v := range reports {
		distances[i] = math.Abs(float64(v) - loss)
	}
	slices.Sort(distances)
	if len(reports) <= many {
		return 4 * distances[len(distances)/2]
	}
	return distances[(len(distances)+1)/2]
}

// begin takes the loss of the first round. A restarted Watch keeps base unless this loss is higher
// than base, and keeps the best loss unless this loss is lower.
func (w *Watch) begin(n uint64, loss float64) {
	if w.firstVoted = w.voted > 0; w.firstVoted {
		w.noise = 10 * w.distances[0]
	}
	if !w.again || loss > w.base {
		w.first, w.base = loss, loss
	}
	if !w.again || loss < w.best.loss {
		w.best = lossAt{n, loss}
	}
	w.lowest = min(w.base, loss)
}

// follow moves the smoothed loss to the level of the last losses.
func (w *Watch) follow() {
	sorted := w.last
	slices.SortFunc(sorted[:], func(a, b lossAt) int { return cmp.Compare(a.loss, b.loss) })
	level := sorted[window/2]
	if w.rounds == window {
		w.settle(level.loss)
	}
	w.smoothed += float64(smoothing * (level.loss - w.smoothed))
	w.bottom = min(w.bottom, w.smoothed)
	if level.loss < w.best.loss {
		w.best = level
	}
}

// settle sets base, noise and spread in round 5.
func (w *Watch) settle(level float64) {
	rise, stays := level-w.base, false
	w.unsure = w.Midway && w.voted < window
	if w.unsure {
		w.rebase(level)
		return
	}
	if w.voted >= window {
		first := w.distances[0]
		slices.Sort(w.distances[:])
		w.noise = certain * w.distances[window/2]
		if stays = math.Abs(w.base) > certain*first || rise > w.noise; stays {
			w.noise /= 2
		}
	} else if stays = rise > 2*math.Abs(w.base) && w.rose(); stays {
		w.spread = 1.5 * span(w.last[1:])
	}
	if !stays {
		w.rebase(level)
	}
	w.smoothed, w.bottom = w.base, w.base
}

// rebase moves base to a level, and spread to the deviation of the last losses.
func (w *Watch) rebase(level float64) {
	w.base, w.spread = level, 2*span(w.last[:])
	w.smoothed, w.bottom = level, level
}

// rose says whether the first 5 losses rose for another reason than noise. Either each loss exceeds
// the one before, or all later losses exceed the first by more than twice the range of the later
// ones.
func (w *Watch) rose() bool {
	rises, least := 0, w.last[1].loss
	for i, l := range w.last[1:] {
		if l.loss > w.last[i].loss {
			rises++
		}
		least = min(least, l.loss)
	}
	return rises == window-1 || least-w.last[0].loss > 2*span(w.last[1:])
}

// span is the range of losses.
func span(losses []lossAt) float64 {
	low, high := losses[0].loss, losses[0].loss
	for _, l := range losses[1:] {
		low, high = min(low, l.loss), max(high, l.loss)
	}
	return high - low
}

// blewUp says whether the last two losses are far above base. If scale is 0, because the loss began
// at 0, blewUp returns false.
func (w *Watch) blewUp(diverge float64) bool {
	scale, steep := max(math.Abs(w.base), w.base-w.lowest, w.noise, w.luck), 4.0
	voted := w.firstVoted && w.voted >= 2
	if !voted {
		steep = 20
	}
	if !voted && w.Midway { // a few reports, or the first of them, say little
		scale = max(scale, w.spread)
		if w.rounds <= window {
			return false
		}
	}
	before, now, limit := w.at(2), w.at(1), w.base+float64(steep*diverge*scale)
	if w.rounds < 3 || scale == 0 || before <= limit || now <= limit {
		return false
	}
	return voted || now-w.base >= 3*(before-w.base)
}

// drifted says whether the smoothed loss exceeds base by more than diverge allows.
func (w *Watch) drifted(diverge float64) bool {
	scale := max(math.Abs(w.base), w.base-w.bottom, w.noise, w.spread, w.luck)
	if w.rounds < window || w.smoothed <= w.base+float64(diverge*scale) {
		return false
	}
	if w.unsure && w.moves < plateaus {
		w.moves++
		w.rebase(w.at(1))
		return false
	}
	return true
}

// at returns the loss of the round that is back rounds before the next round.
func (w *Watch) at(back int) float64 { return w.last[(w.rounds+window-back)%window].loss }

// Again begins the Watch anew, after an operator accepted the state from which the run continues.
func (w *Watch) Again() {
	*w = Watch{Midway: w.Midway, again: w.again || w.rounds > 0, first: w.first, base: w.base,
		best: w.best, latest: w.latest}
}

// Median sorts losses and returns their median; of an even number, the lower middle loss.
func Median(losses []float32) float32 {
	slices.Sort(losses)
	return losses[(len(losses)-1)/2]
}
