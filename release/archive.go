package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An entry is a file or directory of an archive. The content of a file is given, or is in another
// file. The name of a directory ends in a slash.
type entry struct {
	name    string
	mode    fs.FileMode
	file    string
	content []byte
	owner   int
}

func (e *entry) read() ([]byte, error) {
	if e.file == "" {
		return e.content, nil
	}
	return os.ReadFile(e.file)
}

// archive packs a program with the files that a user needs: .zip for Windows, .tar.gz for others.
func (b *build) archive(p *program) error {
	name := "zofl_" + b.version + "_" + p.target.file()
	entries := []entry{
		{name: path.Join(name, p.recipe.file(p.target)), mode: 0o755, file: p.file},
		{name: path.Join(name, "NOTICES"), mode: 0o644, content: p.notices},
	}
	for _, doc := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		entries = append(entries,
			entry{name: path.Join(name, doc), mode: 0o644, file: b.in("src", doc)})
	}
	if p.target.os == "windows" {
		return writeFile(b.dist("%s.zip", name), func(w io.Writer) error {
			return writeZip(w, entries, b.at)
		})
	}
	return writeFile(b.dist("%s.tar.gz", name), func(w io.Writer) error {
		zw := gzip.NewWriter(w)
		return errors.Join(writeTar(zw, entries, b.at), zw.Close())
	})
}

// archiveLibrary packs a library with its header and the devices that show its use.
func (b *build) archiveLibrary(p *program) error {
	name := p.name + "_" + b.version + "_" + p.target.file()
	entries := []entry{
		{name: path.Join(name, p.recipe.file(p.target)), mode: 0o755, file: p.file},
		{name: path.Join(name, "NOTICES"), mode: 0o644, content: p.notices},
		{name: path.Join(name, "LICENSE"), mode: 0o644, file: b.in("src", "LICENSE")},
	}
	for _, file := range []string{"include/libzofl.h", "README.md", "examples/device.c",
		"examples/device.py", "examples/Device.cs"} {
		entries = append(entries, entry{name: path.Join(name, path.Base(file)), mode: 0o644,
			file: b.in("src", "libzofl", filepath.FromSlash(file))})
	}
	return writeFile(b.dist("%s.tar.gz", name), func(w io.Writer) error {
		zw := gzip.NewWriter(w)
		return errors.Join(writeTar(zw, entries, b.at), zw.Close())
	})
}

// writeFile makes a file.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeTar writes the entries as a tar file. Entries without an owner belong to root.
func writeTar(w io.Writer, entries []entry, at time.Time) error {
	tw := tar.NewWriter(w)
	for _, e := range entries {
		content, err := e.read()
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode.Perm()),
			Size: int64(len(content)), ModTime: at, Format: tar.FormatUSTAR,
			Uid: e.owner, Gid: e.owner}
		if e.mode.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(header); err != nil {
			return err
		}
		if _, err := tw.Write(content); err != nil {
			return err
		}
	}
	return tw.Close()
}

func writeZip(w io.Writer, entries []entry, at time.Time) error {
	zw := zip.NewWriter(w)
	for _, e := range entries {
		content, err := e.read()
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		header.SetMode(e.mode)
		f, err := zw.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := f.Write(content); err != nil {
			return err
		}
	}
	return zw.Close()
}

// folder returns the files below a directory as entries, sorted by name.
func folder(dir string) (entries []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, file: file})
		return err
	})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, err
}
