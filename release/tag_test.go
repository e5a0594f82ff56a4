//go:build !race

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// newRepository makes a repository of some files, with one commit.
func newRepository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	commitAll(t, dir)
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commitAll commits all files of a directory as somebody, in a new repository.
func commitAll(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "Some Body"},
		{"config", "user.email", "body@example.org"}, {"config", "gc.auto", "0"}, {"add", "-A"},
		{"commit", "-q", "-m", "all"}} {
		git(t, dir, args...)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), dir, nil, "git", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// small are the files of a repository with modules as ours: a library, a program that requires it,
// an example that requires both, and a tool that requires none.
var small = map[string]string{
	"LICENSE":                 "Do as you like.\n",
	"go.mod":                  "module github.com/zofl/zofl\n\ngo 1.26.0\n",
	"go.sum":                  "",
	"word/word.go":            "// Package word has a word.\npackage word\n\nconst Word = \"hello\"\n",
	"coordinator/zofl/go.sum": "",
	"coordinator/zofl/go.mod": "module github.com/zofl/zofl/coordinator/zofl\n\ngo 1.26.0\n\n" +
		"require github.com/zofl/zofl v0.1.0\n\nreplace github.com/zofl/zofl => ../../\n",
	"coordinator/zofl/main.go": "package main\n\nimport \"github.com/zofl/zofl/word\"\n\n" +
		"func main() { print(word.Word) }\n",
	"coordinator/zofl/part/part.go": "// Package part is a part.\npackage part\n\n" +
		"import _ \"github.com/zofl/zofl/word\"\n",
	"examples/pid/main.go": "package main\n\nimport _ \"github.com/zofl/zofl/coordinator/zofl/part\"" +
		"\n\nfunc main() {}\n",
	"coordinator/zofl/testdata/other/go.mod": "module example.org/other\n",
	"examples/pid/go.sum":                    "",
	"examples/pid/go.mod": "module github.com/zofl/zofl/examples/pid\n\ngo 1.26.0\n\n" +
		"require github.com/zofl/zofl/coordinator/zofl v0.1.0\n\n" +
		"require github.com/zofl/zofl v0.1.0 // indirect\n\nreplace (\n" +
		"\tgithub.com/zofl/zofl => ../../\n" +
		"\tgithub.com/zofl/zofl/coordinator/zofl => ../../coordinator/zofl\n)\n",
	"release/go.mod": "module github.com/zofl/zofl/release\n\ngo 1.26.0\n\n" +
		"require github.com/zofl/zofl v0.1.0\n\nreplace github.com/zofl/zofl => ../\n",
}

// bare is the environment of somebody with Go, an empty home and proxies in directories: no module
// is there, and no network is needed. What was compiled before is not compiled again.
func bare(t *testing.T, proxies ...string) []string {
	t.Helper()
	home := t.TempDir()
	for i, dir := range proxies {
		proxies[i] = "file://" + dir
	}
	return []string{"HOME=" + home, "GOPATH=" + filepath.Join(home, "go"),
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOENV=off", "GOTOOLCHAIN=local",
		"GOPROXY=" + strings.Join(proxies, ","), "GOSUMDB=off", "GOMODCACHE=", "CGO_ENABLED=0",
		"GOFLAGS=" + os.Getenv("GOFLAGS") + " -modcacherw -trimpath", "GOAMD64=v1", "GOWORK=off"}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := command(t.Context(), ".", nil, "go", "env", name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestTag: a tag leaves branch and work tree as they are, and go install takes the program of a
// clone's tag from a proxy, which it refuses to take from the branch.
func TestTag(t *testing.T) {
	dir, ctx := newRepository(t, small), context.Background()
	head, name := git(t, dir, "rev-parse", "HEAD"), "v"+version.Next
	if err := tag(ctx, dir, name); err != nil {
		t.Fatal(err)
	}
	if now := git(t, dir, "rev-parse", "HEAD"); now != head || git(t, dir, "status", "-s") != "" {
		t.Errorf("HEAD was %s and is %s, with changes %q", head, now, git(t, dir, "status", "-s"))
	}
	want := []string{"coordinator/zofl/" + name, "examples/pid/" + name, name}
	if got := strings.Fields(git(t, dir, "tag")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("tags %v, want %v", got, want)
	}
	changed := strings.Fields(git(t, dir, "diff", "--name-only", head, name))
	if strings.Join(changed, " ") != "coordinator/zofl/go.mod coordinator/zofl/go.sum "+
		"examples/pid/go.mod examples/pid/go.sum" {
		t.Errorf("the release commit changes %v", changed)
	}
	out := t.TempDir()
	if err := proxy(ctx, dir, name, out); err != nil {
		t.Fatal(err)
	}
	env := bare(t, out)
	for _, at := range []string{name, "latest"} {
		program := "github.com/zofl/zofl/coordinator/zofl@" + at
		if said, err := command(ctx, t.TempDir(), env, "go", "install", program); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, said)
		}
	}
	cmd := exec.Command(filepath.Join(strings.TrimPrefix(env[1], "GOPATH="), "bin/zofl"))
	if said, err := cmd.CombinedOutput(); string(said) != "hello" {
		t.Errorf("the program says %q, %v", said, err)
	}
	// Whoever builds from the tag finds the hashes of what it requires in its go.sum.
	git(t, dir, "checkout", "-q", name)
	for _, module := range []string{"coordinator/zofl", "examples/pid"} {
		for _, args := range [][]string{{"build", "-o", os.DevNull, "./..."}, {"mod", "tidy", "-diff"}} {
			if out, err := command(ctx, filepath.Join(dir, module), env, "go", args...); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}
}

// TestTagRefuses: nothing is tagged that is not the release, or is tagged.
func TestTagRefuses(t *testing.T) {
	ctx, name := t.Context(), "v"+version.Next
	for want, spoil := range map[string]func(dir string) string{
		"set version.Next": func(string) string { return "v99.0.0" },
		"commit them": func(dir string) string {
			write(t, filepath.Join(dir, "new.go"), "package new\n")
			return name
		},
		"these exist: coordinator/zofl/" + name: func(dir string) string {
			git(t, dir, "tag", "coordinator/zofl/"+name)
			return name
		},
	} {
		dir := newRepository(t, small)
		before := git(t, dir, "tag")
		err := tag(ctx, dir, spoil(dir))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		if now := git(t, dir, "tag"); strings.HasPrefix(want, "these") != (now != before) {
			t.Errorf("%s: tags %q", want, now)
		}
	}
}

// TestLink: a copy of a release commit compiles with what lies in it, as the branch does.
func TestLink(t *testing.T) {
	dir := newRepository(t, small)
	if err := tag(t.Context(), dir, "v"+version.Next); err != nil {
		t.Fatal(err)
	}
	branch := read(t, dir, "examples/pid/go.mod")
	git(t, dir, "checkout", "-q", "v"+version.Next)
	if read(t, dir, "examples/pid/go.mod") == branch {
		t.Fatal("the release commit has the go.mod of the branch")
	}
	if err := link(dir, strings.Fields(git(t, dir, "ls-files"))); err != nil {
		t.Fatal(err)
	}
	env := append(bare(t), "GOPROXY=off", "GOFLAGS=-mod=mod")
	for _, module := range []string{"coordinator/zofl", "examples/pid"} {
		list := []string{"list", "-m", "-f", "{{if .Replace}}{{.Path}}{{end}}", "all"}
		out, err := command(t.Context(), filepath.Join(dir, module), env, "go", list...)
		if err != nil || !strings.Contains(string(out), "github.com/zofl/zofl\n") {
			t.Errorf("%s uses %q from the copy, %v", module, out, err)
		}
	}
}
