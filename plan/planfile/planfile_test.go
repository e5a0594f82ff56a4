package planfile_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/wiretest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// records returns the records among the vectors of package wire.
func records(t testing.TB) (list [][]byte) {
	t.Helper()
	vectors, err := wiretest.Load("../../wire/testdata/vectors")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if v.Frame == "record" && v.Expect == "ok" {
			list = append(list, v.Bytes)
		}
	}
	return list
}

// fullPlan returns a plan without zero fields. The plan cannot run.
func fullPlan(t testing.TB) *plan.Plan {
	t.Helper()
	for _, b := range records(t) {
		r, err := wire.DecodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Plan; p != nil && !slices.ContainsFunc(plan.Fields(),
			func(f plan.Field) bool { return f.IsZero(p) }) {
			return p
		}
	}
	t.Fatal("no full plan among the vectors")
	return nil
}

// testPlan returns a plan that can run, the same at each call.
func testPlan(t testing.TB) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = slices.Repeat(plan.Bytes{7}, 32)
	return p
}

// TestFullPlanIsFull: fullPlan sets every field that exists.
func TestFullPlanIsFull(t *testing.T) {
	b, err := json.Marshal((*planfile.Plan)(fullPlan(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plan.Fields() {
		if !strings.Contains(string(b), `"`+f.Name+`":`) {
			t.Errorf("%s is zero", f.Name)
		}
	}
}

func TestPlanJSONRoundTrip(t *testing.T) {
	full := fullPlan(t)
	full.StopValue = -1.1754944e-38 // the smallest normal float32
	filled := testPlan(t)
	filled.Segments = []plan.Segment{{Name: "w", Len: 60, Fill: plan.UniformFill, Scale: 0.1},
		{Name: "b", Len: 40, StepScale: 2}}
	for _, p := range []*plan.Plan{testPlan(t), full, filled, {}} {
		b, err := json.Marshal((*planfile.Plan)(p))
		if err != nil {
			t.Fatal(err)
		}
		got := &plan.Plan{}
		if err := json.Unmarshal(b, (*planfile.Plan)(got)); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !reflect.DeepEqual(got, p) {
			t.Errorf("%s\ngot  %+v\nwant %+v", b, got, p)
		}
	}
}

func TestPlanJSONWritesInOrder(t *testing.T) {
	b, err := json.Marshal((*planfile.Plan)(fullPlan(t)))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, f := range plan.Fields() {
		if i := strings.Index(string(b), `"`+f.Name+`":`); i >= 0 {
			if i < at {
				t.Errorf("%s comes before the field of the number before it", f.Name)
			}
			at = i
		}
	}
}

func TestPlanJSONFaults(t *testing.T) {
	tests := []struct{ file, want string }{
		{`[]`, "not a JSON object"},
		{`null`, "not a JSON object"},
		{`{"nosuch":1}`, "no field has this name"},
		{`{"Mu":1}`, "no field has this name"},
		{`{"mu":1,"mu":2}`, "once"},
		{`{"mu":"1"}`, "give auto, or a number 1e-18..1e+18"},
		{`{"mu":null}`, "give auto, or a number"},
		{`{"mu":[1]}`, "give auto, or a number"},
		{`{"mu":1e39}`, "give auto, or a number"},
		{`{"steps":1.5}`, "give a whole number, 1..65535"},
		{`{"steps":-1}`, "give a whole number"},
		{`{"steps":4294967297}`, "give a whole number"},
		{`{"rounds":18446744073709551616}`, "give a whole number"},
		{`{"rule":2}`, "in quotes"},
		{`{"rule":"yogi"}`, "choose one of sgd, momentum, torch-momentum, adam"},
		{`{"boxes":[{"low":0,"hi":1}]}`, "hi"},
		{`{"boxes":[{"low":0,"high":1e39}]}`, "high"},
		{`{"boxes":{"low":0,"high":1}}`, "JSON list"},
		{`{"rule":null}`, "in quotes"},
		{`{"run":null}`, "in quotes"},
		{`{"run":7}`, "in quotes"},
		{`{"run_key":"xy"}`, "hexadecimal"},
		{`{"metrics":"loss"}`, "JSON list"},
		{`{"metrics":null}`, "JSON list"},
		{`{"segments":[{"name":"a","len":1,"size":2}]}`, "size"},
		{`{"segments":[{"name":"a","len":-1}]}`, "len"},
		{`{"segments":[{"name":"a","len":1,"fill":"xavier"}]}`, "xavier"},
	}
	for _, test := range tests {
		err := json.Unmarshal([]byte(test.file), &planfile.Plan{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.file, err, test.want)
		}
	}
}

func TestRead(t *testing.T) {
	b, err := json.Marshal((*planfile.Plan)(testPlan(t)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := planfile.Read(strings.NewReader(string(b)))
	if err != nil || !reflect.DeepEqual(got, testPlan(t)) {
		t.Errorf("got %+v, %v", got, err)
	}
	edited := "\ufeff// for the kitchen\n" + strings.Replace(string(b), "{", "{ /* ours */", 1) + "# x"
	if got, err := planfile.Read(strings.NewReader(edited)); err != nil ||
		!reflect.DeepEqual(got, testPlan(t)) {
		t.Errorf("with a mark and comments: got %+v, %v", got, err)
	}
	faults := map[string]string{
		`{`: "plan: unexpected", `{"mu":true}`: "plan: mu = true: ", `{}`: "plan: scheme = 0: ",
	}
	for file, want := range faults {
		if _, err := planfile.Read(strings.NewReader(file)); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		name, text string
		want       func(*plan.Plan)
	}{
		{"mu", ".5", func(p *plan.Plan) { p.Mu = 0.5 }},
		{"rule", "momentum", func(p *plan.Plan) { p.Rule = plan.Momentum }},
		{"run", "other", func(p *plan.Plan) { p.Run = "other" }},
		{"rounds", "9007199254740992", func(p *plan.Plan) { p.Rounds = 1 << 53 }},
		{"run_key", "00ff", func(p *plan.Plan) { p.RunKey = plan.Bytes{0, 0xff} }},
		{"metrics", `["loss"]`, func(p *plan.Plan) { p.Metrics = []string{"loss"} }},
		{"metrics", `[]`, func(p *plan.Plan) { p.Metrics = []string{} }},
		{"metrics", ` [] `, func(p *plan.Plan) { p.Metrics = []string{} }},
		{"segments", `[{"name":"a","len":100,"fill":"normal","scale":0.1}]`, func(p *plan.Plan) {
			p.Segments = []plan.Segment{{Name: "a", Len: 100, Fill: plan.NormalFill, Scale: 0.1}}
		}},
		{"perturbation_schedule", `[{"round":5,"perturbations":3}]`, func(p *plan.Plan) {
			p.PerturbationSchedule = []plan.PerturbationPoint{{Round: 5, Perturbations: 3}}
		}},
	}
	for _, test := range tests {
		got, want := testPlan(t), testPlan(t)
		test.want(want)
		if err := planfile.Set(got, test.name, test.text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s=%s: got %+v, %v\nwant %+v", test.name, test.text, got, err, want)
		}
	}
	for _, bad := range [][2]string{{"mu", "1e-3 garbage"}, {"mu", ""}, {"rule", "nosuch"},
		{"nosuch", "1"}, {"steps", "0x10"},
		{"metrics", `["loss"] []`}, {"metrics", `{}`}, {"run_key", "0"}} {
		got := testPlan(t)
		err := planfile.Set(got, bad[0], bad[1])
		if fault := (*plan.Error)(nil); !errors.As(err, &fault) || fault.Field != bad[0] {
			t.Errorf("%s=%s: got %v, want a *PlanError of that field", bad[0], bad[1], err)
		}
		if !reflect.DeepEqual(got, testPlan(t)) {
			t.Errorf("%s=%s: changed the plan to %+v", bad[0], bad[1], got)
		}
	}
}

// TestSetDoesNotShare: Set replaces a list, and does not write to the old list, because another
// plan may share it.
func TestSetDoesNotShare(t *testing.T) {
	old := testPlan(t)
	if err := planfile.Set(old, "segments",
		`[{"name":"a","len":100,"scale":1,"fill":"normal"}]`); err != nil {
		t.Fatal(err)
	}
	p := *old
	if err := planfile.Set(&p, "segments", `[{"name":"b","len":100}]`); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Segments[0], (plan.Segment{Name: "b", Len: 100}); got != want {
		t.Errorf("got %+v, want %+v: merged into the old segment", got, want)
	}
	if old.Segments[0].Name != "a" {
		t.Errorf("the other plan has segment %+v now", old.Segments[0])
	}
}

func TestChangeSetAndApply(t *testing.T) {
	c := &plan.Change{}
	for _, s := range [][2]string{{"deadline", "1000"}, {"mu", "0.5"}, {"weight_decay", "0"},
		{"mu", "0.25"}} {
		if err := planfile.SetChange(c, s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"dim", "nosuch", "mu"} {
		if err := planfile.SetChange(c, bad, "x"); err == nil {
			t.Errorf("%s can be changed to x", bad)
		}
	}
	if b, err := json.Marshal((*planfile.Change)(c)); err != nil ||
		string(b) != `{"mu":0.25,"weight_decay":0,"deadline":1000}` {
		t.Errorf("JSON %s, %v, want the three fields, zero or not", b, err)
	}
	record := (&wire.Record{N: 2, Kind: wire.KindChange, Change: c}).Append(nil)
	r, err := wire.DecodeRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	got, want := testPlan(t), testPlan(t)
	got.WeightDecay = 0.1
	r.Change.Apply(got)
	want.Deadline, want.Mu = 1000, 0.25
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestSetAll: SetAll sets fields in the order of the settings, stops at the first wrong setting,
// and returns the names of the fields that it has set.
func TestSetAll(t *testing.T) {
	p := &plan.Plan{}
	names, err := planfile.SetAll(p, []string{"rounds=7", "step=auto", "rounds=9"})
	if err != nil || !slices.Equal(names, []string{"rounds", "step", "rounds"}) || p.Rounds != 9 ||
		p.StepAuto != 1 {
		t.Errorf("%v, %v: %d rounds, step_auto %d", names, err, p.Rounds, p.StepAuto)
	}
	for _, wrong := range []string{"rounds", "rounds=x"} {
		names, err := planfile.SetAll(p, []string{"rounds=8", wrong, "step=1"})
		if fault := new(plan.Error); !errors.As(err, &fault) || fault.Field != "rounds" ||
			len(names) != 1 {
			t.Errorf("%s: %v after %v", wrong, err, names)
		}
	}
}
