package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/plan"
)

// The models of golden are by numpy, safetensors and onnx: see make.py there. Their heads are the
// same 8 parameters.
const (
	golden  = "internal/tensors/testdata/golden"
	headDim = 8
)

func modelFile(name string) string { return filepath.Join(golden, name) }

// A modelRun is a run of one device that begins with a model.
type modelRun struct {
	t         *testing.T
	dir, url  string
	plan, log string
}

// startModelRun makes the plan of a run of ten rounds with flags for its start, and serves it.
func startModelRun(t *testing.T, serve []string, begin ...string) *modelRun {
	t.Helper()
	dir, address := t.TempDir(), freeport.Address(t)
	r := &modelRun{t, dir, "nats://" + address, filepath.Join(dir, "plan.json"),
		filepath.Join(dir, "log")}
	args := []string{"plan", "--run", "kitchen", "--write", r.plan, "--set", "members=1",
		"--set", "target=1", "--set", "quorum=1", "--set", "rounds=10", "--set", "mu=0.01", "--set",
		"reannounce=100", "--set", "max_attempts=1000", "--set", "step=0.05", "--preset", "decomfl"}
	if out, err := zofl(t, append(args, begin...)...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	background(t, append([]string{"serve", r.plan, "--store", r.log, "--listen", address, "--json"},
		serve...)...)
	return r
}

// device takes part to the end of the run.
func (r *modelRun) device(id string, dim int, begin ...string) error {
	_, err := zofl(r.t, append([]string{"client", "--url", r.url, "--run", "kitchen", "--id", id,
		"--objective", "bowl", "--dim", fmt.Sprint(dim)}, begin...)...)
	return err
}

// export writes a file from the running coordinator's log.
func (r *modelRun) export(name string, flags ...string) string {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	args := []string{"export", "--url", r.url, "--run", "kitchen", "--out", name}
	if out, err := zofl(r.t, append(args, flags...)...); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return bytesOf(r.t, name)
}

func bytesOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// head reads the head of a model file.
func head(t *testing.T, name string, train ...string) []float32 {
	t.Helper()
	x, err := (&modelfile.Choice{File: name, Train: train}).Read()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestBeginAndEndWithAModel: a run that begins with a file of a format ends with one. What was
// trained has moved, all else is as it was, and the first model is the file itself.
func TestBeginAndEndWithAModel(t *testing.T) {
	for _, c := range []struct {
		name, device string // files of the plan and of the device
		dim          int
		train        []string
	}{
		{"model.safetensors", "model.onnx", headDim, []string{"--train", "head.*"}},
		{"model.onnx", "model.onnx", headDim, []string{"--train", "head.weight,head.bias"}},
		{"model.npz", "model.safetensors", headDim, []string{"--train", "head.*"}},
		{"model-packed.npz", "model.npz", headDim, []string{"--train", "head.*"}},
		{"model.npy", "model-big.npy", headDim - 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begin := append([]string{"--initial", modelFile(c.name)}, c.train...)
			r := startModelRun(t, nil, begin...)
			kept := filepath.Join(r.dir, "kept"+tensors.Format(c.device))
			if err := r.device("a", c.dim, append([]string{"--initial", modelFile(c.device), "--out",
				kept}, c.train...)...); err != nil {
				t.Fatal(err)
			}
			ending := tensors.Format(c.name)
			if r.export("first"+ending, append(begin, "--at", "1")...) !=
				bytesOf(t, modelFile(c.name)) {
				t.Error("the model before round 1 is not the file that the run began with")
			}
			r.export("last"+ending, begin...)
			var names []string
			if c.train != nil {
				names = strings.Split(c.train[1], ",")
			}
			if fmt.Sprint(head(t, kept, names...)) !=
				fmt.Sprint(head(t, filepath.Join(r.dir, "last"+ending), names...)) {
				t.Error("the device's --out has other parameters than the log")
			}
			r.adapted("last"+ending, c.name, begin)
		})
	}
}

// adapted checks a model after the run against the file it began with, and against the numbers
// alone.
func (r *modelRun) adapted(last, first string, begin []string) {
	t := r.t
	t.Helper()
	flat := filepath.Base(last) + ".f32"
	r.export(flat, begin...)
	x := head(t, filepath.Join(r.dir, flat))
	train := []string(nil)
	if len(begin) > 2 {
		train = []string{"head.*"}
	}
	if got := head(t, filepath.Join(r.dir, last), train...); fmt.Sprint(got) != fmt.Sprint(x) {
		t.Errorf("the head is %v, want %v", got, x)
	}
	if start := head(t, modelFile(first), train...); fmt.Sprint(start) == fmt.Sprint(x) {
		t.Error("the run has not changed the model")
	}
	if train == nil {
		return
	}
	body, had := head(t, filepath.Join(r.dir, last), "body.weight"),
		head(t, modelFile(first), "body.weight")
	if fmt.Sprint(body) != fmt.Sprint(had) {
		t.Errorf("the body is %v, want %v as it was", body, had)
	}
}

// TestAnotherModelIsRefused: a device whose model file has other parameters stops before round 1.
func TestAnotherModelIsRefused(t *testing.T) {
	begin := []string{"--initial", modelFile("model.safetensors"), "--train", "head.*"}
	r := startModelRun(t, nil, begin...)
	err := r.device("b", headDim, "--initial", modelFile("adapted.safetensors"), "--train", "head.*")
	if err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("another model: %v, want an error about its digest", err)
	}
	if err := r.device("a", headDim, begin...); err != nil {
		t.Fatal(err)
	}

	// The run ends in the formats of other copies of the same model.
	for _, other := range []string{"model.onnx", "model.npz"} {
		name := "like-" + other
		r.export(name, append(begin, "--like", modelFile(other))...)
		r.adapted(name, other, begin)
	}
	_, err = zofl(t, append([]string{"export", "--url", r.url, "--run", "kitchen", "--out",
		filepath.Join(r.dir, "wrong.onnx"), "--initial", modelFile("model.safetensors"), "--train",
		"head.*", "--like"}, wrongModel(t))...)
	refused(t, err, []string{"--like", "segment"})
}

// wrongModel is a copy of a model whose head has another name, and so another order.
func wrongModel(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "wrong.onnx")
	b := strings.ReplaceAll(bytesOf(t, modelFile("model.onnx")), "head.bias", "head.zias")
	if err := os.WriteFile(name, []byte(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPlanFromAModel: the plan has the tensors as segments, and the digest that devices need.
func TestPlanFromAModel(t *testing.T) {
	begin := []string{"--run", "kitchen", "--initial", modelFile("model.onnx"), "--train", "head.*"}
	p := readPlan(t, begin...)
	want := []plan.Segment{{Name: "head_bias", Len: 2}, {Name: "head_weight", Len: 6}}
	if p.Dim != headDim || p.Initial != plan.Given || fmt.Sprint(p.Segments) != fmt.Sprint(want) {
		t.Errorf("dim %d, initial=%v, segments %+v", p.Dim, p.Initial, p.Segments)
	}
	text, err := zofl(t, append([]string{"plan", "--explain"}, begin...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{p.InitialDigest.String(), "head.weight", "--train 'head.*'",
		"[2 3]"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	text, err = zofl(t, append([]string{"plan", "--json"}, begin...)...)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Begins struct {
			Digest  plan.Bytes
			SHA256  string
			Tensors []struct{ Segment string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Begins.Digest.String() != p.InitialDigest.String() || len(got.Begins.Tensors) != 2 ||
		got.Begins.Tensors[1].Segment != "head_weight" || len(got.Begins.SHA256) != 64 {
		t.Errorf("as JSON: %+v", got.Begins)
	}
	for _, name := range []string{"model.safetensors", "model.npz", "model-packed.npz"} {
		begin[3] = modelFile(name)
		if other := readPlan(t, begin...); other.InitialDigest.String() != p.InitialDigest.String() {
			t.Errorf("%s: the same model has another digest", name)
		}
	}
	for name, dim := range map[string]uint64{"model.npy": 6, "model.f32": 8} {
		if p := readPlan(t, "--initial", modelFile(name)); p.Dim != dim || p.Segments != nil {
			t.Errorf("%s: dim %d, segments %v", name, p.Dim, p.Segments)
		}
	}
}

// TestModelOfManyTypes: halves are parameters, tensors of integers are passed over with a note, and
// a pattern leaves others out.
func TestModelOfManyTypes(t *testing.T) {
	for train, want := range map[string][]string{
		"":              {"body.brain", "body.half", "2 more stay", "Passed over", "body.count (I64)"},
		"*,!body.*":     {"head.weight", "5 more stay", "--train '*,!body.*'"},
		"body.half":     {"body.half", "6 more stay"},
		"!*.weight,!h*": {"body.brain", "Passed over"},
	} {
		args := []string{"plan", "--explain", "--initial", modelFile("model.safetensors")}
		if train != "" {
			args = append(args, "--train", train)
		}
		text, err := zofl(t, args...)
		for _, part := range want {
			if err != nil || !strings.Contains(text, part) {
				t.Errorf("--train %q: no %q in:\n%s, %v", train, part, text, err)
			}
		}
	}
}

// TestOddModels: what is no model, or none with which a run could begin, is named as what it is,
// with what to do.
func TestOddModels(t *testing.T) {
	dir := t.TempDir()
	numbers := func(list ...float32) string {
		var b []byte
		for _, v := range list {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return string(b)
	}
	safetensors := func(header, elements string) string {
		return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + elements
	}
	npy := func(descr, shape, elements string) string {
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }\n", descr, shape)
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + elements
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct{ content, want string }{
		"nan.safetensors": {safetensors(`{"b":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},`+
			`"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, numbers(1, 0, 0, 0, 0, nan, nan)),
			`tensor "b": its element 4, [1 1], is NaN, and so 2 of its 6 parameters are not finite`},
		"half.safetensors": {safetensors(`{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`,
			"\x00\xfc"), `tensor "a": its element 0 is -Inf`},
		"inf.f32": {numbers(1, inf), "its element 1 is -Inf, and so 1 of its 2 parameters"},
		"nan.npy": {npy("<f4", "2", numbers(0, nan)), "its element 1 is NaN"},
		"lfs.safetensors": {"version https://git-lfs.github.com/spec/v1\noid sha256:a\nsize 1\n",
			"git lfs pull"},
		"lfs.f32": {"version https://git-lfs.github.com/spec/v1\noid sha256:a\nsize 1\n\n",
			"git lfs pull"},
		"torch.npz":        {"PK\x03\x04" + strings.Repeat("0", 60), "torch.save"},
		"pickle.onnx":      {"\x80\x02}q\x00.", "pickle"},
		"gguf.safetensors": {"GGUF\x03\x00\x00\x00\x00\x00\x00\x00", "GGUF"},
		"page.npy":         {"<!doctype html><title>404</title>", "web page"},
		"empty.onnx":       {"", "it is empty"},
		"empty.f32":        {"", "it is empty"},
		"short.safetensors": {safetensors(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "12"),
			"cut short"},
		"double.npy": {npy("<f8", "1", numbers(0, 1)), "save x.astype('float32')"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := zofl(t, "plan", "--initial", file)
		refused(t, err, []string{"--initial", name, c.want})
	}
}

// TestModelFlags: commands refuse flags about the model that contradict each other.
func TestModelFlags(t *testing.T) {
	model := modelFile("model.safetensors")
	for _, c := range []struct{ args, want []string }{
		{[]string{"plan", "--train", "head.*", "--dim", "8"}, []string{"--train", "--initial"}},
		{[]string{"plan", "--initial", model, "--train", "body.codes"}, []string{"I8", "--train"}},
		{[]string{"plan", "--initial", model, "--train", "!*"}, []string{"--train", "head.weight"}},
		{[]string{"plan", "--initial", model, "--train", "tail.*"},
			[]string{"tail.*", "head.weight"}},
		{[]string{"plan", "--initial", model, "--train", "head.*", "--dim", "9"},
			[]string{"dim", "9", "8"}},
		{[]string{"plan", "--initial", model, "--segments", "relu:2x4"},
			[]string{"--segments", "--initial"}},
		{[]string{"plan", "--initial", modelFile("model.f32"), "--train", "a"}, []string{"--train"}},
		{[]string{"plan", "--initial", "model.pt"}, []string{"--initial", "safetensors.torch.save_file"}},
		{[]string{"plan", "--initial", "none.npz"}, []string{"--initial", "none.npz"}},
		{[]string{"plan", "--fields", "--initial", model}, []string{"--fields", "--initial"}},
		{[]string{"export", "--store", "x", "--out", "y.onnx"}, []string{"--out", "--like"}},
		{[]string{"export", "--store", "x", "--out", "y.onnx", "--initial", model},
			[]string{"--out", "--like"}},
		{[]string{"export", "--store", "x", "--out", "y.onnx", "--like", model},
			[]string{"--like", "--out"}},
		{[]string{"export", "--store", "x", "--out", "y.safetensors", "--like", model, "--train",
			"body.codes"}, []string{"--like", "body.codes"}},
		{[]string{"client", "--url", "nats://127.0.0.1:1", "--run", "r", "--id", "a", "--objective",
			"bowl", "--dim", "8", "--initial", model, "--train", "nothing"}, []string{"nothing"}},
		{[]string{"verify", "--store", "x", "--train", "head"}, []string{"--train"}},
	} {
		_, err := zofl(t, c.args...)
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
	}
}
