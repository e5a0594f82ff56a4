package wire_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// fullPlan returns a plan without zero fields, which cannot run.
func fullPlan(t testing.TB) *wire.Plan {
	t.Helper()
	r, err := wire.DecodeRecord(vector(t, "record-plan-all-80"))
	if err != nil {
		t.Fatal(err)
	}
	return r.Plan
}

// TestFullPlanIsFull: fullPlan sets every field that exists.
func TestFullPlanIsFull(t *testing.T) {
	b, err := json.Marshal(fullPlan(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range wire.Fields() {
		if !strings.Contains(string(b), `"`+f.Name+`":`) {
			t.Errorf("%s is zero", f.Name)
		}
	}
}

func TestPlanJSONRoundTrip(t *testing.T) {
	full := fullPlan(t)
	full.StopValue = -1.1754944e-38 // the smallest normal float32
	filled := plan(t)
	filled.Segments = []wire.Segment{{Name: "w", Len: 60, Fill: wire.UniformFill, Scale: 0.1},
		{Name: "b", Len: 40, StepScale: 2}}
	for _, p := range []*wire.Plan{plan(t), full, filled, {}} {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		got := &wire.Plan{}
		if err := json.Unmarshal(b, got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !reflect.DeepEqual(got, p) {
			t.Errorf("%s\ngot  %+v\nwant %+v", b, got, p)
		}
	}
}

func TestPlanJSONWritesInOrder(t *testing.T) {
	b, err := json.Marshal(fullPlan(t))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, f := range wire.Fields() {
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
		{`{"mu":"1"}`, "give a number 1e-18..1e+18"},
		{`{"mu":null}`, "give a number"},
		{`{"mu":[1]}`, "give a number"},
		{`{"mu":1e39}`, "give a number"},
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
		{`{"metrics":null}`, "one JSON list"},
		{`{"segments":[{"name":"a","len":1,"size":2}]}`, "size"},
		{`{"segments":[{"name":"a","len":-1}]}`, "len"},
		{`{"segments":[{"name":"a","len":1,"fill":"xavier"}]}`, "xavier"},
	}
	for _, test := range tests {
		err := json.Unmarshal([]byte(test.file), &wire.Plan{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.file, err, test.want)
		}
	}
}

func TestReadPlan(t *testing.T) {
	b, err := json.Marshal(plan(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.ReadPlan(strings.NewReader(string(b)))
	if err != nil || !reflect.DeepEqual(got, plan(t)) {
		t.Errorf("got %+v, %v", got, err)
	}
	faults := map[string]string{
		`{`: "plan: unexpected", `{"mu":true}`: "plan: mu = true: ", `{}`: "plan: scheme = 0: ",
	}
	for file, want := range faults {
		if _, err := wire.ReadPlan(strings.NewReader(file)); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		name, text string
		want       func(*wire.Plan)
	}{
		{"mu", ".5", func(p *wire.Plan) { p.Mu = 0.5 }},
		{"rule", "momentum", func(p *wire.Plan) { p.Rule = wire.Momentum }},
		{"run", "other", func(p *wire.Plan) { p.Run = "other" }},
		{"rounds", "9007199254740992", func(p *wire.Plan) { p.Rounds = 1 << 53 }},
		{"run_key", "00ff", func(p *wire.Plan) { p.RunKey = wire.Bytes{0, 0xff} }},
		{"metrics", `["loss"]`, func(p *wire.Plan) { p.Metrics = []string{"loss"} }},
		{"metrics", `[]`, func(p *wire.Plan) { p.Metrics = []string{} }},
		{"segments", `[{"name":"a","len":100,"fill":"normal","scale":0.1}]`, func(p *wire.Plan) {
			p.Segments = []wire.Segment{{Name: "a", Len: 100, Fill: wire.NormalFill, Scale: 0.1}}
		}},
		{"step_schedule", `[{"round":5,"factor":0.5}]`,
			func(p *wire.Plan) { p.StepSchedule = []wire.StepPoint{{5, 0.5}} }},
	}
	for _, test := range tests {
		got, want := plan(t), plan(t)
		test.want(want)
		if err := got.Set(test.name, test.text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s=%s: got %+v, %v\nwant %+v", test.name, test.text, got, err, want)
		}
	}
	for _, bad := range [][2]string{{"mu", "1e-3 garbage"}, {"mu", ""}, {"rule", "nosuch"},
		{"nosuch", "1"}, {"steps", "0x10"},
		{"metrics", `["loss"] []`}, {"metrics", `{}`}, {"run_key", "0"}} {
		got := plan(t)
		err := got.Set(bad[0], bad[1])
		if fault := (*wire.PlanError)(nil); !errors.As(err, &fault) || fault.Field != bad[0] {
			t.Errorf("%s=%s: got %v, want a *PlanError of that field", bad[0], bad[1], err)
		}
		if !reflect.DeepEqual(got, plan(t)) {
			t.Errorf("%s=%s: changed the plan to %+v", bad[0], bad[1], got)
		}
	}
}

// TestSetDoesNotShare: Set replaces a list, and does not write to the old one, which
// another plan may share.
func TestSetDoesNotShare(t *testing.T) {
	old := plan(t)
	if err := old.Set("segments",
		`[{"name":"a","len":100,"scale":1,"fill":"normal"}]`); err != nil {
		t.Fatal(err)
	}
	p := *old
	if err := p.Set("segments", `[{"name":"b","len":100}]`); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Segments[0], (wire.Segment{Name: "b", Len: 100}); got != want {
		t.Errorf("got %+v, want %+v: merged into the old segment", got, want)
	}
	if old.Segments[0].Name != "a" {
		t.Errorf("the other plan has segment %+v now", old.Segments[0])
	}
}

func TestChangeSetAndApply(t *testing.T) {
	c := &wire.Change{}
	for _, s := range [][2]string{{"deadline", "1000"}, {"mu", "0.5"}, {"weight_decay", "0"},
		{"mu", "0.25"}} {
		if err := c.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"dim", "nosuch", "mu"} {
		if err := c.Set(bad, "x"); err == nil {
			t.Errorf("%s can be changed to x", bad)
		}
	}
	if b, err := json.Marshal(c); err != nil ||
		string(b) != `{"mu":0.25,"weight_decay":0,"deadline":1000}` {
		t.Errorf("JSON %s, %v, want the three fields, zero or not", b, err)
	}
	record := (&wire.Record{N: 2, Kind: wire.KindChange, Change: c}).Append(nil)
	r, err := wire.DecodeRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	got, want := plan(t), plan(t)
	got.WeightDecay = 0.1
	r.Change.Apply(got)
	want.Deadline, want.Mu = 1000, 0.25
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestChangeCarriesEveryField: each changeable field survives encoding, also with value
// zero.
func TestChangeCarriesEveryField(t *testing.T) {
	full := fullPlan(t)
	for _, f := range wire.Fields() {
		if !f.Changeable {
			continue
		}
		for _, values := range []*wire.Plan{full, {}} {
			c := &wire.Change{Fields: []uint64{f.Number}, Values: *values}
			r, err := wire.DecodeRecord(
				(&wire.Record{N: 2, Kind: wire.KindChange, Change: c}).Append(nil))
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			got, want := *full, *full
			r.Change.Apply(&got)
			c.Apply(&want)
			a, b := (&wire.Record{N: 1, Kind: wire.KindPlan, Plan: &got}).Append(nil),
				(&wire.Record{N: 1, Kind: wire.KindPlan, Plan: &want}).Append(nil)
			if string(a) != string(b) {
				t.Errorf("%s: got %+v\nwant %+v", f.Name, got, want)
			}
		}
	}
}

// TestMinusZero: an encoded plan has no -0, so that 0 has one form.
func TestMinusZero(t *testing.T) {
	p := plan(t)
	p.WeightDecay = float32(math.Copysign(0, -1))
	p.Segments = []wire.Segment{{Name: "a", Len: 100, MuScale: float32(math.Copysign(0, -1))}}
	r, err := wire.DecodeRecord((&wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}).Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if math.Signbit(float64(r.Plan.WeightDecay)) ||
		math.Signbit(float64(r.Plan.Segments[0].MuScale)) {
		t.Errorf("got -0: %+v", r.Plan)
	}
}
