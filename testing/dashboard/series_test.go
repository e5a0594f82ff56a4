package dashboard

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSeries runs the tests of testdata/series.test.js in Node: of what charts draw, as numbers.
func TestSeries(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	const page = "../../coordinator/zofl/internal/dashboard/page"
	for _, from := range []string{"testdata/series.test.js", page + "/series.js",
		page + "/format.js"} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(from)), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	modules := []byte(`{"type": "module"}`)
	if err := os.WriteFile(filepath.Join(dir, "package.json"), modules, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--test", filepath.Join(dir, "series.test.js"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
