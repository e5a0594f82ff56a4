package tensors

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The error of a tensor that cannot be trained has a remedy.
func TestRemedies(t *testing.T) {
	for name, cases := range map[string]map[string]string{
		"model.safetensors": {"body.codes": "cannot be trained"},
		"model.onnx":        {"body.brain": "raw_data", "body.codes": "cannot be trained"},
		"model.npz":         {"body.count": "cannot be trained", "body.turned": "ascontiguousarray"},
		"model.npy":         {"head": "leave out --train"},
	} {
		f, err := Open(filepath.Join(golden, name))
		if err != nil {
			t.Fatal(err)
		}
		for pattern, want := range cases {
			if _, err := f.Select([]string{pattern}); err == nil ||
				!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, %s: %v, want %q", name, pattern, err, want)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRemediesWork: the patterns that an error advises for --train select the tensors that can be
// trained, also if several cannot be, and if there were patterns before.
func TestRemediesWork(t *testing.T) {
	b := safetensors(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},`+
		`"b*":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},`+
		`"n":{"dtype":"I64","shape":[1],"data_offsets":[16,24]},`+
		`"w":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}}`, two+two+two+two)
	f, err := parse("x.safetensors", strings.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	advice := regexp.MustCompile(`--train '([^']*)'`)
	for _, before := range []string{"", "*", "*,!a", "a,b*,w", "n,w", "?"} {
		var patterns []string
		if before != "" {
			patterns = strings.Split(before, ",")
		}
		_, err := f.Select(patterns)
		if err == nil {
			t.Fatalf("%q: it was taken", before)
		}
		advised := advice.FindStringSubmatch(err.Error())
		if advised == nil {
			t.Errorf("%q: %v, want an advice for --train", before, err)
			continue
		}
		s, err := f.Select(strings.Split(advised[1], ","))
		if err != nil || len(s.Tensors) != 1 || s.Tensors[0].Name != "w" {
			t.Errorf("%q, and then %q: %v", before, advised[1], err)
		}
	}
}

// TestManyRemedies: where many tensors can be trained, the advice leaves out the others.
func TestManyRemedies(t *testing.T) {
	header, elements := `{"bad":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}`, two
	for i := range 2 * mostNames {
		header += fmt.Sprintf(`,"w%d":{"dtype":"F32","shape":[2],"data_offsets":[%d,%d]}`, i, 8*i+8,
			8*i+16)
		elements += two
	}
	b := safetensors(header+"}", elements)
	f, err := parse("x.safetensors", strings.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for before, want := range map[string]string{"": "'*,!bad'", "?*,!w1": "'?*,!w1,!bad'"} {
		var patterns []string
		if before != "" {
			patterns = strings.Split(before, ",")
		}
		if _, err := f.Select(patterns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", before, err, want)
		}
	}
}

// TestNoRemedy: an error does not advise --train if no tensor can be trained.
func TestNoRemedy(t *testing.T) {
	for _, kind := range []string{"F64", "I64"} {
		b := safetensors(`{"a":{"dtype":"`+kind+`","shape":[1],"data_offsets":[0,8]}}`, two)
		f, err := parse("x.safetensors", strings.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Select(nil); err == nil || strings.Contains(err.Error(), "--train") ||
			!strings.Contains(err.Error(), kind) {
			t.Errorf("%v, want %s and no advice for --train", err, kind)
		}
	}
}

// TestNamesAreQuoted: an error has no control characters of a name.
func TestNamesAreQuoted(t *testing.T) {
	b := safetensors(`{"a\u001b[31m":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},`+
		`"w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}`, two+two)
	f, err := parse("x.safetensors", strings.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Select(nil); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}

// TestUnknownEnding: a file whose name has another ending is named by its content.
func TestUnknownEnding(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"m":       {safetensors(`{}`, ""), ".safetensors"},
		"m.bin":   {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"},
		"m.pt":    {"<html>Log in</html>", "web page"},
		"m.model": {"\x93NUMPY\x01\x00", ".npy"},
		"m.csv":   {"0.5,1.5\n", "numpy.save"},
		"m.h5":    {"\x89HDF\r\n\x1a\n", "numpy.savez"},
		"none.pt": {"", "safetensors.torch.save_file"},
	} {
		file := filepath.Join(dir, name)
		if c.content != "" {
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
