package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// An offering makes plans and models for tests of `zofl serve --offer`.
type offering struct {
	t   *testing.T
	dir string
}

// plan writes the plan of a run that begins as the flags say.
func (o *offering) plan(name string, begin ...string) string {
	o.t.Helper()
	name = filepath.Join(o.dir, name)
	args := []string{"plan", "--preset", "decomfl", "--run", "kitchen", "--write", name}
	if out, err := zofl(o.t, append(args, begin...)...); err != nil {
		o.t.Fatalf("%v: %s", err, out)
	}
	return name
}

// write writes a file.
func (o *offering) write(name string, b []byte) string {
	o.t.Helper()
	name = filepath.Join(o.dir, name)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		o.t.Fatal(err)
	}
	return name
}

// serve runs `zofl serve` until it ends, at most some seconds.
func (o *offering) serve(args ...string) error {
	ctx, cancel := context.WithTimeoutCause(o.t.Context(), 10*time.Second, errors.New("it serves"))
	defer cancel()
	cmd := root()
	cmd.SetOut(io.Discard)
	cmd.SetArgs(append([]string{"serve", "--listen", freeport.Address(o.t)}, args...))
	return cmd.ExecuteContext(ctx)
}

// TestOfferOfAnotherModel: serve refuses to start with a file that does not have the parameters
// with which the plan's run begins. It says which field differs, its value and what to do, and
// makes no log.
func TestOfferOfAnotherModel(t *testing.T) {
	t.Parallel()
	o := &offering{t, t.TempDir()}
	model, _ := newModel(t)
	whole, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(whole, '}')
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-bodyLen-1] ^= 1 // of the last parameter
	nan := bytes.Clone(whole)
	copy(nan[len(nan)-bodyLen-4:], []byte{0, 0, 0xc0, 0x7f})
	flat := whole[len(whole)-bodyLen-4*kitchenDim : len(whole)-bodyLen]
	begins := o.plan("begins.json", "--initial", model, "--train", "head")
	seeded := o.plan("seeded.json", "--dim", "20")
	same := o.write("same.f32", flat)
	for name, c := range map[string]struct {
		plan, file string
		more, want []string
	}{
		"a bit is flipped": {begins, o.write("flipped.safetensors", flipped), nil,
			[]string{"digest", "initial_digest", "zofl plan --initial"}},
		"it is cut": {begins, o.write("cut.safetensors", whole[:len(whole)-9]), nil, nil},
		"its header is damaged": {begins, o.write("header.safetensors", whole[:header]), nil,
			nil},
		"it has fewer numbers": {begins, o.write("short.f32", flat[4:]), nil,
			[]string{"has 19 parameters", "dim is 20", "zofl plan --initial"}},
		"it has more numbers": {begins, o.write("long.f32", append(bytes.Clone(flat), 0, 0, 0, 0)),
			nil, []string{"has 21 parameters", "dim is 20"}},
		"a parameter is NaN": {begins, o.write("nan.safetensors", nan), nil,
			[]string{"element 19", "NaN"}},
		"it is another model": {begins, modelFile("model.npz"), nil, nil},
		"it is empty":         {begins, o.write("empty.npy", nil), nil, nil},
		"it is a web page":    {begins, o.write("page.onnx", []byte("<html><body>")), nil, nil},
		"it has another name": {begins, o.write("model.bin", whole), nil, []string{".safetensors"}},
		"it is a directory":   {begins, o.dir, nil, nil},
		"the run is seeded": {seeded, same, nil,
			[]string{"initial is seeded", "leave out --offer", "zofl plan --initial"}},
		"other tensors are named": {begins, model, []string{"--train", "bod?"}, []string{"body"}},
	} {
		store := filepath.Join(t.TempDir(), "log")
		err := o.serve(append([]string{c.plan, "--store", store, "--offer", c.file}, c.more...)...)
		t.Run(name, func(t *testing.T) {
			refused(t, err, append(c.want, "--offer", c.file))
			if _, err := os.Stat(store); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a log is left: %v", err)
			}
		})
	}
	refused(t, o.serve(begins, "--store", filepath.Join(o.dir, "log"), "--train", "head"),
		[]string{"--train", "--offer"})
}

// TestOfferOfTheModel: serve offers every file with the parameters of the plan, and compares it
// with the log's plan where no PLAN is given.
func TestOfferOfTheModel(t *testing.T) {
	t.Parallel()
	o := &offering{t, t.TempDir()}
	model, sum := newModel(t)
	whole, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	flat := o.write("same.f32", whole[len(whole)-bodyLen-4*kitchenDim:len(whole)-bodyLen])
	plan := o.plan("plan.json", "--initial", model, "--train", "head")
	store := filepath.Join(o.dir, "log")
	for _, args := range [][]string{
		{plan, "--offer", model},
		{plan, "--offer", model, "--train", "hea?"},
		{"--offer", model},
		{"--offer", flat},
	} {
		p := start(t, append([]string{"serve", "--store", store, "--listen", "127.0.0.1:0"}, args...)...)
		said := p.says(&p.stderr, "offering the model")
		p.says(&p.stderr, "leading")
		if strings.Contains(said, sum) == slices.Contains(args, flat) {
			t.Errorf("%q says %q", args, said)
		}
		p.interrupt()
	}
	other := o.write("other.f32", make([]byte, 4*kitchenDim))
	refused(t, o.serve("--store", store, "--offer", other), []string{"--offer", other, "digest"})
}
