package fzoos

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/papers/lab"
)

// farFewer says which ratio of queries the experiments take for the paper's "far fewer queries":
// at most a third.
const farFewer = 3

// sooner adds the claim that our method reaches the final value of every other method in fewer
// rounds and with far fewer queries.
func (x *boxRun) sooner(ours *boxCurve, others []*boxCurve, how string) {
	t := ours.task
	rounds, queries := true, true
	var a, b []string
	for _, c := range others {
		r := ours.first(c.end())
		rounds = rounds && r > 0 && r < t.rounds
		queries = queries && r > 0 && farFewer*ours.queries(r) <= c.queries(t.rounds)
		end := fmt.Sprintf("%s %s", c.label(), c.ends())
		if r == 0 {
			a, b = append(a, end+": never"), append(b, end+": never")
			continue
		}
		a = append(a, fmt.Sprintf("%s: %d", end, r))
		b = append(b, fmt.Sprintf("%s, %.0f: %.0f", end, c.queries(t.rounds), ours.queries(r)))
	}
	who := fmt.Sprintf("%s: %s gets to where %s (%s) end", t.title, ours.Title, titles(others), how)
	x.Report.Claim(rounds, who+" in fewer rounds",
		"%s after %d rounds, and the round in which %s (%s) is there: %s",
		t.metric, t.rounds, ours.Title, ours.ends(), strings.Join(a, "; "))
	x.Report.Claim(queries, who+fmt.Sprintf(" with at most 1/%d of the queries", farFewer),
		"%s and queries after %d rounds, and %s's: %s",
		t.metric, t.rounds, ours.Title, strings.Join(b, "; "))
}

// ends formats the metric after the last round.
func (c *boxCurve) ends() string {
	return lab.SpreadError(c.results.At(c.task.metric, c.task.rounds))
}

// reaches adds the claim that our method reaches a level before all other methods, by rounds and
// by queries. If no method reaches the level, reaches adds no claim.
func (x *boxRun) reaches(level float64, ours *boxCurve, others []*boxCurve) {
	t, own, any := ours.task, ours.first(level), ours.first(level) > 0
	rounds, queries := own > 0, own > 0
	var parts []string
	for _, c := range append([]*boxCurve{ours}, others...) {
		r := c.first(level)
		if r == 0 {
			parts = append(parts, c.label()+" never")
			continue
		}
		any = true
		parts = append(parts, fmt.Sprintf("%s %d, %.0f", c.label(), r, c.queries(r)))
		if c != ours {
			rounds = rounds && own < r
			queries = queries && farFewer*ours.queries(own) <= c.queries(r)
		}
	}
	if !any {
		return
	}
	x.Report.Claim(rounds, fmt.Sprintf("%s: %s is at %s %g in the fewest rounds",
		t.title, ours.Title, t.metric, level),
		"round and queries: %s", strings.Join(parts, "; "))
	x.Report.Claim(queries, fmt.Sprintf("%s: with at most 1/%d of the queries of any other",
		t.title, farFewer), "as above")
}

// ordered adds the claim that the final values of the curves ascend in the given order.
func (x *boxRun) ordered(claim string, curves []*boxCurve) {
	holds := true
	var parts []string
	for i, c := range curves {
		holds = holds && (i == 0 || curves[i-1].end() <= c.end())
		parts = append(parts, fmt.Sprintf("%s %s", c.label(), c.ends()))
	}
	x.Report.Claim(holds, claim, "%s after %d rounds: %s",
		curves[0].task.metric, curves[0].task.rounds, strings.Join(parts, "; "))
}
