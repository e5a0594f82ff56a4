package zofl_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// kinds are the files that people write, and the few that tools make for the repository.
var kinds = []string{
	".go", ".s", ".c", ".h", ".m", ".py", ".kt", ".java", ".swift", ".js", ".mjs", ".sh", ".bat",
	".md", ".txt", ".html", ".css", ".svg", ".png", ".ipynb",
	".mod", ".sum", ".toml", ".xml", ".kts", ".properties", ".pro", ".json", ".jar",
	".yml", ".yaml", ".cff", ".clang-format",
	".inc", ".ld", ".awk", ".projbuild", ".defaults",
	".rs", ".lock", ".cmake", ".overlay", ".cs", ".dart", ".csproj",
	".conf", ".service", ".xcprivacy", ".typed", ".bin", ".gitignore",
}

// plainNames are files whose name has no ending.
var plainNames = []string{
	"LICENSE", "Kconfig", "Makefile", "gradlew", ".ci/run", ".ci/setup", "postinst", "prerm", "postrm",
}

// TestTracked: what a run leaves behind is not in the repository: no log, no state of a device,
// no half-written file. What belongs to tests is in their testdata.
func TestTracked(t *testing.T) {
	if _, err := os.Stat(".git"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("not a clone: git does not track these files")
	}
	index := strings.TrimSpace(git(t, "rev-parse", "--git-path", "index"))
	if _, err := os.ReadFile(index); err != nil { // for the test cache
		t.Fatal(err)
	}
	names := strings.Split(strings.TrimSuffix(git(t, "ls-files", "-z"), "\x00"), "\x00")
	if len(names) < 1000 {
		t.Fatalf("git tracks %d files, want those of the repository", len(names))
	}
	for _, name := range names {
		if strings.Contains("/"+name, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and the removal is not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if !isSource(name) || bytes.HasPrefix(text, []byte("zofl ")) {
			t.Errorf("git tracks %s: git rm --cached %[1]s if a run wrote it; if a person did, "+
				"add its kind to tracked_test.go", name)
		}
	}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func isSource(name string) bool {
	plain := slices.ContainsFunc(plainNames, func(of string) bool {
		return name == of || path.Base(name) == of
	})
	return plain || slices.Contains(kinds, path.Ext(name))
}
