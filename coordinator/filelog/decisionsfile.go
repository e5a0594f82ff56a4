package filelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

var _ runlog.Decider = (*Log)(nil)

// Decisions implements [runlog.Decider].
func (f *Log) Decisions(context.Context) (runlog.Decisions, error) { return f.decisions, nil }

// Decide implements [runlog.Decider]. Decide replaces the whole file.
func (f *Log) Decide(_ context.Context, d runlog.Decisions) error {
	if f.fixed {
		return errFixed
	}
	text, err := d.Text()
	if err == nil {
		err = f.unchanged()
	}
	if err == nil {
		err = disk.Replace(f.fs, f.path("decisions"), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("log: decisions: %w", err)
	}
	f.decisions = d
	return nil
}

// readDecisions reads the file of decisions. Before the first Decide there is no file.
func readDecisions(fsys disk.FS, path string) (d runlog.Decisions, err error) {
	text, err := readWhole(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		d, err = runlog.ReadDecisions(text)
	}
	return d, err
}
