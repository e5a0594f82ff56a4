package livetune

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// A trial has as many rounds as fit its share of the budget, and runs only rounds that surely fit
// the rest. Every member that a round asked counts, once for each record.
func TestBudget(t *testing.T) {
	p, err := preset.Unbound("decomfl", "kitchen", 20)
	if err != nil {
		t.Fatal(err)
	}
	p.Perturbations, p.Steps, p.Target, p.OverSample, p.Difference = 9, 1, 10, 1, plan.Forward
	const members, q = 40, 10 // evaluations of a device
	c := &Config{Factors: []float32{1, 2}, Rounds: 50, Queries: 4 * 100 * q}
	b, err := budgetOf(c, p, members)
	if err != nil || b.most() != members*q {
		t.Fatalf("%+v, %v", b, err)
	}
	if got := b.rounds(50, 2); got != 4*100/10/2-1 { // of 10 devices, and one open at the pause
		t.Errorf("%d rounds of the first trial", got)
	}
	if got := b.sure(); got != 4*100/members-1 {
		t.Errorf("%d rounds fit whatever happens", got)
	}
	all := &operate.Status{Members: members, Present: members}
	rounds := []operate.Round{{N: 2, Perturbations: 9, Contributors: 10},
		{N: 3, Perturbations: 9, Contributors: 8, Attempt: 1}}
	left := b.left
	if got := b.spend(rounds, all); got != (10+members+10)*q || b.left != left-got {
		t.Errorf("%d evaluations were spent, %d are left of %d", got, b.left, left)
	}
	some := &operate.Status{Members: members, Present: members - 1}
	if got := b.spend(rounds[:1], some); got != 2*members*q {
		t.Errorf("%d evaluations were spent where some are absent", got)
	}
	survey := []operate.Round{{N: 3, Survey: "sketch"}}
	if got := b.spend(survey, all); got != members*65+10*q {
		t.Errorf("%d evaluations were spent with a sketch", got)
	}
	p.Groups = grouping.Sketch
	if got := b.most(); got != members*(q+65) {
		t.Errorf("a round with sketches may take %d evaluations", got)
	}
	p.Groups = grouping.Auto // asks nobody
	choice := []operate.Round{{N: 3, Survey: grouping.Choice, Contributors: 10}}
	if got := b.spend(choice, all); got != 10*q || b.most() != members*q {
		t.Errorf("%d evaluations were spent with a choice, and a round may take %d", got, b.most())
	}
	p.Groups = grouping.None
	for b.sure() > 0 {
		before := b.left
		worst := []operate.Round{}
		for range b.sure() {
			worst = append(worst, operate.Round{Perturbations: 9, Attempt: 3})
		}
		if got := b.spend(worst, some); got > before {
			t.Errorf("%d evaluations of %d", got, before)
		}
	}
	c.Queries = 2*members*q - 1
	if _, err := budgetOf(c, p, members); !errors.Is(err, ErrUnfit) {
		t.Errorf("a budget of no round: %v", err)
	}
	c.Queries = 0
	if b, err := budgetOf(c, p, members); err != nil || b.left != 2*51*members*q ||
		b.rounds(50, 2) != 50 {
		t.Errorf("the default budget is %d, %v", b.left, err)
	}
}
