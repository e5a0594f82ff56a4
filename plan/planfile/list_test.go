package planfile_test

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// TestListFaults: the error for a list of a wrong form says in plain words what is wrong, and shows
// an example.
func TestListFaults(t *testing.T) {
	const no = "" // the text is no list of the field's elements at all
	tests := []struct{ field, text, want string }{
		{"boxes", `1`, no},
		{"boxes", `{}`, no},
		{"boxes", `null`, no},
		{"boxes", ``, no},
		{"boxes", `[1]`, no},
		{"boxes", `[[]]`, no},
		{"boxes", `[] []`, no},
		{"boxes", `[]]`, no},
		{"boxes", `[`, "the list does not end: "},
		{"boxes", `[{"low":0,`, "the list does not end: "},
		{"boxes", `[{low:0}]`, "character 3 is not JSON: "},
		{"boxes", `[{"low":0,"hi":1}]`, `"hi" is no key of an element: `},
		{"boxes", `[{"low":0,"high":1e39}]`, "high takes no number 1e39: "},
		{"boxes", `[{"low":"a"}]`, "low takes no string: "},
		{"segments", `["a"]`, no},
		{"segments", `[{"name":"a","len":-1}]`, "len takes no number -1: "},
		{"segments", `[{"name":"a","fill":3}]`, "fill takes no number: "},
		{"segments", `[{"name":"a","fill":"x"}]`, `"x" is not one of zero, uniform, normal: `},
		{"perturbation_schedule", `[true]`, no},
		{"perturbation_schedule", `[""]`, no},
		{"perturbation_schedule", `[{"round":[]}]`, "round takes no array: "},
		{"perturbation_schedule", `[{"perturbations":{}}]`, "perturbations takes no object: "},
		{"metrics", `[1]`, no},
		{"metrics", `[loss]`, "character 2 is not JSON: "},
		{"roots", `[{"x":1}]`, no},
		{"roots", `"a"`, no},
		{"stats", `[{"mean":"x"}]`, "mean takes no string: "},
	}
	tried := map[string]bool{}
	for _, test := range tests {
		tried[test.field] = true
		err := planfile.Set(&plan.Plan{}, test.field, test.text)
		said, example, _ := strings.Cut(err.Error(), " such as ")
		want := "plan: " + test.field + " = " + test.text + ": " + test.want + "give a JSON list"
		if said != want {
			t.Errorf("got  %s\nwant %s", said, want)
		}
		p := &plan.Plan{}
		if err := planfile.Set(p, test.field, example); err != nil || isZero(p, test.field) {
			t.Errorf("%s=%s is shown as an example, but gives %v", test.field, example, err)
		}
	}
	for _, f := range plan.Fields() {
		if f.Form() == "list" && !tried[f.Name] {
			t.Errorf("no wrong value of %s was tried", f.Name)
		}
	}
}

func isZero(p *plan.Plan, name string) bool {
	for _, f := range plan.Fields() {
		if f.Name == name {
			return f.IsZero(p)
		}
	}
	return true
}

// TestFrozen: a factor of 0, which a plan could not tell from none, is refused with what freezes
// parameters; other factors, and none, are read.
func TestFrozen(t *testing.T) {
	for text, want := range map[string]string{
		`[{"name":"a","len":3,"mu_scale":0}]`:                               `mu_scale=0 of "a"`,
		`[{"name":"a","len":3},{"name":"b","len":1,"step_scale":0.0}]`:      `step_scale=0 of "b"`,
		`[{"name":"a","len":3,"step_scale":-0}]`:                            `step_scale=0 of "a"`,
		`[{"name":"a","len":3,"mu_scale":0.5},{"name":"b","len":1}]`:        "",
		`[{"name":"a","len":3,"fill":"normal","scale":1,"step_scale":1e3}]`: "",
	} {
		err := planfile.Set(&plan.Plan{}, "segments", text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(),
			want) || !strings.Contains(err.Error(), "--train '*,!PATTERN'")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
