package zofl_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/zofl/zofl"

// direct are the only modules that this one may require directly, ever.
var direct = []string{
	"github.com/nats-io/nats.go",
	"github.com/vmihailenco/msgpack/v5",
}

// readTracked reads the files on which the go command's answers depend, so that the test
// cache, which does not see what that command reads, depends on them too.
func readTracked(t *testing.T) (gomod, gosum string) {
	t.Helper()
	var text [2]string
	for i, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(b)
	}
	return text[0], text[1]
}

// goList runs go list in a folder, without a workspace, and returns the lines of its
// output.
func goList(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// wantNoServer checks that a list of modules or packages from go list has the names in
// must, and no broker.
func wantNoServer(t *testing.T, list []string, must ...string) {
	t.Helper()
	for _, name := range must {
		if !slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, name) }) {
			t.Errorf("got %d lines without %s, want it among them", len(list), name)
		}
	}
	for _, line := range list {
		if strings.Contains(line, "nats-server") {
			t.Errorf("got %s, want no broker", line)
		}
	}
}

func TestModuleGraph(t *testing.T) {
	_, gosum := readTracked(t)
	if strings.Contains(gosum, "nats-server") {
		t.Errorf("go.sum names nats-server")
	}
	wantNoServer(t, goList(t, ".", "-m", "all"), append(direct, module)...)

	format := "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}"
	got := slices.DeleteFunc(goList(t, ".", "-m", "-f", format, "all"),
		func(line string) bool { return line == "" })
	if !slices.Equal(got, direct) {
		t.Errorf("got direct requirements %v, want %v", got, direct)
	}
}

func TestClientPackages(t *testing.T) {
	readTracked(t)
	sourceFiles(t, ".")
	list := goList(t, ".", "-deps", "./client/...")
	wantNoServer(t, list, module+"/client", module+"/client/replica", direct[0])
	for _, name := range []string{
		"/coordinator", "/fleet", "/plan/preset", "/plan/plancheck", "/plan/planfile", "/plan/cost",
	} {
		if slices.Contains(list, module+name) {
			t.Errorf("client depends on %s%s: a device carries none of it", module, name)
		}
	}
}

// Nothing outside imports the whole-run tests and the experiments, nor these each other. A module
// that did would have to require them.
func TestNobodyRequiresTests(t *testing.T) {
	modules := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.ContainsAny(entry.Name()[:1], "._"):
			return fs.SkipDir
		case entry.Name() != "go.mod":
			return nil
		}
		modules++
		text, err := os.ReadFile(path)
		for _, name := range []string{"/testing", "/papers"} {
			if _, others, _ := strings.Cut(string(text), "\n"); strings.Contains(others, module+name) {
				t.Errorf("%s names %s%s: only its own tests import it", path, module, name)
			}
		}
		return err
	})
	if err != nil || modules < 8 {
		t.Errorf("%d modules, want those of the repository: %v", modules, err)
	}
}

// The program, which operators run, requires none of the experiments' libraries.
func TestProgramLibraries(t *testing.T) {
	for _, file := range []string{"coordinator/zofl/go.mod", "coordinator/zofl/go.sum"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "gonum.org/") {
			t.Errorf("%s names gonum.org", file)
		}
	}
}

// An app depends only on what it imports: on no broker, and on nothing that only the
// nested modules require.
func TestAppModuleGraph(t *testing.T) {
	gomod, gosum := readTracked(t)
	sourceFiles(t, "client")
	goList(t, ".", "-m", "all") // downloads all modules that an app needs
	t.Setenv("GOPROXY", "off")
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(gomod, "\ngo ")
	version, _, _ = strings.Cut(version, "\n")
	app := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module app\n\ngo " + version + "\n\nrequire " + module + " v0.1.0\n" +
			"\nreplace " + module + " => " + strconv.Quote(root) + "\n",
		"go.sum":  gosum,
		"main.go": "package main\n\nimport _ \"" + module + "/client\"\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must := append([]string{"app", module}, direct...)
	wantNoServer(t, goList(t, app, "-mod=mod", "-m", "all"), must...)
	wantNoServer(t, goList(t, app, "-mod=mod", "-deps", "."), module+"/client", direct[0])
}
