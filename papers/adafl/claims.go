package adafl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/lab"
)

// table2 is Table 2: Fashion-MNIST after 600 rounds.
var table2 = map[method]struct{ success, distortion float64 }{
	ada:   {.8966, 23.23},
	fedZO: {.8372, 8.95},
	zones: {.7628, 44.82},
	dzopa: {.4836, 8.60},
}

func (x *trial) claims() {
	first := x.sets[0]
	x.Report.Claim(first.accuracy >= .985,
		first.name+": the classifier under attack is at least 98.5 % right",
		"%.4f on the test set (the paper's 0.994)", first.accuracy)
	x.Report.Needs(x.size.sweep, sweepRounds, "rounds")
	if x.steps != nil {
		x.moreSteps()
		x.moreClients()
	}
	for _, s := range x.sets {
		if s.name == figures2 {
			x.Report.Needs(0, 0, "rounds")
			x.early(s)
			x.needsAll()
			x.lowest(s)
		} else {
			x.needsAll()
			x.between(s)
			x.table2(s)
		}
		x.Report.Needs(0, 0, "rounds")
		x.fewer(s)
	}
}

// needsAll says that the claims that follow are of the ends of the paper's curves.
func (x *trial) needsAll() { x.Report.Needs(x.size.rounds, paperRounds, "rounds") }

// moreSteps adds the claim about the paper's figure 2a to the report.
func (x *trial) moreSteps() {
	names := lab.Each(x.size.steps, func(k uint32) string { return fmt.Sprintf("K=%d", k) })
	holds, text := x.falling(x.steps, names)
	x.Report.Claim(holds,
		x.sets[0].name+": the larger K, the lower the attack loss after as many rounds", "%s", text)
}

// moreClients adds the claim about the paper's figure 2b to the report.
func (x *trial) moreClients() {
	names := lab.Each(x.size.asked, func(m int) string { return fmt.Sprintf("m=%d", m) })
	holds, text := x.falling(x.asked, names)
	x.Report.Claim(holds, x.sets[0].name+
		": the more clients a round, the lower the attack loss after as many rounds", "%s", text)
}

// falling reports whether each curve has a lower attack loss than the curve before, both halfway
// and at the end of the sweep.
func (x *trial) falling(curves []*curve, names []string) (bool, string) {
	holds := true
	var parts []string
	for _, round := range []uint64{x.half(x.size.sweep), x.size.sweep} {
		var line []string
		for i, c := range curves {
			if i > 0 {
				holds = holds && c.at(loss, round) <= curves[i-1].at(loss, round)
			}
			line = append(line, names[i]+" "+lab.Spread(c.results.At(loss, round)))
		}
		parts = append(parts, fmt.Sprintf("round %d: %s", round, strings.Join(line, ", ")))
	}
	return holds, strings.Join(parts, "; ")
}

// half returns the measured round at half of rounds.
func (x *trial) half(rounds uint64) uint64 {
	return max(rounds/2/x.size.every*x.size.every, x.size.every)
}

// text lists a metric of all methods after a round.
func (s *set) text(metric string, round uint64) string {
	return strings.Join(lab.Each(methods,
		func(m method) string { return s.curves[m].text(metric, round) }), ", ")
}

// below reports whether ZO-AdaFL's attack loss is less than the attack losses of the other
// methods.
func (s *set) below(round uint64, others ...method) bool {
	return !slices.ContainsFunc(others, func(m method) bool {
		return !(s.curves[ada].at(loss, round) < s.curves[m].at(loss, round))
	})
}

// lowest adds the claim about the end of the paper's figure 3a to the report.
func (x *trial) lowest(s *set) {
	last := x.size.rounds
	x.Report.Claim(s.below(last, fedZO, dzopa, zones),
		s.name+": ZO-AdaFL ends with less attack loss than FedZO, DZOPA and ZONE-S",
		"attack loss after %d rounds of %d clients: %s; success: %s; distortion: %s",
		last, x.size.among, s.text(loss, last), s.text(success, last), s.text(distortion, last))
}

// early adds the claim of the paper's text about the first 100 rounds of figure 3a to the report.
func (x *trial) early(s *set) {
	round := min(100/x.size.every*x.size.every, x.half(x.size.rounds))
	ada, fedzo := s.curves[ada], s.curves[fedZO]
	x.Report.Claim(s.below(round, fedZO),
		s.name+": in the first 100 rounds ZO-AdaFL's attack loss is below FedZO's",
		"round %d: %s, %s", round, ada.text(loss, round), fedzo.text(loss, round))
}

// between adds the claim about the paper's figure 3b to the report.
func (x *trial) between(s *set) {
	last := x.size.rounds
	zones := s.curves[zones].at(loss, last) < s.curves[ada].at(loss, last)
	x.Report.Claim(s.below(last, fedZO, dzopa) && zones,
		s.name+": ZO-AdaFL ends with less attack loss than FedZO and DZOPA, and more than ZONE-S",
		"attack loss after %d rounds of %d clients: %s", last, x.size.among, s.text(loss, last))
}

// table2 adds the claims that the methods have the same order here as in the paper's Table 2.
func (x *trial) table2(s *set) {
	last, theirs := x.size.rounds, func(f func(m method) float64) string {
		return strings.Join(lab.Each(methods,
			func(m method) string { return fmt.Sprintf("%s %g", m.name, f(m)) }), ", ")
	}
	falls := func(metric string, order ...method) bool {
		for i, m := range order[1:] {
			if !(s.curves[order[i]].at(metric, last) > s.curves[m].at(metric, last)) {
				return false
			}
		}
		return true
	}
	x.Report.Claim(falls(success, ada, fedZO, zones, dzopa),
		s.name+": Table 2, success: ZO-AdaFL above FedZO above ZONE-S above DZOPA",
		"after %d rounds %s, on the test set %s; the paper after 600: %s",
		last, s.text(success, last), s.text(testSuccess, last),
		theirs(func(m method) float64 { return table2[m].success }))
	x.Report.Claim(falls(distortion, zones, ada, fedZO, dzopa),
		s.name+": Table 2, distortion: ZONE-S above ZO-AdaFL above FedZO above DZOPA",
		"after %d rounds %s; the paper after 600: %s",
		last, s.text(distortion, last),
		theirs(func(m method) float64 { return table2[m].distortion }))
}

// fewer adds a claim that no paper makes: that clients of ZO-AdaFL can send their contributions
// as scalars.
func (x *trial) fewer(s *set) {
	bytes := func(m method) float64 {
		points := s.curves[m].results[0].Curve.Points
		first, last := points[0], points[len(points)-1]
		return float64(last.Bytes-first.Bytes) / float64(last.Round-first.Round) / clients
	}
	dense := 2 * 4 * s.target.Dim()
	x.Report.Claim(bytes(ada) < float64(dense),
		s.name+": ZO-AdaFL takes fewer bytes than vectors up and down would, which no paper has",
		"%.0f a client and round, announcements included, against %d; FedZO's relay %.0f",
		bytes(ada), dense, bytes(fedZO))
}
