package android

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden header instead of comparing with it")

// golden is the API of Objective-C and Swift, without its documentation.
const golden = "../client/mobile/testdata/ZoflMobile.objc.h"

// generate binds client/mobile for Java and Objective-C, once for all tests, and returns
// the folder.
var generate = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "zofl-gobind-"); err != nil {
		return "", err
	}
	made = dir
	out, err := exec.Command("go", "tool", "gobind", "-outdir="+dir, "-lang=java,objc",
		"-javapkg=zofl", "-prefix=Zofl", "github.com/zofl/zofl/client/mobile").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gobind: %w\n%s", err, out)
	}
	return dir, nil
})

var made string // the folder, once it exists

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		os.RemoveAll(made)
	}
	os.Exit(code)
}

func generated(t *testing.T) string {
	t.Helper()
	dir, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestHeader compares the API for iOS apps with the golden header. A changed API may break these
// apps.
func TestHeader(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(generated(t), "src/gobind", filepath.Base(golden)))
	if err != nil {
		t.Fatal(err)
	}
	header := withoutComments(string(text))
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(header), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if header != string(want) {
		t.Errorf("the API of client/mobile changed. If it should have: go -C android "+
			"test -run TestHeader -update .\n%s",
			difference(t, golden, header))
	}
}

// withoutComments removes /** ... */ comments, which have separate lines.
func withoutComments(header string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(header) {
		trimmed := strings.TrimSpace(line)
		inside = inside || strings.HasPrefix(trimmed, "/**")
		if !inside {
			b.WriteString(line)
		}
		inside = inside && !strings.HasSuffix(trimmed, "*/")
	}
	return b.String()
}

// difference returns the output of diff for a file and a text.
func difference(t *testing.T, path, text string) string {
	t.Helper()
	cmd := exec.Command("diff", "-u", path, "-")
	cmd.Stdin = strings.NewReader(text)
	out, _ := cmd.Output() // it fails if they differ
	return string(out)
}

// TestNothingSkipped checks that Java gets everything that client/mobile exports.
func TestNothingSkipped(t *testing.T) {
	files := 0
	err := filepath.WalkDir(generated(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".java" {
			return err
		}
		files++
		source, err := os.ReadFile(path)
		for line := range bytes.Lines(source) {
			if bytes.Contains(line, []byte("skipped")) {
				t.Errorf("%s: %s", filepath.Base(path), line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Errorf("%d Java files were generated, want one for each class", files)
	}
}
