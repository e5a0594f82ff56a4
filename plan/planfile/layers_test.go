package planfile_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
)

func TestLayers(t *testing.T) {
	root := func(v float64) float32 { return float32(math.Sqrt(v)) }
	weight := func(name string, n uint64, scale float32) plan.Segment {
		return plan.Segment{Name: name, Len: n, Fill: plan.UniformFill, Scale: scale}
	}
	for text, want := range map[string][]plan.Segment{
		"relu:784x64,64x10": {weight("weight1", 50176, root(6./784)), {Name: "bias1", Len: 64},
			weight("weight2", 640, root(6./64)), {Name: "bias2", Len: 10}},
		"tanh:3x5, linear:5x1": {weight("weight1", 15, root(6./8)), {Name: "bias1", Len: 5},
			weight("weight2", 5, root(6./6)), {Name: "bias2", Len: 1}},
		// 8 filters of 5x5, whose 4x4 outputs go to a dense layer.
		"relu:25x8,sigmoid:128x2": {weight("weight1", 200, root(6./25)), {Name: "bias1", Len: 8},
			weight("weight2", 256, root(6./130)), {Name: "bias2", Len: 2}},
	} {
		got, err := planfile.Layers(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", text, err, got, want)
		}
	}
}

func TestLayersRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "activation first",
		"784x64":                      "activation first",
		"rely:784x64":                 `"rely"`,
		"relu:784":                    `"784" is no layer`,
		`[{"name":"a"}]`:              "--set segments=",
		"relu:0x5":                    `"0x5" is no layer`,
		"relu:5x-1":                   `"5x-1" is no layer`,
		"relu:784x64,":                `"" is no layer`,
		"relu:784x64,46x10":           "layer 2 has 46 inputs",
		"relu:x":                      `"x" is no layer`,
		"relu:2147483647x1025":        "many weights, 2201170738175: a model has at most 2199023255552",
		"relu:2147483648x1":           `"2147483648x1" has too many inputs: give at most 2147483647`,
		"relu:1x2147483648":           `"1x2147483648" has too many outputs: give at most 2147483647`,
		"relu:99999999999999999999x9": "too many inputs: give at most 2147483647",
	} {
		_, err := planfile.Layers(text)
		if fault := (*plan.Error)(nil); !errors.As(err, &fault) || fault.Field != "segments" ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// SetLayers sets both fields or neither.
func TestSetLayers(t *testing.T) {
	p := testPlan(t)
	err := planfile.SetLayers(p, "relu:784x64,64x10")
	if err == nil || !strings.Contains(err.Error(), "50890") ||
		!strings.Contains(err.Error(), "100") || !reflect.DeepEqual(p, testPlan(t)) {
		t.Errorf("with dim 100: %v, %+v", err, p.Segments)
	}
	large := testPlan(t)
	if large.Dim = 50890; len(plancheck.Warnings(p)) != 0 || len(plancheck.Warnings(large)) != 1 {
		t.Errorf("warnings %q of few zeros, %q of many: want one of many", plancheck.Warnings(p),
			plancheck.Warnings(large))
	}
	const each = "relu:1000000x1000000,"
	err = planfile.SetLayers(p, each+each+"relu:1000000x1000000")
	if err == nil || !strings.Contains(err.Error(), "these layers have 3000003000000 parameters: a "+
		"model has at most 2199023255552") || !reflect.DeepEqual(p, testPlan(t)) {
		t.Errorf("too many parameters: %v, %+v", err, p.Segments)
	}
	p.Dim = 0
	if err := planfile.SetLayers(p, "relu:784x64,64x10"); err != nil || p.Dim != 50890 ||
		len(p.Segments) != 4 || plancheck.Validate(p) != nil {
		t.Errorf("%v: %d, %+v, %v", err, p.Dim, p.Segments, plancheck.Validate(p))
	}
	if got := plancheck.Warnings(p); got != nil {
		t.Errorf("a warning of filled layers: %q", got)
	}
	if err := planfile.SetLayers(p, "relu:784x64,64x10"); err != nil {
		t.Errorf("the same again: %v", err)
	}
	p.Segments, p.Initial = nil, plan.Given
	if got := plancheck.Warnings(p); got != nil {
		t.Errorf("a warning of given parameters: %q", got)
	}
	p.Segments = []plan.Segment{{Name: "a", Len: 50000}, {Name: "b", Len: 800}, {Name: "c", Len: 90}}
	p.Initial = plan.Seeded
	if got := plancheck.Warnings(p); len(got) != 1 || !strings.Contains(got[0], "a linear model") {
		t.Errorf("segments of zeros: %q", got)
	}
}
