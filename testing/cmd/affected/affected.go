package main

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// An effect is a package that a change affects.
type effect struct {
	*pkg
	dir string
	// distance is 0 for a changed package, 1 for a package that names a changed package, and so on.
	distance int
	// code says that the change affects the package's code, and therefore the importers of the
	// package, not only the package's tests.
	code bool
	why  string
}

// affected returns the packages whose tests a change of files can break, the smallest distance
// first.
func (t tree) affected(files []string) []*effect {
	all := map[string]*effect{}
	var wave []string
	for _, f := range files {
		wave = append(wave, t.changed(f, all)...)
	}
	for distance := 1; len(wave) > 0; distance++ {
		wave = t.importers(wave, distance, all)
	}
	for _, f := range files {
		t.readers(f, all)
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *effect) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.path, b.path))
	})
}

// changed marks the package of a file: the nearest package at or above the file's directory.
// changed returns the names that importers may use, which are the package's import path and
// directory, or nothing if only tests of the package changed.
func (t tree) changed(file string, all map[string]*effect) []string {
	if path.Base(file) == "go.mod" || path.Base(file) == "go.sum" {
		return t.module(path.Dir(file), file, all)
	}
	dir, ok := up(path.Dir(file), func(d string) bool { return t[d] != nil })
	if !ok {
		return nil
	}
	p := t[dir]
	e := all[dir]
	if e == nil {
		e = &effect{pkg: p, dir: dir, why: file}
		all[dir] = e
	}
	if !p.compiled(file) {
		return nil
	}
	e.code = true
	named := []string{p.path, dir}
	if gone := path.Dir(file); gone != dir && strings.HasSuffix(file, ".go") {
		// The package is deleted: affected must find the code that still imports the package.
		named = append(named, path.Join(p.path, inside(dir, gone)), gone)
	}
	return named
}

// compiled reports whether a file is compiled into the package, not only into the package's tests.
func (p *pkg) compiled(file string) bool {
	switch path.Ext(file) {
	case ".go", ".s", ".h", ".c":
		return !strings.HasSuffix(file, "_test.go") && !strings.Contains("/"+file, "/testdata/")
	}
	return p.embeds
}

// module marks all packages of a module whose requirements changed.
func (t tree) module(dir, file string, all map[string]*effect) []string {
	var named []string
	for d, p := range t {
		if p.module == dir {
			all[d] = &effect{pkg: p, dir: d, code: true, why: file}
			named = append(named, p.path, d)
		}
	}
	return named
}

// importers marks the packages that name a package of wave in their code or their tests. importers
// returns the names of those whose code does so, because the change reaches their importers too.
func (t tree) importers(wave []string, distance int, all map[string]*effect) []string {
	var next []string
	for dir, p := range t {
		e := all[dir]
		if e != nil && e.distance < distance && e.code {
			continue
		}
		if name, ok := p.code.any(wave); ok {
			next = append(next, p.path, dir)
			t.mark(all, dir, distance, name)
			all[dir].code = true
		} else if name, ok := p.test.any(wave); ok {
			t.mark(all, dir, distance, name)
		}
	}
	slices.Sort(next)
	return next
}

// readers marks the packages with a string that is a path to the file, or to a data directory above
// the file, and the packages that read all files with the file's extension.
func (t tree) readers(file string, all map[string]*effect) {
	for dir, p := range t {
		if ext := path.Ext(file); p.code["."] && p.code[ext] || p.test["."] && p.test[ext] {
			t.mark(all, dir, 1, file)
		}
	}
	up(file, func(f string) bool {
		if t[f] != nil {
			return true
		}
		for dir, p := range t {
			if p.code[f] || p.test[f] {
				t.mark(all, dir, 1, f)
			}
		}
		return false
	})
}

func (t tree) mark(all map[string]*effect, dir string, distance int, why string) {
	if all[dir] == nil {
		all[dir] = &effect{pkg: t[dir], dir: dir, distance: distance, why: why}
	}
}

// any returns the first name of wave that is in n. The name of the repository's directory never
// counts.
func (n names) any(wave []string) (string, bool) {
	i := slices.IndexFunc(wave, func(w string) bool { return w != "." && n[w] })
	if i < 0 {
		return "", false
	}
	return wave[i], true
}
