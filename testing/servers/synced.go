package servers

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The variables name the directory of a store, and the directory in which a recording server keeps
// what a power cut would leave of that store.
const (
	storeVariable  = "ZOFL_STORE"
	syncedVariable = "ZOFL_SYNCED"
)

// module is the path of nats-server's module.
const module = "github.com/nats-io/nats-server/v2"

// hooks is a file of package server for a recording server.
//
//go:embed synced.go.txt
var hooks string

// recorder is Program for a server that records what it has synced.
var recorder = sync.OnceValues(func() (string, error) {
	return build("nats-recorder-"+strconv.Itoa(len(hooks)), recording)
})

// hooked are the calls that a recording server makes through its hooks.
var hooked = []struct {
	call *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b([a-zA-Z.]+)\.Sync\(\)`), "syncedSync($1)"},
	{regexp.MustCompile(`\bos\.OpenFile\(`), "syncedOpen("},
	{regexp.MustCompile(`\bos\.Rename\(`), "syncedRename("},
	{regexp.MustCompile(`\bos\.Remove\(`), "syncedRemove(os.Remove, "},
	{regexp.MustCompile(`\bos\.RemoveAll\(`), "syncedRemove(os.RemoveAll, "},
}

// recording copies the source of nats-server, with hooks, and returns the flags with which go build
// uses the copy.
func recording(dir string) ([]string, error) {
	source, err := goTells("list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return nil, err
	}
	root, err := goTells("env", "GOMOD")
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(dir, "source")
	if err := copySource(copied, source); err != nil {
		return nil, err
	}
	file := filepath.Join(copied, "server", "synced.go")
	text := fmt.Sprintf(hooks, storeVariable, syncedVariable)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	for _, name := range []string{"filestore.go", "raft.go"} {
		if err := hook(filepath.Join(copied, "server", name)); err != nil {
			return nil, err
		}
	}
	modfile := filepath.Join(dir, "go.mod")
	for _, ext := range []string{".mod", ".sum"} {
		text, err := os.ReadFile(strings.TrimSuffix(root, ".mod") + ext)
		if err != nil {
			return nil, err
		}
		if ext == ".mod" {
			text = fmt.Appendf(text, "\nreplace %s => %s\n", module, copied)
		}
		if err := os.WriteFile(filepath.Join(dir, "go"+ext), text, 0o600); err != nil {
			return nil, err
		}
	}
	return []string{"-modfile", modfile}, nil
}

// hook makes a copied file call hooks.
func hook(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed := string(text)
	for _, h := range hooked {
		changed = h.call.ReplaceAllString(changed, h.with)
	}
	if !strings.Contains(changed, "syncedSync(") {
		return fmt.Errorf("%s: nats-server syncs no file here any more", file)
	}
	return os.WriteFile(file, []byte(changed), 0o600)
}

// copySource copies a module without its tests.
func copySource(to, from string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		file := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o600)
	})
}

// goTells returns what a go command prints.
func goTells(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output()
	return strings.TrimSpace(string(out)), err
}
