package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanOfLowRank: with distribution=lowrank a plan has the rows of a model's matrices, and says
// how many signs a direction takes. Other plans have no rows.
func TestPlanOfLowRank(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "m.safetensors")
	writeModel(t, file, map[string][]uint64{
		"conv": {40, 3, 10}, "bias": {40}, "line": {1, 90}, "linear": {30, 40}, "small": {30, 30},
	})
	one := filepath.Join(dir, "one.npy")
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (80, 50), }"
	data := fmt.Appendf(nil, "\x93NUMPY\x01\x00%c\x00%-117s\n", 118, header)
	if err := os.WriteFile(one, append(data, make([]byte, 4*4000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	layers := []string{"--segments", "relu:784x64,64x10,10x3"}
	for _, c := range []struct {
		args []string
		rows string
		says string
	}{
		{layers, "64 0 10 0 0 0",
			"1029 a direction, for 50923 parameters: 2 of 6 segments are matrices"},
		{[]string{"--initial", file}, "0 40 0 30 0",
			"1170 a direction, for 3430 parameters: 2 of 5 segments are matrices"},
		{[]string{"--initial", one}, "80",
			"130 a direction, for 4000 parameters: 1 of 1 segment is a matrix"},
	} {
		for _, s := range readPlan(t, c.args...).Segments {
			if s.Rows != 0 {
				t.Errorf("%v: segment %s has rows without use for them", c.args, s.Name)
			}
		}
		args := append(c.args, "--set", "distribution=lowrank")
		var rows []string
		for _, s := range readPlan(t, args...).Segments {
			rows = append(rows, fmt.Sprint(s.Rows))
		}
		if got := strings.Join(rows, " "); got != c.rows {
			t.Errorf("%v: rows %s, want %s", args, got, c.rows)
		}
		out, err := zofl(t, append([]string{"plan"}, args...)...)
		if err != nil || !strings.Contains(out, "\nsigns    "+c.says+"\n") {
			t.Errorf("%v: %v: %s lacks %q", args, err, out, c.says)
		}
	}
}

// TestPlanWithoutMatrices: where no tensor of a model is a matrix for rank 1, the plan says why.
// Its remedies work.
func TestPlanWithoutMatrices(t *testing.T) {
	dir := t.TempDir()
	small, many := filepath.Join(dir, "small.safetensors"), filepath.Join(dir, "many.safetensors")
	writeModel(t, small, map[string][]uint64{"linear": {10, 40}, "bias": {10}})
	shapes := map[string][]uint64{}
	for i := range 513 {
		shapes[fmt.Sprint("layer.", i)] = []uint64{33, 40}
	}
	writeModel(t, many, shapes)
	for file, c := range map[string]struct {
		says   string
		remedy []string
	}{
		small: {"no tensor of " + small + " is a matrix of 64 rows and columns together",
			[]string{"--set", "distribution=rademacher"}},
		many: {"a plan has up to 512 matrices, and " + many + " has 513 tensors to train",
			[]string{"--set", "distribution=lowrank", "--train", "layer.1*"}},
	} {
		args := []string{"plan", "--initial", file}
		_, err := zofl(t, append(args, "--set", "distribution=lowrank")...)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
		if out, err := zofl(t, append(args, c.remedy...)...); err != nil {
			t.Errorf("%v: %v: %s", c.remedy, err, out)
		}
	}
}

// TestPlanOfManySegments: the tables of a plan are as narrow for many segments as for few.
func TestPlanOfManySegments(t *testing.T) {
	shapes := map[string][]uint64{}
	for i := range 103 {
		shapes[fmt.Sprint("layer.", i)] = []uint64{33, 40}
	}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	writeModel(t, file, shapes)
	out, err := zofl(t, "plan", "--initial", file, "--set", "distribution=lowrank", "--explain")
	if err != nil || !strings.Contains(out, "103 segments") {
		t.Errorf("%v: %s", err, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if len([]rune(line)) > 100 && !strings.Contains(line, file) {
			t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
}

// writeModel stores float32 tensors of zeros with these shapes.
func writeModel(t *testing.T, file string, shapes map[string][]uint64) {
	t.Helper()
	type tensor struct {
		Type    string    `json:"dtype"`
		Shape   []uint64  `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	header, at := map[string]tensor{}, uint64(0)
	for name, shape := range shapes {
		size := uint64(4)
		for _, side := range shape {
			size *= side
		}
		header[name] = tensor{"F32", shape, [2]uint64{at, at + size}}
		at += size
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	data := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	if err := os.WriteFile(file, append(data, make([]byte, at)...), 0o600); err != nil {
		t.Fatal(err)
	}
}
