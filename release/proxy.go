package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	xmodule "golang.org/x/mod/module"
)

// proxy writes the modules of a tag into a directory, laid out as the proxies of Go are:
// GOPROXY=file://DIR fetches from it.
func proxy(ctx context.Context, dir, tag, out string) error {
	_, dir, err := clone(ctx, dir)
	if err != nil {
		return err
	}
	stamp, err := command(ctx, dir, nil, "git", "log", "-1", "--format=%cI", tag)
	if err != nil {
		return fmt.Errorf("%w: release tag %s makes it", err, tag)
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(stamp)))
	if err != nil {
		return err
	}
	names, err := command(ctx, dir, nil, "git", "ls-tree", "-r", "--name-only", tag)
	if err != nil {
		return err
	}
	show := func(name string) ([]byte, error) {
		return command(ctx, dir, nil, "git", "cat-file", "blob", tag+":"+name)
	}
	modules, err := modulesOf(strings.Split(string(names), "\n"), show)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if !m.offered() {
			continue
		}
		if err := m.publish(dir, tag, at.UTC(), out); err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
	}
	return nil
}

// publish writes the files of one module.
func (m *module) publish(dir, tag string, at time.Time, out string) error {
	escaped, err := xmodule.EscapePath(m.path())
	if err != nil {
		return err
	}
	gomod, err := m.file.Format()
	if err != nil {
		return err
	}
	content, err := zipOf(dir, tag, m, tag)
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{tag, at})
	if err != nil {
		return err
	}
	folder := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"list": []byte(tag + "\n"), tag + ".info": info,
		tag + ".mod": gomod, tag + ".zip": content} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
