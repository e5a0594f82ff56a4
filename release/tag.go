package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	xzip "golang.org/x/mod/zip"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// A tagging makes a release commit: a child of HEAD whose modules require each other by version,
// where on the branch they are replaced by directories, which go install refuses.
type tagging struct {
	dir     string // of the work tree
	store   string // directory of the clone, of which it may be a second work tree
	version string // such as v1.2.3
	index   string // a file of its own, so that the work tree stays as it is
	modules []*module
	tree    string              // of the modules that are done
	sums    map[string][]string // lines of go.sum, by module
}

// tag makes the release commit of HEAD, and a tag of it for each module that users
// get. It says how to publish
// them.
func tag(ctx context.Context, dir, name string) error {
	t := &tagging{version: name, sums: map[string][]string{}}
	var err error
	if t.dir, t.store, err = clone(ctx, dir); err != nil {
		return err
	}
	if err := t.check(ctx); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "zofl-tag-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	t.index = filepath.Join(scratch, "index")
	if err := t.rewrite(ctx); err != nil {
		return err
	}
	message := "Release " + name + "\n\nModules require each other by version, not by directory."
	commit, err := t.git(ctx, nil, "commit-tree", "-p", "HEAD", "-m", message, t.tree)
	if err != nil {
		return err
	}
	for _, tag := range t.tags() {
		if _, err := t.git(ctx, nil, "tag", "-a", "-m", "Zofl "+name, tag, commit); err != nil {
			return err
		}
	}
	fmt.Printf("%s is a commit beside the branch. To publish it:\n  git push origin %s\n", name,
		strings.Join(t.tags(), " "))
	return nil
}

// check refuses what cannot be tagged, and finds the modules.
func (t *tagging) check(ctx context.Context) error {
	if t.version != "v"+version.Next {
		return fmt.Errorf("tag %s: the program says that it is %s: set version.Next, or tag v%[2]s",
			t.version, version.Next)
	}
	changes, err := t.git(ctx, nil, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return errors.New("tag: files differ from the commit: commit them, or git stash")
	}
	names, err := t.git(ctx, nil, "ls-tree", "-r", "--name-only", "HEAD")
	if err != nil {
		return err
	}
	t.modules, err = modulesOf(strings.Split(names, "\n"), func(name string) ([]byte, error) {
		return t.show(ctx, "HEAD", name)
	})
	if err != nil {
		return err
	}
	t.modules = slices.DeleteFunc(t.modules, func(m *module) bool { return !m.offered() })
	exist, err := t.git(ctx, nil, append([]string{"tag", "--list"}, t.tags()...)...)
	if exist != "" {
		return fmt.Errorf("tag: these exist: %s: a tag that somebody may have is never changed",
			strings.Join(strings.Fields(exist), ", "))
	}
	return err
}

// tags are the names of the tags, as Go wants them for modules of one repository.
func (t *tagging) tags() (names []string) {
	for _, m := range t.modules {
		names = append(names, path.Join(m.dir, t.version))
	}
	return names
}

// rewrite makes the tree of the release commit. A module comes after those that it requires, whose
// hashes go into its go.sum.
func (t *tagging) rewrite(ctx context.Context) error {
	if _, err := t.git(ctx, nil, "read-tree", "HEAD"); err != nil {
		return err
	}
	for _, m := range t.modules {
		if used := m.uses(t.modules); len(used) > 0 {
			if err := t.require(ctx, m, used); err != nil {
				return fmt.Errorf("%s: %w", m.path(), err)
			}
		}
		var err error
		if t.tree, err = t.git(ctx, nil, "write-tree"); err != nil {
			return err
		}
		if err := t.hash(m); err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
	}
	return nil
}

// require makes a module require others by the version.
func (t *tagging) require(ctx context.Context, m *module, used []*module) error {
	sum, err := t.show(ctx, "HEAD", path.Join(m.dir, "go.sum"))
	if err != nil {
		return err
	}
	lines := strings.FieldsFunc(string(sum), func(r rune) bool { return r == '\n' })
	for _, of := range used {
		if err := m.file.DropReplace(of.path(), ""); err != nil {
			return err
		}
		needed := t.sums[of.path()]
		if m.requires(of.path()) {
			if err := m.file.AddRequire(of.path(), t.version); err != nil {
				return err
			}
		} else {
			needed = needed[1:] // of its go.mod alone
		}
		lines = append(lines, needed...)
	}
	slices.Sort(lines)
	m.file.Cleanup()
	text, err := m.file.Format()
	if err != nil {
		return err
	}
	return errors.Join(t.add(ctx, path.Join(m.dir, "go.mod"), text),
		t.add(ctx, path.Join(m.dir, "go.sum"), []byte(strings.Join(lines, "\n")+"\n")))
}

// hash keeps the lines of go.sum for a module that is done.
func (t *tagging) hash(m *module) error {
	content, err := zipOf(t.store, t.tree, m, t.version)
	if err != nil {
		return err
	}
	opened, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	var names []string
	files := map[string]*zip.File{}
	for _, f := range opened.File {
		names, files[f.Name] = append(names, f.Name), f
	}
	open := func(name string) (io.ReadCloser, error) { return files[name].Open() }
	whole, err := dirhash.Hash1(names, open)
	if err != nil {
		return err
	}
	gomod := m.path() + "@" + t.version + "/go.mod"
	alone, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return open(gomod)
	})
	t.sums[m.path()] = []string{m.path() + " " + t.version + " " + whole,
		m.path() + " " + t.version + "/go.mod " + alone}
	return err
}

// clone returns the absolute path of a work tree, and the directory of the clone that it is of.
func clone(ctx context.Context, dir string) (tree, store string, err error) {
	if tree, err = filepath.Abs(dir); err != nil {
		return "", "", err
	}
	out, err := command(ctx, tree, nil, "git", "rev-parse", "--path-format=absolute",
		"--git-common-dir")
	return tree, filepath.Dir(strings.TrimSpace(string(out))), err
}

// zipOf returns a module of a tree as Go downloads it.
func zipOf(dir, tree string, m *module, version string) ([]byte, error) {
	var content bytes.Buffer
	err := xzip.CreateFromVCS(&content, xmodule.Version{Path: m.path(), Version: version}, dir, tree,
		m.dir)
	return content.Bytes(), err
}

// add puts a file into the index.
func (t *tagging) add(ctx context.Context, name string, content []byte) error {
	blob, err := t.git(ctx, content, "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	_, err = t.git(ctx, nil, "update-index", "--cacheinfo", "100644,"+blob+","+name)
	return err
}

// show returns a file of a commit.
func (t *tagging) show(ctx context.Context, commit, name string) ([]byte, error) {
	return command(ctx, t.dir, nil, "git", "cat-file", "blob", commit+":"+name)
}

// git runs git with the index, and returns what it prints.
func (t *tagging) git(ctx context.Context, in []byte, args ...string) (string, error) {
	var env []string
	if t.index != "" {
		env = []string{"GIT_INDEX_FILE=" + t.index}
	}
	out, err := feed(ctx, t.dir, env, in, "git", args...)
	return strings.TrimSpace(string(out)), err
}
