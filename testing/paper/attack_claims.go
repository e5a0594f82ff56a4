package paper

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/testing/paper/lab"
)

// attackTable2 is Table 2: Fashion-MNIST after 600 rounds.
var attackTable2 = map[attackMethod]struct{ success, distortion float64 }{
	attackAda:   {.8966, 23.23},
	attackFedZO: {.8372, 8.95},
	attackZONES: {.7628, 44.82},
	attackDZOPA: {.4836, 8.60},
}

func (x *attackRun) claims() {
	first := x.sets[0]
	x.report.Claim(first.accuracy >= .985,
		first.name+": the classifier under attack is at least 98.5 % right",
		"%.4f on the test set (the paper's 0.994)", first.accuracy)
	x.moreSteps()
	x.moreClients()
	for _, s := range x.sets {
		if s.name == "mnist" {
			x.lowest(s)
			x.early(s)
		} else {
			x.between(s)
			x.table2(s)
		}
		x.fewer(s)
	}
}

// moreSteps claims the result of figure 2a.
func (x *attackRun) moreSteps() {
	var names []string
	for _, k := range x.size.steps {
		names = append(names, fmt.Sprintf("K=%d", k))
	}
	holds, text := x.falling(x.steps, names)
	x.report.Claim(holds,
		x.sets[0].name+": the larger K, the lower the attack loss after as many rounds", "%s", text)
}

// moreClients claims the result of figure 2b.
func (x *attackRun) moreClients() {
	var names []string
	for _, m := range x.size.asked {
		names = append(names, fmt.Sprintf("m=%d", m))
	}
	holds, text := x.falling(x.asked, names)
	x.report.Claim(holds, x.sets[0].name+
		": the more clients a round, the lower the attack loss after as many rounds", "%s", text)
}

// falling reports whether the attack loss falls from curve to curve, both halfway and at
// the end of the sweep.
func (x *attackRun) falling(curves []*attackCurve, names []string) (bool, string) {
	holds := true
	var parts []string
	for _, round := range []uint64{x.half(x.size.sweep), x.size.sweep} {
		var line []string
		for i, c := range curves {
			if i > 0 {
				holds = holds && c.at(attackLoss, round) <= curves[i-1].at(attackLoss, round)
			}
			line = append(line, names[i]+" "+lab.Spread(c.results.At(attackLoss, round)))
		}
		parts = append(parts, fmt.Sprintf("round %d: %s", round, strings.Join(line, ", ")))
	}
	return holds, strings.Join(parts, "; ")
}

// half returns the measured round at half of rounds.
func (x *attackRun) half(rounds uint64) uint64 {
	return max(rounds/2/x.size.every*x.size.every, x.size.every)
}

// text lists a metric of all methods after a round.
func (s *attackSet) text(metric string, round uint64) string {
	var parts []string
	for _, m := range attackMethods {
		parts = append(parts, s.curves[m].text(metric, round))
	}
	return strings.Join(parts, ", ")
}

// below reports whether ZO-AdaFL's attack loss is less than that of the others.
func (s *attackSet) below(round uint64, others ...attackMethod) bool {
	for _, m := range others {
		if !(s.curves[attackAda].at(attackLoss, round) < s.curves[m].at(attackLoss, round)) {
			return false
		}
	}
	return true
}

// lowest claims the result at the end of figure 3a.
func (x *attackRun) lowest(s *attackSet) {
	last := x.size.rounds
	x.report.Claim(s.below(last, attackFedZO, attackDZOPA, attackZONES),
		s.name+": ZO-AdaFL ends with less attack loss than FedZO, DZOPA and ZONE-S",
		"attack loss after %d rounds of %d clients: %s; success: %s; distortion: %s",
		last, x.size.among, s.text(attackLoss, last), s.text(success, last), s.text(distortion, last))
}

// early claims what the text says about the first 100 rounds of figure 3a.
func (x *attackRun) early(s *attackSet) {
	round := min(100/x.size.every*x.size.every, x.half(x.size.rounds))
	ada, fedzo := s.curves[attackAda], s.curves[attackFedZO]
	x.report.Claim(s.below(round, attackFedZO),
		s.name+": in the first 100 rounds ZO-AdaFL's attack loss is below FedZO's",
		"round %d: %s, %s", round, ada.text(attackLoss, round), fedzo.text(attackLoss, round))
}

// between claims the result of figure 3b.
func (x *attackRun) between(s *attackSet) {
	last := x.size.rounds
	zones := s.curves[attackZONES].at(attackLoss, last) < s.curves[attackAda].at(attackLoss, last)
	x.report.Claim(s.below(last, attackFedZO, attackDZOPA) && zones,
		s.name+": ZO-AdaFL ends with less attack loss than FedZO and DZOPA, and more than ZONE-S",
		"attack loss after %d rounds of %d clients: %s", last, x.size.among, s.text(attackLoss, last))
}

// table2 claims the orders in Table 2.
func (x *attackRun) table2(s *attackSet) {
	last, theirs := x.size.rounds, func(f func(m attackMethod) float64) string {
		var parts []string
		for _, m := range attackMethods {
			parts = append(parts, fmt.Sprintf("%s %g", m.name, f(m)))
		}
		return strings.Join(parts, ", ")
	}
	falls := func(metric string, order ...attackMethod) bool {
		for i, m := range order[1:] {
			if !(s.curves[order[i]].at(metric, last) > s.curves[m].at(metric, last)) {
				return false
			}
		}
		return true
	}
	x.report.Claim(falls(success, attackAda, attackFedZO, attackZONES, attackDZOPA),
		s.name+": Table 2, success: ZO-AdaFL above FedZO above ZONE-S above DZOPA",
		"after %d rounds %s, on the test set %s; the paper after 600: %s",
		last, s.text(success, last), s.text(testSuccess, last),
		theirs(func(m attackMethod) float64 { return attackTable2[m].success }))
	x.report.Claim(falls(distortion, attackZONES, attackAda, attackFedZO, attackDZOPA),
		s.name+": Table 2, distortion: ZONE-S above ZO-AdaFL above FedZO above DZOPA",
		"after %d rounds %s; the paper after 600: %s",
		last, s.text(distortion, last),
		theirs(func(m attackMethod) float64 { return attackTable2[m].distortion }))
}

// fewer claims what no paper does: that ZO-AdaFL's contributions travel as scalars.
func (x *attackRun) fewer(s *attackSet) {
	bytes := func(m attackMethod) float64 {
		points := s.curves[m].results[0].Curve.Points
		first, last := points[0], points[len(points)-1]
		return float64(last.Bytes-first.Bytes) / float64(last.Round-first.Round) / attackClients
	}
	dense := 2 * 4 * s.target.Dim()
	x.report.Claim(bytes(attackAda) < float64(dense),
		s.name+": ZO-AdaFL takes fewer bytes than vectors up and down would, which no paper has",
		"%.0f a client and round, announcements included, against %d; FedZO's relay %.0f",
		bytes(attackAda), dense, bytes(attackFedZO))
}
