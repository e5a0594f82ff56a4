package planfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestSectionsOfFiles: a file may nest fields, name them flat, or do both.
func TestSectionsOfFiles(t *testing.T) {
	want := ""
	for _, file := range []string{
		`{"quorum":3,"rounds":7,"dp_clip":1,"late":2,"dim":4}`,
		`{"dim":4,"rounds":{"quorum":3},"stop":{"rounds":7},"privacy":{"dp_clip":1},` +
			`"late":{"late":2}}`,
		`{"rounds":{"quorum":3},"privacy":{},"dim":4,"late":2,"stop":{"rounds":7},"dp_clip":1}`,
	} {
		p, err := planfile.Parse([]byte(file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		got := string(p.Append(nil))
		if want == "" {
			want = got
		}
		if got != want || p.Quorum != 3 || p.Rounds != 7 || p.DPClip != 1 || p.Late != 2 {
			t.Errorf("%s: %+v", file, p)
		}
	}
}

// TestSectionFaults: the error for a field in the wrong section says where the field belongs.
func TestSectionFaults(t *testing.T) {
	for file, want := range map[string]string{
		`{"privacy":{"quorum":3}}`: "plan: quorum = 3: put it into rounds, or beside the " +
			"sections",
		`{"rounds":{"dim":3}}`:               "plan: dim = 3: put it beside the sections",
		`{"rounds":{"quorum":3},"quorum":3}`: "plan: quorum = 3: give each field once",
		`{"rounds":{"quorun":3}}`:            "did you mean quorum?",
		`{"rounds":{"method":"zofl"}}`:       "put it beside the sections",
		`{"segments":{"name":"a"}}`:          "give a JSON list such as",
		`{"run":{"run":"a"},"quorum":true}`:  "give a whole number",
		`{"method":7}`:                       "plan: method = 7: put the value in quotes",
		`{"method":"zofle","dim":1}`:         "choose one of",
		`{"rounds":{"quorum":3}`:             "unexpected",
		`{"rounds":[1]}`:                     "give a whole number",
	} {
		if _, err := planfile.Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", file, err, want)
		}
	}
}

// TestMethod: a file that names a method gives the plan of the preset, adapted to the fields that
// the file names. Reading the file again gives the same plan.
func TestMethod(t *testing.T) {
	file := []byte(`{"run":"kitchen","dim":7850,"method":"zofl","rounds":{"members":10,"quorum":4}}`)
	p, err := planfile.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if p.Preset != "zofl" || p.Dim != 7850 || p.Quorum != 4 || p.Bound != 8 || len(p.RunKey) != 32 {
		t.Errorf("got %+v", p)
	}
	if err := valid.Plan(p); err != nil {
		t.Error(err)
	}
	again, err := planfile.Parse(file)
	if err != nil || !bytes.Equal(again.Append(nil), p.Append(nil)) {
		t.Errorf("read again it is another plan, %v", err)
	}
	got, err := planfile.Nested(p)
	if want := `{"run":"kitchen","dim":7850,"method":"zofl","rounds":{"quorum":4}}`; err != nil ||
		string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	late, err := planfile.Parse([]byte(`{"run":"a","dim":9,"method":"zofl","late":{"late":4}}`))
	if err != nil || late.Precision != plan.Half { // late contributions need half precision
		t.Errorf("late work with %v, %v", late.Precision, err)
	}
}

// TestNested: for each preset, and for plans with some fields set, the nested file is short, and
// reading the file gives the same plan.
func TestNested(t *testing.T) {
	for _, name := range preset.Names() {
		for _, settings := range [][]string{nil, {"rounds=9"}, {"mu=0.5", "step=0.25", "diverge=0"},
			{"members=3", "target=3", "quorum=2", `metrics=["a","b"]`, "eval_every=5", "eval_count=2"},
		} {
			p, err := preset.New(name, "kitchen", 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range settings {
				field, value, _ := strings.Cut(s, "=")
				if err := planfile.Set(p, field, value); err != nil {
					t.Fatal(err)
				}
			}
			file, err := planfile.Nested(p)
			if err != nil {
				t.Fatal(err)
			}
			q, err := planfile.Parse(file)
			if err != nil || !bytes.Equal(q.Append(nil), p.Append(nil)) {
				t.Errorf("%s %q: %s is another plan, %v", name, settings, file, err)
			}
			if len(file) > 350 || !bytes.Contains(file, []byte(`"method":"`+name+`"`)) {
				t.Errorf("%s %q: %s", name, settings, file)
			}
		}
	}
	p := plan.Plan{Run: "a", Preset: "mine", Dim: 5, RoundsFields: plan.RoundsFields{Quorum: 3}}
	file, err := planfile.Nested(&p)
	if want := `{"run":"a","preset":"mine","dim":5,"rounds":{"quorum":3}}`; err != nil ||
		string(file) != want {
		t.Errorf("a plan of no preset: got %s, %v, want %s", file, err, want)
	}
	var fault *plan.Error
	if err := json.Unmarshal([]byte(`{"late":{"quorum":1}}`), (*planfile.Plan)(&p)); !errors.As(err,
		&fault) {
		t.Errorf("got %v", err)
	}
}
