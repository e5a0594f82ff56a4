//go:build !race

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// patience is the time after which a test gives up waiting.
const patience = 2 * time.Minute

// A made is a release of this machine's platform alone.
type made struct {
	*source
	target target
	dir    string
}

var scratch string // holds it

func TestMain(m *testing.M) {
	code := m.Run()
	if scratch != "" {
		os.RemoveAll(scratch)
	}
	os.Exit(code)
}

// releaseOnce makes it once for all tests, as the command does, but from one cache: what is
// compiled twice is the same whoever does it, and what is made of it is not.
var releaseOnce = sync.OnceValues(func() (*made, error) {
	ctx := context.Background()
	src, err := inspect(ctx, "..")
	if err != nil {
		return nil, err
	}
	if scratch, err = os.MkdirTemp("", "zofl-release-"); err != nil {
		return nil, err
	}
	chosen, err := choose(runtime.GOOS + "/" + runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	src.noWheels = !hatches(ctx, src)
	dir := filepath.Join(scratch, "dist")
	return &made{src, chosen[0], dir}, src.release(ctx, dir, chosen, passes(false, true))
})

// hatches says whether wheels can be made here: there is a Python with hatchling.
func hatches(ctx context.Context, s *source) bool {
	return exec.CommandContext(ctx, s.python(ctx), "-c", "import hatchling").Run() == nil
}

// released returns the release. With -short there is none.
func released(t *testing.T) *made {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the program")
	}
	m, err := releaseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// file returns the path of a file of the release.
func (m *made) file(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(m.dir, "zofl_"+m.version+pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("files %v, %v, want one %s", names, err, pattern)
	}
	return names[0]
}

// pack returns the path of a package of the release.
func (m *made) pack(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(m.dir, name+"_"+m.version+"_"+m.target.deb+".deb")
}

// says runs a program, and returns the words that it prints.
func says(t *testing.T, name string, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.Fields(string(out))
}

// TestRelease: two builds are equal, the sums are those that sha256sum computes, and the archive
// has the program with its version and the licenses.
func TestRelease(t *testing.T) {
	m := released(t)
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = m.dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	dir := t.TempDir()
	says(t, "tar", "-C", dir, "-xf", m.file(t, "_linux_*.tar.gz"))
	dir = filepath.Join(dir, "zofl_"+m.version+"_"+m.target.file())
	if got := says(t, filepath.Join(dir, "zofl"), "--version"); !slices.Contains(got, m.version) {
		t.Errorf("the program says %v, want %s", got, m.version)
	}
	notices, err := os.ReadFile(filepath.Join(dir, "NOTICES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Zofl:", "Go " + strings.TrimPrefix(runtime.Version(), "go") + ":",
		"github.com/nats-io/nats-server/v2", "github.com/vmihailenco/msgpack/v5", "uplot"} {
		if !strings.Contains(string(notices), "==== "+want) {
			t.Errorf("NOTICES have no license of %s", want)
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestWheel checks that the wheel contains the same program as the archive.
func TestWheel(t *testing.T) {
	m := released(t)
	if m.noWheels {
		t.Skip("hatchling is missing: .ci/setup installs it, in python/_venv")
	}
	need(t, "unzip")
	names, err := filepath.Glob(filepath.Join(m.dir, "*.whl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("wheels %v, %v, want one", names, err)
	}
	dir := t.TempDir()
	says(t, "unzip", "-q", names[0], "-d", filepath.Join(dir, "wheel"))
	says(t, "tar", "-C", dir, "--strip-components=1", "-xf", m.file(t, "_linux_*.tar.gz"))
	want, err := sumOf(filepath.Join(dir, "zofl"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sumOf(filepath.Join(dir, "wheel/zofl/_bin/zofl")); err != nil || got != want {
		t.Errorf("the wheel's program has hash %s, %v, want %s", got, err, want)
	}
	info := filepath.Join(dir, "wheel/zofl-"+version.Next+".dist-info")
	if read(t, info, "licenses/NOTICES") != read(t, dir, "NOTICES") ||
		read(t, info, "licenses/LICENSE") != read(t, "../LICENSE") {
		t.Error("the wheel's licenses are not those of the archive")
	}
	bills, err := filepath.Glob(filepath.Join(info, "sboms/zofl_*.cdx.json"))
	if err != nil || len(bills) != 1 {
		t.Errorf("bills of materials %v, %v, want one", bills, err)
	}
	metadata := read(t, info, "METADATA")
	for _, want := range []string{"\nLicense-Expression: Apache-2.0\n", "\nLicense-File: NOTICES\n",
		"\nProject-URL: Source, https://github.com/zofl/zofl\n", "\nProvides-Extra: torch\n"} {
		if !strings.Contains(metadata, want) {
			t.Errorf("METADATA has no %q", want)
		}
	}
	files, err := filepath.Glob(filepath.Join(m.dir, "zofl-[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	python := m.python(t.Context()) // with twine, where .ci/setup made it
	if exec.Command(python, "-c", "import twine").Run() == nil {
		says(t, python, append([]string{"-m", "twine", "check", "--strict"}, files...)...)
	}
}

// TestLibrary: the archive of the library has what its users need. The library works: it says its
// version, and the device in C compiles with it.
func TestLibrary(t *testing.T) {
	m := released(t)
	if m.target.cc == "" {
		t.Skipf("no library for %v", m.target)
	}
	name := "libzofl_" + m.version + "_" + m.target.file()
	dir := t.TempDir()
	says(t, "tar", "-C", dir, "-xf", filepath.Join(m.dir, name+".tar.gz"))
	dir = filepath.Join(dir, name)
	says(t, "gcc", "-std=c99", "-Werror", "-I", dir, "-o", dir+"/device", dir+"/device.c",
		dir+"/libzofl.so", "-Wl,-rpath,"+dir)
	if out, err := exec.Command(dir + "/device").CombinedOutput(); err == nil ||
		!strings.HasPrefix(string(out), "usage: ") {
		t.Errorf("the device printed %q, %v, want its usage", out, err)
	}
	got := says(t, "python3", "-c", "import ctypes, sys\n"+
		"lib = ctypes.CDLL(sys.argv[1])\nlib.zofl_version.restype = ctypes.c_char_p\n"+
		"print(lib.zofl_version().decode())", dir+"/libzofl.so")
	if !slices.Equal(got, []string{m.version}) {
		t.Errorf("the library says %v, want %s", got, m.version)
	}
	if notices := read(t, dir, "NOTICES"); !strings.Contains(notices, "github.com/nats-io/nats.go") {
		t.Error("NOTICES have no license of nats.go")
	}
	bill := read(t, m.dir, name+".cdx.json")
	if !strings.Contains(bill, "pkg:golang/github.com/zofl") {
		t.Error("the bill of materials lacks the client")
	}
}

// TestDiffer checks that release refuses builds that differ, and leaves no files.
func TestDiffer(t *testing.T) {
	dir, src := t.TempDir(), &source{dir: t.TempDir(), version: "1.2.3", at: time.Unix(0, 0)}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(src.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(src.files, name) {
			src.files = append(src.files, name)
		}
	}
	write("coordinator/zofl/go.mod", "module zofl\n\ngo 1.26.0\n")
	for _, dir := range []string{"", "internal/notices/"} {
		write("coordinator/zofl/"+dir+"main.go", "package main\n\nfunc main() {}\n")
	}
	for _, doc := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		write(doc, "Do as you like.\n")
	}
	for _, c := range []struct {
		script string
		equal  bool
	}{{`pwd >"$1/a.whl"`, false}, {`echo "$SOURCE_DATE_EPOCH $2" >"$1/a.whl"`, true}} {
		write("python/wheels.sh", c.script)
		out := filepath.Join(dir, "out")
		err := src.release(t.Context(), out, []target{{os: "linux", arch: runtime.GOARCH}},
			passes(false, true))
		if (err == nil) != c.equal {
			t.Errorf("%s: %v, want equal builds: %v", c.script, err, c.equal)
		}
		content, err := os.ReadFile(filepath.Join(out, "a.whl"))
		if (err == nil) != c.equal || c.equal && string(content) != "0 linux-"+runtime.GOARCH+"\n" {
			t.Errorf("%s: the release has %q, %v", c.script, content, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "_release-*")); err != nil || left != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestVersions checks that all files that name the next version name the same version.
func TestVersions(t *testing.T) {
	for file, want := range map[string]string{
		"../CHANGELOG.md":              "\n## [" + version.Next + "]",
		"../python/pyproject.toml":     "\nversion = \"" + version.Next + "\"\n",
		"../CITATION.cff":              "\nversion: " + version.Next + "\n",
		"../deploy/compose.yaml":       "ghcr.io/zofl/zofl:" + version.Next + "\n",
		"../deploy/kustomization.yaml": "newTag: " + version.Next + " ",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not have %q", file, want)
		}
	}
}

func TestVersionOf(t *testing.T) {
	at, revision := time.Unix(1e9, 0), strings.Repeat("ab", 20)
	const dev = version.Next + "-dev.20010909014640.gabababababab"
	for _, c := range []struct {
		tags     []string
		modified bool
		want     string // "": refused
	}{
		{nil, false, dev}, {nil, true, dev + ".modified"},
		{[]string{"v" + version.Next}, false, version.Next},
		{[]string{"v" + version.Next}, true, dev + ".modified"},
		{[]string{"v99.0.0"}, false, ""},
		{[]string{"v" + version.Next, "v99.0.0"}, false, ""},
	} {
		got, err := versionOf(at, revision, c.tags, c.modified)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v, modified %v: %q, %v, want %q", c.tags, c.modified, got, err, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	for list, want := range map[string]int{"": len(targets), "linux/armv6": 1,
		"linux/armv7,windows/amd64,linux/armv7": 2} {
		if got, err := choose(list); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v, want %d", list, got, err, want)
		}
	}
	if _, err := choose("linux/arm"); err == nil || !strings.Contains(err.Error(), "linux/armv6") {
		t.Errorf("linux/arm: %v, want the names there are", err)
	}
}
