package plan_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
)

func TestLowestIsBest(t *testing.T) {
	for name, lowest := range map[string]bool{
		"loss": true, "val_loss": true, "LogLoss": true, "error": true, "error-rate": true, "rmse": true,
		"test/mae": true, "perplexity": true, "top5_error": true, "nll": true, "wer": true,
		"accuracy": false, "f1": false, "auc": false, "power": false, "lossless": false, "r2": false,
		"score": false, "answer": false,
	} {
		p := plan.Plan{}
		p.Best = name
		if p.LowestIsBest() != lowest {
			t.Errorf("%s: the lowest is best: %v, want %v", name, !lowest, lowest)
		}
		for _, when := range []plan.BestWhen{plan.Highest, plan.Lowest} {
			if p.BestWhen = when; p.LowestIsBest() != (when == plan.Lowest) {
				t.Errorf("%s, best_when=%v: %v", name, when, p.LowestIsBest())
			}
		}
	}
}

func TestBestOfTraining(t *testing.T) {
	p := plan.Plan{}
	p.Best = plan.TrainingLoss
	if !p.BestOfTraining() {
		t.Error("without metrics, loss is not the training loss")
	}
	if p.Metrics = []string{"accuracy", "loss"}; p.BestOfTraining() {
		t.Error("a metric is the training loss")
	}
	p.EvalEvery, p.StopMetric, p.Patience = 10, "loss", 3
	if p.NoEvaluation(); p.Best != "" || p.Patience != 0 || p.EvalEvery != 0 || p.StopMetric != "" {
		t.Errorf("%+v evaluates", p)
	}
}
