package zofl_test

import (
	"go/parser"
	"go/token"
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

// allowed has the packages that a package may import beside the standard library. A
// name that ends in /... includes the packages below it.
var allowed = map[string][]string{
	"prng":              {module + "/internal/isa"},
	"mathx":             {module + "/internal/isa"},
	"internal/isa":      {module + "/internal/isa/..."},
	"internal/parallel": {},
	"internal/half":     {},
	"wire": {
		module + "/prng/...", module + "/mathx/...", module + "/wire/...", module + "/internal/half",
		"github.com/vmihailenco/msgpack/v5/msgpcode",
	},
	// The codec knows no frame.
	"wire/internal/codec": {"github.com/vmihailenco/msgpack/v5/msgpcode"},

	// Keys, shares and masks need the standard library alone.
	"wire/secagg": {},

	"bus":               {module + "/bus/...", "github.com/nats-io/nats.go/..."},
	"internal/disk":     {module + "/internal/disk/..."},
	"internal/dirstore": {module + "/internal/disk/..."},
	"internal/memstore": {},
	"client":            shellImports("client"),
	"internal/seam":     {module + "/internal/disk", module + "/coordinator/runlog"},
	"coordinator":       append(shellImports("coordinator"), module+"/internal/seam"),
	// A fleet is a program as a library: it has both sides, and neither has it.
	"fleet": {
		module + "/client", module + "/client/objective", module + "/client/replica",
		module + "/coordinator", module + "/coordinator/report", module + "/coordinator/runlog",
		module + "/bus", module + "/prng", module + "/wire/...", module + "/fleet/...",
		module + "/internal/memstore",
	},
	"fleet/traffic": {
		module + "/bus", module + "/wire", module + "/wire/lean", module + "/wire/survey",
	},
	"fleet/tune": {
		module + "/client/objective", module + "/client/replica", module + "/fleet",
		module + "/prng", module + "/wire/...",
	},
	// What a client is made of: the prober sees no network and no store, the follower and
	// the outbox do not see the app's loss.
	"client/objective": {},
	"client/internal/probe": {
		module + "/prng", module + "/mathx/...", module + "/wire", module + "/wire/survey",
		module + "/wire/grouping", module + "/wire/byclass",
		module + "/client/objective", module + "/client/replica",
		module + "/client/internal/consent", module + "/client/internal/slope",
	},
	"client/internal/slope": {
		module + "/prng", module + "/mathx", module + "/wire", module + "/internal/parallel",
		module + "/client/replica",
	},
	"client/internal/follow": {
		module + "/wire", module + "/wire/lean", module + "/wire/valid", module + "/client/replica",
		module + "/client/internal/retry", module + "/client/internal/seal",
		module + "/client/internal/files", module + "/bus", module + "/wire/signed",
	},
	"client/internal/outbox": {
		module + "/wire", module + "/wire/survey", module + "/wire/grouping",
		module + "/wire/masked",
		module + "/client/internal/retry", module + "/client/internal/files",
	},
	"client/internal/mask": {
		module + "/wire", module + "/wire/masked", module + "/wire/secagg",
		module + "/client/internal/retry",
	},
	"client/internal/files": {module + "/wire"},
	"client/internal/seal":  {},
	"client/internal/tell":  {module + "/wire/about"},
	// A log needs the contract, and what it stores to; neither a round nor another log.
	"coordinator/runlog": {module + "/wire/...", module + "/coordinator/runlog"},
	"coordinator/filelog": {
		module + "/wire", module + "/coordinator/runlog", module + "/internal/disk", module +
			"/internal/seam", module + "/coordinator/internal/roster",
	},
	"coordinator/jetlog": {module + "/wire", module + "/coordinator/runlog",
		module + "/wire/subjects", module + "/coordinator/internal/roster",
		"github.com/nats-io/nats.go/..."},
	"coordinator/internal/roster": {module + "/wire", module + "/coordinator/runlog"},
	"coordinator/report": {module + "/wire", module + "/wire/survey", module + "/wire/dp",
		module + "/wire/about"},
	"coordinator/internal/engine": {
		module + "/wire", module + "/wire/lean", module + "/wire/subjects",
		module + "/wire/plancheck", module + "/wire/grouping", module + "/mathx",
		module + "/prng", module + "/coordinator/report", module + "/coordinator/runlog",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/serve",
		module + "/coordinator/internal/ballot", module + "/coordinator/internal/steer",
		module + "/coordinator/internal/grouping", module + "/coordinator/internal/guard",
		module + "/coordinator/internal/crowd", module + "/wire/survey", module + "/wire/dp",
		module + "/coordinator/internal/veil", module + "/coordinator/internal/vault",
		module + "/coordinator/internal/archive", module + "/wire/masked",
		module + "/coordinator/internal/intake", module + "/coordinator/internal/classes",
		module + "/wire/about",
	},
	"coordinator/internal/intake": {
		module + "/wire", module + "/wire/survey", module + "/coordinator/report",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/classes",
	},
	"coordinator/internal/archive": {
		module + "/coordinator/internal/guard", module + "/coordinator/internal/serve",
		module + "/coordinator/runlog",
	},
	"coordinator/internal/vault": {
		module + "/wire", module + "/wire/masked", module + "/wire/secagg",
		module + "/coordinator/report",
	},
	"coordinator/internal/classes": {
		module + "/wire", module + "/wire/byclass", module + "/wire/grouping", module + "/prng",
		module + "/coordinator/internal/gather",
	},
	"coordinator/internal/veil": {
		module + "/wire", module + "/wire/noise", module + "/coordinator/internal/gather",
	},
	"coordinator/internal/steer": {
		module + "/wire", module + "/wire/survey",
	},
	// It sees no frame: who is in which group is the coordinator's business.
	"coordinator/internal/grouping": {module + "/wire", module + "/wire/grouping",
		module + "/wire/survey", module + "/coordinator/report", module + "/prng",
		module + "/coordinator/internal/steer"},
	"coordinator/internal/ballot": {module + "/wire", module + "/coordinator/report"},
	"coordinator/internal/gather": {module + "/wire", module + "/mathx", module + "/prng",
		module + "/coordinator/report"},
	"coordinator/internal/crowd": {module + "/wire", module + "/wire/about",
		module + "/wire/grouping", module + "/wire/masked", module + "/wire/secagg",
		module + "/wire/survey",
		module + "/coordinator/report",
		module + "/coordinator/runlog", module + "/coordinator/internal/gather"},
	"coordinator/internal/guard":  {module + "/wire", module + "/mathx"},
	"coordinator/internal/pulse":  {module + "/wire", module + "/bus"},
	"coordinator/internal/senior": {module + "/wire/lead", module + "/wire/subjects", module + "/bus"},
	"coordinator/internal/notary": {module + "/wire", module + "/wire/signed"},
	"coordinator/internal/quota":  {module + "/coordinator/report"},
	"coordinator/internal/serve": {module + "/coordinator/internal/quota",
		module + "/wire", module + "/wire/lean", module + "/wire/subjects",
		module + "/wire/signed",
		module + "/bus", module + "/coordinator/runlog"},
}

// impure are packages that a deterministic one does not import.
var impure = []string{"context", "crypto/rand", "math/rand", "math/rand/v2", "net", "os", "sync",
	"sync/atomic", "time"}

// TestPure: what rounds are made of knows no clock, goroutine, chance or file.
func TestPure(t *testing.T) {
	for _, dir := range []string{"coordinator/internal/engine", "coordinator/internal/gather",
		"coordinator/internal/ballot", "coordinator/internal/steer",
		"coordinator/internal/grouping", "coordinator/internal/guard",
		"coordinator/internal/crowd", "coordinator/internal/vault",
		"coordinator/internal/intake", "coordinator/internal/classes"} {
		for _, file := range sourceFiles(t, dir) {
			for _, name := range importsOf(t, file) {
				if slices.Contains(impure, name) {
					t.Errorf("%s imports %s", file, name)
				}
			}
		}
	}
}

// shellImports returns the packages that client and coordinator may import: shared ones
// and those below themselves, but never each other, and no simulated disk.
func shellImports(own string) []string {
	return []string{
		module + "/prng/...", module + "/mathx/...", module + "/wire/...",
		module + "/bus/...", module + "/internal/disk",
		module + "/internal/dirstore", module + "/internal/parallel", module + "/internal/half",
		module + "/" + own + "/...",
		"github.com/nats-io/nats.go/...",
	}
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
		"/coordinator", "/fleet", "/wire/preset", "/wire/plancheck", "/wire/planfile", "/wire/cost",
	} {
		if slices.Contains(list, module+name) {
			t.Errorf("client depends on %s%s: a device carries none of it", module, name)
		}
	}
}

// The program, which operators run, imports nothing of the experiments. Nor do its tests, so
// its module requires none of their libraries.
func TestProgramPackages(t *testing.T) {
	const program = "coordinator/zofl"
	for _, file := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(program, file)) // for the test cache
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{module + "/testing", "gonum.org/"} {
			if strings.Contains(string(b), name) {
				t.Errorf("%s/%s names %s", program, file, name)
			}
		}
	}
	for _, file := range goFiles(t, program) {
		for _, name := range importsOf(t, file) {
			if name == module+"/testing" || strings.HasPrefix(name, module+"/testing/") {
				t.Errorf("%s imports %s: the program never imports testing", file, name)
			}
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

// All files count here, whatever their build constraints; only tests may import more.
func TestImports(t *testing.T) {
	for dir, may := range allowed {
		for _, file := range sourceFiles(t, dir) {
			for _, name := range importsOf(t, file) {
				if !mayImport(may, name) {
					t.Errorf("%s imports %s, want the standard library and %v", file, name, may)
				}
			}
		}
	}
}

// importsOf returns the paths that a file imports.
func importsOf(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func mayImport(may []string, name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if !strings.Contains(first, ".") {
		return name != "C"
	}
	return slices.ContainsFunc(may, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "/...")
		return name == prefix || below && strings.HasPrefix(name, prefix+"/")
	})
}

// sourceFiles returns the Go files of a folder of this module, without tests and nested
// modules, and reads them, so that the test cache depends on them. A folder without Go
// files fails the test.
func sourceFiles(t *testing.T, dir string) []string {
	t.Helper()
	files := slices.DeleteFunc(goFiles(t, dir),
		func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 {
		t.Fatalf("got no Go files in %s, want some", dir)
	}
	return files
}

// goFiles is sourceFiles with tests.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(dir, path, entry.Name())
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files = append(files, path)
		_, err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("got no Go files in %s, want some", dir)
	}
	return files
}

// skipFolder returns fs.SkipDir for a folder below dir that does not belong to the module.
func skipFolder(dir, path, name string) error {
	if path == dir {
		return nil
	}
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
