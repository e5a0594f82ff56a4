package history

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
)

const (
	// tellingRounds is the smallest number of rounds whose losses show a trend.
	tellingRounds = 40
	// endlessRounds is the number of rounds after which NoFall judges a run without a fixed end.
	endlessRounds = 500
	// leastWindow and mostWindow bound the number of rounds in each of the two compared windows, a
	// tenth of all rounds. The history drops the points of the first rounds last.
	leastWindow, mostWindow = 10, 100
)

// NoFall says that the loss has not fallen, and what to do. NoFall returns "" if the loss has
// fallen, or if it is too early to tell: before half of the run's rounds and at least 40 rounds are
// done, unless the run has ended.
func (h *History) NoFall() string {
	h.mu.Lock()
	run, path := h.run, h.path()
	h.mu.Unlock()
	if run == nil || len(path) == 0 {
		return ""
	}
	p, done := run.Plan(), path[len(path)-1].Round
	first, last, stuck := compared(path)
	if done < halfOf(p.Rounds) || !stuck {
		if p.Rounds > 0 && done >= p.Rounds || run.Status().State == report.Ended {
			return endedWorse(&p, path)
		}
		return ""
	}
	but := ""
	if last.mean > first.mean {
		but = ", but risen"
	}
	text := fmt.Sprintf("the loss has not fallen%s: it was %.4g in the first %d rounds, and is "+
		"%.4g in the last %d; docs/faq.md has causes and remedies", but, first.mean, first.rounds,
		last.mean, last.rounds)
	if p.Rounds == 0 || done < p.Rounds {
		text += ", and zofl tune --run " + p.Run + " tries other steps"
	}
	return text
}

// endedWorse returns [Worse] for the first loss of a run and the mean loss of its last tenth.
func endedWorse(p *plan.Plan, path []Point) string {
	last := path[len(path)-max(len(path)/10, 1):]
	return Worse(p, *path[0].Loss, stretchOf(last).mean)
}

// Worse says that a run ended with a higher loss than it began with. Worse returns "" if the last
// loss is not higher, and where losses are those of candidates: the first ones are far apart, and
// one may be lucky.
func Worse(p *plan.Plan, first, last float64) string {
	if !(last > first) || p.ServerRule == plan.ServerCMA {
		return ""
	}
	return fmt.Sprintf("the run ended worse than it began: the loss was %.4g in the first round, and "+
		"is %.4g in the last ones; docs/faq.md has causes and remedies", first, last)
}

// halfOf returns the round after which watchFall first judges a run of the given number of rounds.
func halfOf(rounds uint64) uint64 {
	if rounds == 0 {
		return endlessRounds
	}
	return max((rounds+1)/2, tellingRounds)
}

// watchFall checks after half of the rounds, and at the end, whether the loss has fallen. If it has
// not, watchFall adds a mark and logs a warning, once.
func (h *History) watchFall(e *report.Event, at time.Time) {
	h.mu.Lock()
	run, logger := h.run, h.logger
	told := slices.ContainsFunc(h.marks, func(m Mark) bool { return m.Kind == NoFall })
	h.mu.Unlock()
	if run == nil || told {
		return
	}
	rounds := run.Plan().Rounds
	last := e.Kind == report.RunEnded || rounds > 0 && e.Round == rounds
	if !last && e.Round != halfOf(rounds) {
		return
	}
	text := h.NoFall()
	if text == "" {
		return
	}
	h.addMark(Mark{N: e.N, Round: e.Round, Time: at, Kind: NoFall, Text: text})
	if logger != nil {
		logger.Warn(text, "record", e.N)
	}
}

// path returns the points with a loss of the rounds that no rollback undid. The caller holds mu.
func (h *History) path() (path []Point) {
	for _, p := range h.points {
		if !p.IsRound() || p.Phase == 1 || p.Loss == nil {
			continue
		}
		for len(path) > 0 && path[len(path)-1].Round >= p.Round {
			path = path[:len(path)-1]
		}
		path = append(path, p)
	}
	return path
}

// A stretch describes consecutive rounds by the mean of their losses and the variance of that mean.
type stretch struct {
	rounds         int
	mean, variance float64
}

func stretchOf(points []Point) stretch {
	n, sum, squares := float64(len(points)), 0.0, 0.0
	for i := range points {
		sum += *points[i].Loss
	}
	for i := range points {
		squares += (*points[i].Loss - sum/n) * (*points[i].Loss - sum/n)
	}
	return stretch{len(points), sum / n, squares / (n - 1) / n}
}

// compared compares the first and the last rounds. The run is stuck if the loss fell by no more
// than the error of the difference, or by no more than people can see: 1/5000 of the first loss,
// but at most 1. A loss of 0 counts as missing. If the points of the first rounds are missing,
// compared does not report stuck.
func compared(path []Point) (first, last stretch, stuck bool) {
	window := min(max(len(path)/10, leastWindow), mostWindow)
	if len(path) < 2*window || path[window-1].Round > 2*uint64(window) {
		return first, last, false
	}
	first, last = stretchOf(path[:window]), stretchOf(path[len(path)-window:])
	if first.mean == 0 {
		return first, last, false
	}
	seen := min(1, math.Abs(first.mean)/5000)
	noise := math.Sqrt(first.variance + last.variance)
	return first, last, first.mean-last.mean <= max(seen, noise)
}
