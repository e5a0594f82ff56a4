package engine_test

import (
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
)

// plans cover the ways in which a record results from contributions.
var plans = []string{
	"",
	"weights=samples claim_bound=2",
	"precision=half max_scalar=60000 weights=samples bound=3",
	"bound=2",
	"bound=1.5 trust=5",
	`bound=1.5 trust=8 roots=["d1"] over_sample=2`,
	"late=2 bound=2 weights=samples claim_bound=2",
	"late=3 async=on",
	"late=1 over_sample=2 bound=1.5",
	"late=2 over_sample=2 sharing=per-client transport=relay precision=half max_scalar=60000",
	"late=2 aggregator=clipped-mean clip=2 bound=3",
	"late=2 sharing=per-client transport=relay weights=samples aggregator=clipped-mean clip=2",
	"late=2 async=on sharing=per-client transport=relay bound=2",
	"sharing=per-client transport=relay precision=int4 max_scalar=60000 steps=2 bound=2",
	"aggregator=median",
	"aggregator=trimmed-mean trim=0.4 bound=2",
	"aggregator=trimmed-mean trim=0.4 quorum=3 liars=1 bound=2 trust=5",
	"aggregator=clipped-mean clip=3 weights=samples",
	"control=scaffold-1 weights=samples steps=2 bound=2",
	"control=scaffold-2 bound=3",
	"control=scaffold-1 weights=samples cohort=round",
	"sharing=groups transport=relay groups=random group_size=3 regroup=2 target=6 bound=3",
	"sharing=groups transport=relay groups=auto regroup=2 target=6 weights=samples",
	"sharing=groups transport=relay groups=sketch group_size=3 regroup=2 target=6 bound=2",
	"sharing=groups transport=relay groups=sketch group_size=3 regroup=2 target=6 classes=2 batch=40",
	"sharing=groups transport=relay groups=sketch group_size=3 regroup=2 target=6 classes=2 batch=40" +
		" bound=2 claim_bound=2",
	"transport=dense dense_keep=4 max_scalar=1e20 weights=samples claim_bound=2",
	"transport=dense dense_keep=3 max_scalar=1e20",
	"mu=auto bound=3",
	"mu=auto step=auto server_rule=normalized server_beta1=0.9 server_beta2=0.99 bound=2",
	"secure=sum quorum=4 target=5 max_scalar=100 deadline=800 max_attempts=3",
	"secure=sum quorum=4 target=6 max_scalar=100 deadline=800 max_attempts=3 over_sample=1",
	"dp_clip=2 dp_noise=1 dp_delta=1e-5 dp_by=coordinator perturbations=8",
	"roster=open over_sample=2",
	"roster=open late=2 async=on",
	"diverge=0.5",
	"rounds=4",
	"best=loss patience=12",
	"best=loss best_when=highest min_delta=0.01 claim_bound=4 weights=samples",
	`best=loss metrics=["acc"]`, // the training loss
}

// draw returns the next plan of the list, with some fields drawn at random.
func (w *walk) draw(seed uint64) *plan.Plan {
	plan := chaintest.Plan(w)
	pick := func(list ...string) string { return list[w.rng.IntN(len(list))] }
	w.fields = []string{"members=5", pick("target=3", "target=4", "target=5"),
		pick("quorum=1", "quorum=2"), pick("over_sample=1", "over_sample=1.5", "over_sample=2"),
		pick("deadline=60", "deadline=200"),
		pick("reannounce=20", "reannounce=70"), pick("max_attempts=2", "max_attempts=4"),
		pick("perturbations=2", "perturbations=3"), pick("digest_every=0", "digest_every=2"),
		"eval_every=2", "eval_count=3", `metrics=["loss"]`}
	w.fields = append(w.fields, strings.Fields(plans[seed%uint64(len(plans))])...)
	switch stops := w.rng.IntN(12) == 0; {
	case slices.Contains(w.fields, "secure=sum"):
		w.fields = append(w.fields, "eval_every=0", "eval_count=0", "metrics=[]", "digest_every=0")
	case stops && !slices.Contains(w.fields, "dp_clip=2") &&
		!slices.Contains(w.fields, `metrics=["acc"]`):
		w.fields = append(w.fields, "stop_metric=loss", "stop_when=below", "stop_value=0.3")
	}
	for _, f := range w.fields {
		name, value, _ := strings.Cut(f, "=")
		w.must(planfile.Set(plan, name, value))
	}
	w.must(valid.Plan(plan))
	return plan
}
