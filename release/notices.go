package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// legal are the files of a module that must go with its code.
var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)(\.(md|txt))?$`)

// collect returns the license of Zofl, and the licenses of Go and of all modules of a program that
// is built in a directory.
func (b *build) collect(ctx context.Context, dir string, p *program) ([]byte, error) {
	var text bytes.Buffer
	if err := quote(&text, "Zofl "+b.version, b.in("src")); err != nil {
		return nil, err
	}
	root, err := command(ctx, dir, b.env, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := quoteGo(&text, p.info.GoVersion, strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	where, err := b.modules(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, m := range p.info.Deps {
		if m.Replace != nil { // Zofl's own
			continue
		}
		if err := quote(&text, m.Path+" "+m.Version, where[m.Path]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.embedded)) {
		if err := quote(&text, name, b.in("src", p.embedded[name])); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
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

// modules returns the directories of the modules of the program, by path.
func (b *build) modules(ctx context.Context, dir string) (map[string]string, error) {
	out, err := command(ctx, dir, b.env, "go", "list", "-m", "-json=Path,Dir", "all")
	if err != nil {
		return nil, err
	}
	where := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return where, nil
		} else if err != nil {
			return nil, err
		}
		where[m.Path] = m.Dir
	}
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
