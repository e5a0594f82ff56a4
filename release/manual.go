package main

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// manual writes the pages for man and the completions for shells, if a package of Debian will have
// them. They are made from the commands, and so are those of the version.
func (b *build) manual(ctx context.Context) error {
	if !slices.ContainsFunc(b.targets, func(t target) bool { return t.deb != "" }) {
		return nil
	}
	if _, err := b.tool(ctx, "manual", b.in("share")); err != nil {
		return err
	}
	var err error
	if b.share, err = folder(b.in("share")); err != nil {
		return err
	}
	for i, e := range b.share {
		if !strings.HasPrefix(e.name, "man/") {
			continue
		}
		b.share[i] = entry{name: e.name + ".gz", file: e.file + ".gz"}
		if err := zipped(e.file); err != nil {
			return err
		}
	}
	return nil
}

// zipped compresses a file, as Debian wants pages, without its time.
func zipped(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return writeFile(name+".gz", func(w io.Writer) error {
		zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = zw.Write(content)
		return errors.Join(err, zw.Close())
	})
}
