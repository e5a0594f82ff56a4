package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// zoflModule is the path of the root module. Those of the others begin with it.
const zoflModule = "github.com/zofl/zofl"

// A module is one of the repository.
type module struct {
	dir  string // in the repository, with slashes; "" is the root
	file *modfile.File
}

// path is the module's own.
func (m *module) path() string { return m.file.Module.Mod.Path }

// requires says whether a module requires another.
func (m *module) requires(path string) bool {
	return slices.ContainsFunc(m.file.Require, func(r *modfile.Require) bool {
		return r.Mod.Path == path
	})
}

// offered says whether users get a module by its version. The others are tools of a clone, and need
// no tag: this command, so that it runs before its release is published, tests and papers.
func (m *module) offered() bool {
	return m.dir == "" || m.dir == "coordinator/zofl" || m.dir == "android" ||
		strings.HasPrefix(m.dir, "examples/")
}

// uses returns those modules that a module requires, and the root, which they require.
func (m *module) uses(all []*module) (used []*module) {
	for _, of := range all {
		if m.requires(of.path()) {
			used = append(used, of)
		}
	}
	if len(used) > 0 && used[0].dir != "" {
		used = append([]*module{all[0]}, used...)
	}
	return used
}

// modulesOf returns the modules among the files of a repository, each after those that it
// requires.
func modulesOf(files []string, read func(name string) ([]byte, error)) ([]*module, error) {
	var left, sorted []*module
	for _, name := range files {
		if path.Base(name) != "go.mod" || strings.Contains(name, "testdata/") {
			continue
		}
		text, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and the removal is not committed
		}
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, err
		}
		left = append(left, &module{dir: strings.TrimPrefix(path.Dir("/"+name), "/"), file: file})
	}
	slices.SortFunc(left, func(a, b *module) int { return strings.Compare(a.dir, b.dir) })
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(m *module) bool {
			return !slices.ContainsFunc(left, func(of *module) bool { return m.requires(of.path()) })
		})
		if i < 0 {
			return nil, fmt.Errorf("%s and others require each other", left[0].path())
		}
		sorted, left = append(sorted, left[i]), slices.Delete(left, i, i+1)
	}
	return sorted, nil
}

// link makes the modules of a copy of the sources use each other as they lie there, as on the
// branch main. Those of a release commit would be fetched.
func link(dir string, files []string) error {
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) }
	modules, err := modulesOf(files, read)
	if err != nil {
		return err
	}
	for _, m := range modules {
		for _, of := range m.uses(modules) {
			to, err := filepath.Rel(m.dir, filepath.Join(".", of.dir))
			if err != nil {
				return err
			}
			if err := m.file.AddReplace(of.path(), "", filepath.ToSlash(to)+"/", ""); err != nil {
				return err
			}
		}
		text, err := m.file.Format()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, m.dir, "go.mod"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
