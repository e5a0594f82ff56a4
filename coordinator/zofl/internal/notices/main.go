// Command notices prints the licenses of all that is compiled into the program of a directory:
// Zofl's, Go's, and those of modules and of code that is embedded. Whoever passes a program on has
// to pass these on too.
//
//	go run ./internal/notices DIR [GOOS=linux GOARCH=arm64 ...]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// zofl is the path of Zofl's modules.
const zofl = "github.com/zofl/zofl"

// legal are the files of a module that must go with its code.
var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)(\.(md|txt))?$`)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "notices: give the directory of a program")
		os.Exit(2)
	}
	text, err := collect(os.Args[1], os.Args[2:])
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// A module is a part of a program.
type module struct{ Path, Version, Dir string }

// collect returns the licenses for a program, built with the given settings of the environment.
func collect(dir string, env []string) ([]byte, error) {
	modules, err := linked(dir, env)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, m := range modules {
		title := strings.TrimSpace(m.Path + " " + m.Version)
		if m.Path == "Go" {
			err = quoteGo(&text, title, m.Dir)
		} else {
			err = quote(&text, title, m.Dir)
		}
		if err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// linked returns the parts of a program: Zofl, Go, the modules by path, and what lies in folders
// named third-party.
func linked(dir string, env []string) ([]module, error) {
	goEnv, err := run(dir, env, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	version, root, _ := strings.Cut(strings.TrimSpace(string(goEnv)), "\n")
	list, err := run(dir, env, "list", "-deps", "-json=Module", ".")
	if err != nil {
		return nil, err
	}
	own, found := "", map[string]module{}
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		switch m := p.Module; {
		case m == nil: // Go's own package
		case m.Path == zofl:
			own = m.Dir
		case !strings.HasPrefix(m.Path, zofl+"/"):
			found[m.Path] = *m
		}
	}
	modules := []module{{"Zofl", "", own}, {"Go", strings.TrimPrefix(version, "go"), root}}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		modules = append(modules, found[path])
	}
	embedded, err := thirdParty(dir)
	return append(modules, embedded...), err
}

// thirdParty returns the folders below those named third-party.
func thirdParty(dir string) (found []module, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && filepath.Base(filepath.Dir(path)) == "third-party" {
			found = append(found, module{Path: entry.Name(), Dir: path})
			return filepath.SkipDir
		}
		return err
	})
	return found, err
}

// run returns what a command of Go prints.
func run(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, err
}

// quoteGo appends Go's license. Distributions keep it elsewhere than Go's own archives.
func quoteGo(text *bytes.Buffer, title, root string) error {
	var err error
	for _, dir := range []string{root, filepath.Dir(root), "/usr/share/doc/golang"} {
		if err = quote(text, title, dir); err == nil {
			return nil
		}
	}
	return err
}

// quote appends the legal files of a directory.
func quote(text *bytes.Buffer, title, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("license of %s: %w", title, err)
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(text, "==== %s: %s ====\n\n%s\n\n", title, e.Name(),
			bytes.TrimSpace(content))
	}
	if !found {
		return fmt.Errorf("license of %s: no file in %s has a name such as LICENSE", title, dir)
	}
	return nil
}
