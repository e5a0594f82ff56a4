//go:build !race

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// published tags a copy of these sources, and returns the directory of a proxy that has it.
func published(t *testing.T, m *made) string {
	t.Helper()
	dir, out := t.TempDir(), t.TempDir()
	if err := m.copyTo(dir); err != nil {
		t.Fatal(err)
	}
	commitAll(t, dir)
	if err := tag(t.Context(), dir, "v"+version.Next); err != nil {
		t.Fatal(err)
	}
	if err := proxy(t.Context(), dir, "v"+version.Next, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGoRehearsal: on a bare machine go install makes the program from what the tags publish, and a
// module that was empty gets the client, with which the README's device compiles.
func TestGoRehearsal(t *testing.T) {
	m := released(t)
	timed(t, "../coordinator/zofl", nil, "go", "mod", "download") // for the cache that is a proxy here
	env := bare(t, published(t, m), goEnv(t, "GOMODCACHE")+"/cache/download")
	run := func(dir string, name string, args ...string) string {
		t.Helper()
		return timed(t, dir, env, name, args...)
	}
	run(t.TempDir(), "go", "install", "github.com/zofl/zofl/coordinator/zofl@latest")
	zofl := filepath.Join(strings.TrimPrefix(env[1], "GOPATH="), "bin/zofl")
	if got := run(".", zofl, "--version"); got != "zofl version "+version.Next+"\n" {
		t.Errorf("the program says %q", got)
	}
	shows(t, run(t.TempDir(), zofl, "demo", "--rounds", "12", "--devices", "3", "--json"))

	app := t.TempDir()
	write(t, filepath.Join(app, "main.go"), block(t, "../README.md", "```go\npackage main\n"))
	run(app, "go", "mod", "init", "example.org/app")
	run(app, "go", "get", "github.com/zofl/zofl/client@latest")
	run(app, "go", "build", "-o", os.DevNull, ".")
}

// TestPipRehearsal: in an environment that has numpy alone, pip takes the wheel from an index in a
// folder, and zofl demo runs. The program of the sdist compiles, too.
func TestPipRehearsal(t *testing.T) {
	m := released(t)
	if m.noWheels {
		t.Skip("hatchling is missing: .ci/setup installs it, in python/_venv")
	}
	index, dir := t.TempDir(), t.TempDir()
	var links strings.Builder
	for _, pattern := range []string{"*.whl", "zofl-[0-9]*.tar.gz"} {
		names, err := filepath.Glob(filepath.Join(m.dir, pattern))
		if err != nil || len(names) != 1 {
			t.Fatalf("%s: %v, %v, want one", pattern, names, err)
		}
		links.WriteString(`<a href="file://` + names[0] + `">` + filepath.Base(names[0]) + "</a>\n")
	}
	write(t, filepath.Join(index, "zofl/index.html"), links.String())
	env := append(bare(t), "PIP_DISABLE_PIP_VERSION_CHECK=1", "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	python, venv := m.python(t.Context()), filepath.Join(dir, "venv")
	run := func(name string, args ...string) string {
		t.Helper()
		return timed(t, dir, env, name, args...)
	}
	run(python, "-m", "venv", "--system-site-packages", "--without-pip", venv)
	run(python, "-m", "pip", "--python", venv+"/bin/python", "install", "zofl", "--only-binary=zofl",
		"--index-url", "file://"+index)
	shows(t, run(venv+"/bin/zofl", "demo", "--rounds", "12", "--devices", "3", "--json"))

	run(python, "-m", "pip", "wheel", "zofl", "--no-binary=zofl", "--no-build-isolation", "--no-deps",
		"--index-url", "file://"+index, "--wheel-dir", dir)
	wheels, err := filepath.Glob(filepath.Join(dir, "zofl-*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("wheels %v, %v, want one", wheels, err)
	}
	site := filepath.Join(dir, "site")
	run("unzip", "-q", wheels[0], "-d", site)
	if got := run(site+"/zofl/_bin/zofl", "--version"); got != "zofl version "+version.Next+"\n" {
		t.Errorf("the program of the sdist says %q", got)
	}
	if !strings.Contains(read(t, site, "zofl-"+version.Next+".dist-info/licenses/NOTICES"), "nats") {
		t.Error("its NOTICES do not name NATS")
	}
}

// timed runs a program, and prints what it took.
func timed(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	began := time.Now()
	out, err := command(t.Context(), dir, env, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s: %s %v", time.Since(began).Seconds(), filepath.Base(name), args)
	return string(out)
}

// shows checks what zofl demo printed: a run that trained.
func shows(t *testing.T, out string) {
	t.Helper()
	var demo struct {
		Rounds int     `json:"rounds"`
		Loss   float64 `json:"loss"`
	}
	if err := json.Unmarshal([]byte(out), &demo); err != nil || demo.Rounds != 12 {
		t.Errorf("zofl demo printed %v: %s", err, out)
	}
}

// block returns the block of a page that begins with a text.
func block(t *testing.T, page, begin string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, page), begin)
	if !found {
		t.Fatalf("%s has no block that begins with %q", page, begin)
	}
	text, _, _ = strings.Cut(text, "```")
	return strings.TrimPrefix(begin, "```go\n") + text
}
