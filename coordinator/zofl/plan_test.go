package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// readPlan runs `zofl plan --json` and returns the plan.
func readPlan(t *testing.T, args ...string) *plan.Plan {
	t.Helper()
	out, err := zofl(t, append([]string{"plan", "--json"}, args...)...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	var got struct {
		Plan *planfile.Plan `json:"plan"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	return (*plan.Plan)(got.Plan)
}

// TestPlanIsGuarded: a new plan has a bound unless it sends vectors or is told otherwise, and a
// file without one stays without one.
func TestPlanIsGuarded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.json")
	for _, c := range []struct {
		args string
		want float32
	}{
		{"--dim 30", 8},
		{"--dim 30 --preset fedzo", 8},
		{"--dim 30 --preset fedzo-dense", 0},
		{"--dim 30 --preset decomfl --set transport=dense --set dense_keep=2", 0},
		{"--dim 30 --set bound=3", 3},
		{"--dim 30 --set bound=0 --write " + file, 0},
		{file, 0},
		{file + " --set bound=2", 2},
	} {
		if got := readPlan(t, strings.Fields(c.args)...).Bound; got != c.want {
			t.Errorf("%s: bound %v, want %v", c.args, got, c.want)
		}
	}
}

// TestPlanSecret: zofl plan makes a secret once, and does not store it in the plan. It refuses a
// secret other than the plan's.
func TestPlanSecret(t *testing.T) {
	dir := t.TempDir()
	key, file := filepath.Join(dir, "run.key"), filepath.Join(dir, "plan.json")
	p := readPlan(t, "--dim", "100", "--secret", key, "--write", file)
	secret, err := os.ReadFile(key)
	if err != nil || len(secret) != 32 {
		t.Fatalf("the secret is %x, %v", secret, err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret's file: %v, %v, want it readable by its owner only", info.Mode(), err)
	}
	if !p.Private() || len(p.RunKey) > 0 || !p.DerivesKeys() {
		t.Errorf("plan with run key %x, check %x", p.RunKey, p.KeyCheck)
	}
	if key, err := p.Key(secret); err != nil || bytes.Equal(key, secret) {
		t.Errorf("the run key is %x, %v", key, err)
	}
	stored, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(stored), plan.Bytes(secret).String()) ||
		strings.Contains(string(stored), "run_key") {
		t.Errorf("%v: the stored plan has its secret:\n%s", err, stored)
	}
	again := readPlan(t, "--dim", "100", "--secret", key) // read, not made anew
	if kept, err := os.ReadFile(key); err != nil || !bytes.Equal(kept, secret) ||
		!slices.Equal(again.KeyCheck, p.KeyCheck) {
		t.Errorf("the second time the secret is %x, %v", kept, err)
	}
	if same := readPlan(t, file, "--secret", key); !slices.Equal(same.KeyCheck, p.KeyCheck) {
		t.Errorf("read back with its secret the plan has check %x", same.KeyCheck)
	}
	if _, err := zofl(t, "plan", file); err != nil {
		t.Errorf("reading a private plan needs its secret: %v", err)
	}
}

func TestPlanSecretRefuses(t *testing.T) {
	dir := t.TempDir()
	key, file := filepath.Join(dir, "run.key"), filepath.Join(dir, "plan.json")
	readPlan(t, "--dim", "100", "--secret", key, "--write", file)
	password, other, absent := filepath.Join(dir, "password"), filepath.Join(dir, "other"),
		filepath.Join(dir, "absent")
	for name, content := range map[string]string{password: "hunter2",
		other: strings.Repeat("x", 32)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := zofl(t, "plan", "--dim", "100", "--secret", password)
	refused(t, err, []string{password, "7 bytes", "32 random bytes"})
	_, err = zofl(t, "plan", file, "--secret", other)
	refused(t, err, []string{other, "run key", "made with"})
	if _, err = zofl(t, "plan", file, "--secret", absent); err == nil {
		t.Error("a plan that has its secret takes a new one")
	}
	if _, err = zofl(t, "plan", "--dim", "100", "--set", "steps=0", "--secret",
		absent); err == nil {
		t.Error("a plan without steps is taken")
	}
	_, err = zofl(t, "plan", "--preset", "fzoos", "--dim", "100", "--secret", absent)
	refused(t, err, []string{"transport", "coordinator", "secret run key"})
	if _, err := os.Stat(absent); err == nil {
		t.Error("a secret was made for a plan that was refused")
	}
}

// TestPlanLayers: layers set dim and fills. A plan of zeros that is probably for a network says so,
// with the remedy; one of few parameters or of weights and biases does not.
func TestPlanLayers(t *testing.T) {
	p := readPlan(t, "--segments", "relu:784x64,64x10")
	if p.Dim != 50890 || len(p.Segments) != 4 || p.Segments[0].Scale == 0 {
		t.Errorf("dim %d, %+v", p.Dim, p.Segments)
	}
	out, err := zofl(t, "plan", "--segments", "relu:784x64,64x10", "--dim", "50890")
	if err != nil || strings.Contains(out, "Warning") {
		t.Errorf("%v, or a warning in:\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	out, err = zofl(t, "plan", "--dim", "50890", "--write", file)
	if out = strings.Join(strings.Fields(out), " "); err != nil ||
		!strings.Contains(out, "Note: All parameters start at zero. For a linear model") ||
		strings.Contains(out, "Warning") || !strings.Contains(out, "--segments relu:784x64,64x10") {
		t.Errorf("%v, or no warning in:\n%s", err, out)
	}
	for args, want := range map[string]bool{
		"--dim 2": false, "--dim 7850": false, "--dim 50890": true,
		`--dim 90 --set segments=[{"name":"w","len":80},{"name":"b","len":10}]`: false,
		`--dim 9 --set segments=[{"name":"a","len":4},{"name":"b","len":4},` +
			`{"name":"c","len":1}]`: true,
		`--dim 9 --set segments=[{"name":"a","len":4,"fill":"normal","scale":1},` +
			`{"name":"b","len":4},{"name":"c","len":1}]`: false,
		"--initial " + modelFile("model.f32"): false,
	} {
		args := append([]string{"plan"}, strings.Fields(args)...)
		text, err := zofl(t, args...)
		list, errJSON := zofl(t, append(args, "--json")...)
		if err != nil || errJSON != nil || strings.Contains(text, "start at zero") != want ||
			strings.Contains(list, `"warnings":["All parameters`) != want {
			t.Errorf("%v: %v, %v, want a warning: %v\n%s%s", args, err, errJSON, want, text, list)
		}
	}
	if p := readPlan(t, file, "--segments", "tanh:784x64,64x10"); len(p.Segments) != 4 {
		t.Errorf("a plan from a file has %+v", p.Segments)
	}
	for _, c := range []struct{ args, want []string }{
		{[]string{"--segments", "relu:784x64,64x10", "--dim", "7850"}, []string{"50890", "7850"}},
		{[]string{"--segments", "784"}, []string{"segments", "relu:784x64"}},
		{[]string{"--segments", "relu:2x2", "--set", "segments=[]"}, []string{"only one"}},
		{[]string{"--segments", "relu:2x2", "--fields"}, []string{"--segments", "--fields"}},
		{[]string{file, "--segments", "relu:2x2"}, []string{"50890", "6"}},
	} {
		_, err := zofl(t, append([]string{"plan"}, c.args...)...)
		refused(t, err, c.want)
	}
}

// TestPlanWarnsOfSteps: a step that comes with a preset has a warning before the run, with the
// remedy, in text and in JSON, and of a plan file too; one that the author chose has none.
func TestPlanWarnsOfSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	const warning = "Warning: step=0.001 comes with the preset"
	for _, c := range []struct {
		want bool
		args []string
	}{
		{true, []string{"--preset", "decomfl", "--dim", "7850", "--write", file}},
		{true, []string{file}},
		{false, []string{file, "--set", "step=0.01"}},
		{false, []string{"--dim", "7850"}},
	} {
		out, err := zofl(t, append([]string{"plan"}, c.args...)...)
		out = strings.Join(strings.Fields(out), " ")
		if err != nil || strings.Contains(out, warning) != c.want ||
			strings.Contains(out, "Find a step with zofl tune, or begin with --preset zofl,") != c.want {
			t.Errorf("%v: %v, want a warning: %v\n%s", c.args, err, c.want, out)
		}
	}
	out, err := zofl(t, "plan", "--preset", "zo-adafl", "--dim", "5", "--json")
	if err != nil || !strings.Contains(out, `"server_step=0.02 comes with the preset`) {
		t.Errorf("%v, or no warning in %s", err, out)
	}
}

// TestPlanFits: fields that exclude how the preset shares directions get a plan that runs, and a
// note; the same sharing by name is refused.
func TestPlanFits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	start := []string{"plan", "--dim", "10", "--preset", "zofl"}
	if out, err := zofl(t, append(start, "--write", file)...); err != nil ||
		strings.Contains(out, "does not go with") {
		t.Fatalf("%v: %s", err, out)
	}
	for _, start := range [][]string{start, {"plan", file}} {
		args := append(start, "--set", "late=2", "--set", "precision=half")
		out, err := zofl(t, args...)
		if err != nil || !strings.Contains(out, "\nNote: late=2 does not go with") ||
			!strings.Contains(out, "sharing=per-client, precision=half") {
			t.Errorf("%v: %v, %s", args, err, out)
		}
		text, err := zofl(t, append(args, "--json")...)
		var got struct{ Note string }
		if json.Unmarshal([]byte(text), &got) != nil || err != nil ||
			!strings.Contains(got.Note, "sharing=per-client") {
			t.Errorf("%v: %v, %s", args, err, text)
		}
		_, err = zofl(t, append(args, "--set", "sharing=groups")...)
		if err == nil || !strings.Contains(err.Error(), "it excludes sharing=groups") {
			t.Errorf("%v: groups by name: %v", args, err)
		}
	}
}

// TestFieldsOfSection: --fields lists the fields of a section on about 100 columns, with unit and
// default, and names the sections to whoever asks for none.
func TestFieldsOfSection(t *testing.T) {
	for _, s := range plan.Sections() {
		out, err := zofl(t, "plan", "--fields", s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range plan.Fields() {
			listed := strings.Contains(out, "\n│ "+f.Name+" ")
			if listed != (f.Section == s.Name) {
				t.Errorf("--fields %s lists %s: %v", s.Name, f.Name, listed)
			}
		}
		for line := range strings.Lines(out) {
			if columns := len([]rune(line)); columns > 110 {
				t.Errorf("--fields %s has %d columns", s.Name, columns)
			}
		}
	}
	out, err := zofl(t, "plan", "--fields", "rounds")
	if err != nil || !strings.Contains(out, "│ ms ") || !strings.Contains(out, "│ 30000 ") {
		t.Errorf("no unit or default in %s, %v", out, err)
	}
	_, err = zofl(t, "plan", "--fields", "round")
	refused(t, err, []string{"--fields round", "choose one of run, model, probe"})
}

// TestPlanIsBrief: without --explain a plan of each preset, and of each feature, takes 15 lines of
// at most 90 columns, which say what is trained, how, by whom, and what a round costs.
func TestPlanIsBrief(t *testing.T) {
	plans := [][]string{
		{"--dim", "2", "--set", "rounds=300", "--set", "members=1", "--preset", "zofl"},
		{"--dim", "2", "--evaluations", "300", "--set", "members=1"},
		{"--dim", "7850", "--set", `metrics=["loss","accuracy"]`, "--set", "eval_every=20",
			"--set", "eval_count=3"},
		{"--dim", "100", "--secret", filepath.Join(t.TempDir(), "key"), "--set", "secure=sum",
			"--preset", "decomfl", "--set", "max_scalar=1000", "--set", "eval_every=0"},
		{"--preset", "decomfl", "--dim", "7850", "--set", "rounds=500", "--set", "dp_clip=10",
			"--epsilon", "8", "--set", "diverge=0"},
		{"--initial", modelFile("model.safetensors"), "--write", filepath.Join(t.TempDir(), "p.json")},
		{"--segments", "relu:784x64,64x64,64x64,64x10"},
	}
	for _, name := range preset.Names() {
		plans = append(plans, []string{"--preset", name, "--dim", "300"})
	}
	for _, args := range plans {
		out, err := zofl(t, append([]string{"plan"}, args...)...)
		out, _, _ = strings.Cut(out, "\nWarning: ")
		if lines := strings.Split(strings.TrimSpace(out), "\n"); err != nil || len(lines) > 16 {
			t.Errorf("%v: %v, %d lines:\n%s", args, err, len(lines), out)
		}
		for line := range strings.Lines(out) {
			if len([]rune(line)) > 91 && !strings.HasPrefix(line, "give ") &&
				!strings.HasPrefix(line, "Stored in ") {
				t.Errorf("%v: a line of %d columns: %s", args, len([]rune(line)), line)
			}
		}
		for _, word := range []string{"trains", "method", "devices", "ends", "losses", "bytes", "seconds",
			"memory"} {
			if !strings.Contains("\n"+out, "\n"+word+" ") {
				t.Errorf("%v: no %s in\n%s", args, word, out)
			}
		}
		if strings.Contains(out, "%!") {
			t.Errorf("%v: %s", args, out)
		}
	}
	out, err := zofl(t, append([]string{"plan"}, plans[0]...)...)
	for _, want := range []string{"2 parameters of run run, from zeros", "after 300 rounds",
		"the model moves from round 2 on", "round 1 waits for 1; a round asks 1, and 1 must answer",
		"5 a round and device", "36 more once in the run", "a loss may take 1.6",
		"for the replica (2 vectors)", "rounds=300"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: no %q in\n%s", err, want, out)
		}
	}
}

// TestExplain: --explain says in sentences what a plan of each preset does, and what that costs.
func TestExplain(t *testing.T) {
	for _, name := range preset.Names() {
		out, err := zofl(t, "plan", "--preset", name, "--dim", "300", "--explain")
		if err != nil || strings.Contains(out, "%!") || strings.Contains(out, "In place of") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		for _, line := range strings.Split(out, "\n") {
			if len([]rune(line)) > 100 {
				t.Errorf("%s: a line of %d columns: %s", name, len([]rune(line)), line)
			}
		}
	}
	out, err := zofl(t, "plan", "--preset", "decomfl", "--dim", "7850", "--set", "over_sample=1.2",
		"--set", "members=20", "--set", "late=4", "--set", "rounds=500",
		"--explain")
	for _, want := range []string{
		"Run run trains 7850 parameters by decomfl.", "loss evaluations, over 32 samples.",
		"12 devices are asked in a round; 5 answers are enough.",
		"or after 30 s at the latest; after 3 attempts the run pauses.",
		"Work that comes up to 4 rounds late counts too", "The run ends after 500 rounds.",
	} {
		if flat := strings.Join(strings.Fields(out), " "); err != nil || !strings.Contains(flat, want) {
			t.Errorf("%v: %s lacks %q", err, flat, want)
		}
	}
}

// TestPlanFiles: a plan is stored by section, as what differs from its preset, or flat with all
// fields; either is the same plan. --explain says what differs.
func TestPlanFiles(t *testing.T) {
	dir := t.TempDir()
	short, long := filepath.Join(dir, "short.json"), filepath.Join(dir, "long.json")
	out, err := zofl(t, "plan", "--run", "kitchen", "--dim", "7850", "--set", "quorum=3",
		"--write", short, "--explain")
	if err != nil || !strings.Contains(out, "rounds\n  Round 1 waits for 10 devices.") ||
		!strings.Contains(out, "In place of the preset's: quorum=3.") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := zofl(t, "plan", short, "--write", long, "--flat"); err != nil {
		t.Fatal(err)
	}
	a, b := readPlan(t, short), readPlan(t, long)
	if !reflect.DeepEqual(a, b) || a.Quorum != 3 {
		t.Errorf("got %+v and %+v", a, b)
	}
	text, err := os.ReadFile(short)
	if err != nil || !strings.Contains(string(text), `"method": "zofl"`) || len(text) > 250 {
		t.Errorf("%v: %s", err, text)
	}
	if text, err = os.ReadFile(long); err != nil ||
		!strings.Contains(string(text), `"deadline": 30000`) {
		t.Errorf("%v: %s", err, text)
	}
	_, err = zofl(t, "plan", short, "--flat")
	refused(t, err, []string{"--flat", "--write"})
}
