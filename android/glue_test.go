package android

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGlueRefuses checks that glue.sh fails on code that gobind did not generate, such as code that
// glue.sh has changed already.
func TestGlueRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(generated(t))); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("./glue.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("./glue.sh", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another than the script knows") {
		t.Errorf("a second time: %v, says %q", err, out)
	}
	for _, added := range []string{"java/zofl/mobile/Direct.java", "src/gobind/direct_android.c"} {
		if _, err := os.Stat(filepath.Join(dir, added)); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(dir, "src/gobind/universe_android.c")
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "getMessage") {
		t.Errorf("%v: the message alone is passed on", err)
	}
}
