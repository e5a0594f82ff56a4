package plan

import (
	"slices"
	"strings"
)

// TrainingLoss is the value of Best that stands for the mean of the losses that devices report with
// their contributions, unless a metric of the plan has that name. Devices measure these losses on
// their minibatches, at the point where a round begins.
const TrainingLoss = "loss"

// BestOfTraining says whether Best is the training loss, and no metric.
func (p *Plan) BestOfTraining() bool {
	return p.Best == TrainingLoss && !slices.Contains(p.Metrics, TrainingLoss)
}

// lowIsGood are parts of the names of metrics that are better the lower they are.
var lowIsGood = []string{"loss", "error", "mse", "mae", "mape", "perplexity", "nll", "entropy",
	"regret", "cost", "wer", "cer"}

// LowestIsBest says whether the lowest value of Best is the best. With [BestByName], a word of the
// metric's name says it: loss, error, cost and the like.
func (p *Plan) LowestIsBest() bool {
	if p.BestWhen != BestByName {
		return p.BestWhen == Lowest
	}
	words := strings.FieldsFunc(strings.ToLower(p.Best), func(r rune) bool {
		return r < 'a' || r > 'z'
	})
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(lowIsGood, func(low string) bool {
			return word == low || len(low) > 3 && strings.HasSuffix(word, low) ||
				word == "r"+low || word == "log"+low
		})
	})
}

// NoEvaluation clears the fields of evaluations, and those that need evaluations.
func (p *Plan) NoEvaluation() {
	p.EvalEvery, p.EvalCount, p.StopMetric = 0, 0, ""
	p.Best, p.BestWhen, p.MinDelta, p.Patience = "", BestByName, 0, 0
}
