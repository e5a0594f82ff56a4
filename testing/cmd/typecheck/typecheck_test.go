package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fault in a file, or a test, of one system is found for this system and for no other.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                "module example.com/fault\n\ngo 1.26\n",
		"fault.go":              "package fault\n\nfunc take(int) {}\n\nfunc give() { take(1) }\n",
		"fault_darwin.go":       "package fault\n\nfunc fault() { take(\"one\") }\n",
		"fault_windows_test.go": "package fault\n\nfunc fault() { take(\"one\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for system, compiles := range map[string]bool{"linux": true, "darwin": false, "windows": false} {
		err := run(strings.NewReader(dir+"\n"), []string{system})
		if (err == nil) != compiles || err != nil && !strings.Contains(err.Error(), system) {
			t.Errorf("%s: %v", system, err)
		}
	}
}

// Without systems, modules or packages nothing was checked, and run says so.
func TestRunNothing(t *testing.T) {
	for input, systems := range map[string][]string{
		"":                 {"windows"},
		".\n":              nil,
		t.TempDir() + "\n": {"windows"},
		"no/such/dir\n":    {"windows"},
	} {
		if err := run(strings.NewReader(input), systems); err == nil {
			t.Errorf("%q for %v: no error", input, systems)
		}
	}
}
