package preset_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestFit: Fit does not change the fields that the author of a plan of zofl has set, and adapts how
// devices share directions.
func TestFit(t *testing.T) {
	const own, half, shared = "per-client relay none 0 int4", "per-client relay none 0 half",
		"shared mean none 0 half"
	const random = "groups relay random 1 int8"
	for settings, want := range map[string]string{
		"":                               "groups relay auto 10 int8",
		"precision=half":                 "groups relay auto 10 half",
		"sharing=groups":                 "groups relay auto 10 int8",
		"groups=sketch group_size=5":     "groups relay sketch 10 int8",
		"target=128 members=128":         "groups relay auto 10 int8",
		"target=129 members=129":         random,
		"over_sample=13":                 own, // 10 count
		"weights=samples":                "groups relay auto 10 int8",
		"sharing=per-client":             own,
		"groups=none":                    own,
		"regroup=0":                      own,
		"weights=samples precision=int2": "groups relay auto 10 int2",
		"perturbations=400 target=100 members=100": own, // records of groups would be too long
		"late=2":                                                    half,
		"late=2 precision=half":                                     half,
		"late=2 precision=single":                                   "per-client relay none 0 single",
		"sharing=groups target=500 members=500":                     random,
		"late=2 target=1000 members=1000":                           shared,
		"target=1000 members=1000 aggregator=median":                shared,
		"target=1000 members=1000 sharing=per-client":               own,
		"target=10000 members=10000":                                random,
		"target=200 members=200 perturbations=100 weights=samples":  random,
		"roster=open":                                               random,
		"roster=open weights=samples target=500 members=500":        random,
		"roster=open target=8193":                                   random,
		"roster=open target=100000 members=100000":                  random,
		"roster=open target=4 quorum=3 over_sample=1":               shared,
		"roster=open precision=half":                                "groups relay random 1 half",
		"roster=open groups=random group_size=9":                    "groups relay random 10 int8",
		"roster=open aggregator=median":                             shared,
		"roster=open weights=samples target=500 members=500 late=2": shared,
		"aggregator=median":                                         shared,
		"aggregator=trimmed-mean trim=0.2":                          shared,
		"transport=mean":                                            shared,
		"sharing=shared":                                            shared,
		"sharing=shared transport=mean":                             shared,
		"sharing=shared transport=mean precision=single":            "shared mean none 0 single",
	} {
		p := planOf(t, "zofl")
		set := setAll(t, p, settings)
		before, refused := *p, valid.Plan(p) != nil
		note := preset.Fit(p, set...)
		if err := valid.Plan(p); err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		if got := mannerOf(t, p); got != want {
			t.Errorf("%s: got %s, want %s", settings, got, want)
		}
		if (note != "") != refused || !refused && !reflect.DeepEqual(*p, before) {
			t.Errorf("%s: was refused %v, and says %q", settings, refused, note)
		}
		for _, s := range set {
			if has, was := fieldOf(t, p, s), fieldOf(t, &before, s); has != was {
				t.Errorf("%s: %s was set to %s and is %s", settings, s, was, has)
			}
		}
	}
}

// setAll sets fields, and returns their names.
func setAll(t *testing.T, p *plan.Plan, settings string) (set []string) {
	t.Helper()
	for _, s := range strings.Fields(settings) {
		name, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
		set = append(set, name)
	}
	return set
}

// mannerOf returns how devices share directions.
func mannerOf(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var list []string
	for _, name := range []string{"sharing", "transport", "groups", "regroup", "precision"} {
		list = append(list, fieldOf(t, p, name))
	}
	return strings.Join(list, " ")
}

// fieldOf returns a field as people write it.
func fieldOf(t *testing.T, p *plan.Plan, name string) string {
	t.Helper()
	for _, f := range plan.Fields() {
		if f.Name != name {
			continue
		}
		if v, ok := f.At(p).(*uint8); ok {
			return f.Choice(*v)
		}
		return fmt.Sprint(reflect.ValueOf(f.At(p)).Elem())
	}
	t.Fatalf("no field %s", name)
	return ""
}

// TestFitBounds: however many devices contribute, a record has some 160 directions, and a device
// need not read more than a few hundred bytes.
func TestFitBounds(t *testing.T) {
	for _, roster := range []string{"dense", "open"} {
		for _, n := range []int{129, 200, 1000, 10_000, 100_000} {
			for _, perturbations := range []int{10, 40} {
				p := planOf(t, "zofl")
				preset.Fit(p, setAll(t, p, fmt.Sprintf("roster=%s members=%d target=%d perturbations=%d",
					roster, n, n, perturbations))...)
				c := cost.Of(p, cost.Input{Round: 1000, IDLen: 8})
				if err := valid.Plan(p); err != nil || c.Directions < 120 || c.Directions > 250 ||
					c.Down.Socket > 600 {
					t.Errorf("%s, %d devices, P=%d: %d directions, %d bytes, %v", roster, n, perturbations,
						c.Directions, c.Down.Socket, err)
				}
			}
		}
	}
}

// TestFitLeaves: if an author has set a way of sharing that cannot run, Fit does not replace it,
// and package valid refuses the plan.
func TestFitLeaves(t *testing.T) {
	for _, settings := range []string{"sharing=groups late=2", "groups=auto roster=open",
		"groups=auto target=500 members=500", "aggregator=median transport=relay",
		"roster=open sharing=per-client", "late=2 precision=int8", "sharing=shared precision=int4",
		"mu=-1", "late=2 groups=random group_size=5"} {
		p := planOf(t, "zofl")
		set := setAll(t, p, settings)
		before := *p
		if note := preset.Fit(p, set...); note != "" || !reflect.DeepEqual(*p, before) {
			t.Errorf("%s: changed to %s: %q", settings, mannerOf(t, p), note)
		}
		if valid.Plan(p) == nil {
			t.Errorf("%s can run", settings)
		}
	}
	p := planOf(t, "fedzo")
	p.Roster = plan.OpenRoster
	if note := preset.Fit(p); note != "" || p.Sharing != plan.PerClient {
		t.Errorf("fedzo is changed: %q", note)
	}
}

// TestFitSays: Fit returns one sentence that names the fields it has changed.
func TestFitSays(t *testing.T) {
	p := planOf(t, "zofl")
	p.Late = 2
	if got, want := preset.Fit(p), "late=2 does not go with how the preset zofl shares "+
		"directions, so this plan has sharing=per-client precision=half groups=none "+
		"regroup=0."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p = planOf(t, "zofl")
	p.Sharing, p.Transport = plan.SharedDirections, plan.Mean
	if got, want := preset.Fit(p), "sharing=shared transport=mean does not go with how the preset "+
		"zofl shares directions, so this plan has precision=half groups=none regroup=0."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFitGoesOn: if a plan has another fault too, package valid refuses the plan for that fault
// after Fit.
func TestFitGoesOn(t *testing.T) {
	for settings, lacks := range map[string]string{
		"secure=sum max_scalar=1000 eval_every=0":                                   "mu=auto",
		"dp_clip=1 dp_noise=1 dp_delta=1e-5 max_scalar=1000 diverge=0 eval_every=0": "mu=auto",
	} {
		p := planOf(t, "zofl")
		note := preset.Fit(p, setAll(t, p, settings)...)
		if got := mannerOf(t, p); note == "" || got != "shared mean none 0 half" {
			t.Errorf("%s: %q, %s", settings, note, got)
		}
		if err := valid.Plan(p); err == nil || !strings.Contains(err.Error(), lacks) {
			t.Errorf("%s: lacks %s, and is refused for %v", settings, lacks, err)
		}
	}
}
