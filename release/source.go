package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// A source is the code to build: the files that git knows or would add.
type source struct {
	dir      string
	files    []string // relative to dir
	version  string
	revision string    // of the commit, with "-modified" if files differ
	at       time.Time // of the commit: the time of every file of the release
	noWheels bool

	noLibraries bool
}

// inspect looks at a repository. If the commit has a tag such as v1.2.3, and no file differs from
// the commit, the version is that of the tag.
func inspect(ctx context.Context, dir string) (*source, error) {
	s := &source{dir: dir}
	var stamp, tags, changes, list string
	for _, ask := range []struct {
		answer *string
		args   []string
	}{
		{&s.revision, []string{"rev-parse", "HEAD"}},
		{&stamp, []string{"log", "-1", "--format=%cI"}},
		{&tags, []string{"tag", "--points-at", "HEAD", "--list", "v*"}},
		{&changes, []string{"status", "--porcelain"}},
		{&list, []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}},
	} {
		out, err := command(ctx, dir, nil, "git", ask.args...)
		if err != nil {
			return nil, err
		}
		*ask.answer = strings.TrimSpace(string(out))
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return nil, fmt.Errorf("time of the commit: %w", err)
	}
	s.at, s.files = at.UTC(), strings.Split(strings.TrimRight(list, "\x00"), "\x00")
	s.version, err = versionOf(s.at, s.revision, strings.Fields(tags), changes != "")
	if changes != "" {
		s.revision += "-modified"
	}
	return s, err
}

// versionOf returns the version of a commit with these tags.
func versionOf(at time.Time, revision string, tags []string, modified bool) (string, error) {
	if modified || len(tags) == 0 {
		return version.Development(at, revision, modified), nil
	}
	if len(tags) > 1 || tags[0] != "v"+version.Next {
		return "", fmt.Errorf("the commit has the tags %v, and the program says that it is %s: "+
			"set version.Next to the tag's", tags, version.Next)
	}
	return version.Next, nil
}

// copyTo copies the files to an empty directory. Files that were deleted but not committed are left
// out.
func (s *source) copyTo(dir string) error {
	for _, name := range s.files {
		from, to := filepath.Join(s.dir, name), filepath.Join(dir, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is a %v: releases are made of regular files", from, info.Mode().Type())
		}
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program in a directory, with more environment, and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string,
	args ...string) ([]byte, error) {
	return feed(ctx, dir, env, nil, name, args...)
}

// feed is command, for a program that reads its standard input.
func feed(ctx context.Context, dir string, env []string, in []byte, name string,
	args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), env...), bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}
