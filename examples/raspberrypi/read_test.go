package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"1\n2\n3\n4\n5\n6\n": "",
		"\ufeff1 2 3 4 5 6":  "",
		"1 2 3 4 5 five":     "reading 6: strconv.ParseFloat",
		"":                   "no change after reading 5: record more",
		"1 2 3 4 5 5 5":      "no change after reading 5: record more",
	} {
		file := filepath.Join(t.TempDir(), "readings")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		last, c, err := read(file)
		if want == "" && (err != nil || last != 6 || len(c) != 5) {
			t.Errorf("%q: %v, %v, %v", text, last, c, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
