package filelog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

// Recover creates, in a directory, a log that begins with the state of b. The function state writes
// the state file. Recover sets Size and Content of b itself. The directory must be new, or hold a
// log of the same run that lost all its records. Recover keeps the roster and the epoch of such a
// log.
//
// Errors match [ErrRecords] if there are records, [runlog.ErrCorrupt] if the roster there is
// damaged or another run's, [runlog.ErrLocked], or come from the file system or from state. After
// an error the directory holds no log, and the caller may call Recover again.
func Recover(dir string, b runlog.Base, state func(io.Writer) error) error {
	if err := recoverOn(disk.OS, dir, b, state); err != nil {
		return fmt.Errorf("filelog: %s: %w", dir, err)
	}
	return nil
}

func recoverOn(
	fsys disk.FS, dir string, b runlog.Base, state func(io.Writer) error,
) (err error) {
	if err := disk.MakeDir(fsys, dir); err != nil {
		return err
	}
	lock, err := fsys.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return locked(err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	roster, err := mayRecover(fsys, dir, wire.HashRecord(b.First))
	if err != nil {
		return err
	}
	put := func(name string, write func(io.Writer) error) error {
		return disk.Replace(fsys, filepath.Join(dir, name), write)
	}
	sum, counted := sha256.New(), &counter{}
	err = put("base", func(w io.Writer) error {
		return state(io.MultiWriter(w, sum, counted))
	})
	if err != nil {
		return err
	}
	b.Size, b.Content = counted.n, [32]byte(sum.Sum(nil))
	if _, err := b.Position(); err != nil {
		return err
	}
	text := func(text []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(text); return err }
	}
	if err := put("start", text(startText(&b))); err != nil {
		return err
	}
	if roster.absent {
		if err := roster.write(wire.HashRecord(b.First), nil, nil); err != nil {
			return err
		}
	}
	return put("log", text([]byte(logHead))) // last: this file makes it a log
}

// mayRecover returns an error if Recover must not create a log in a directory. Otherwise it renames
// the file "seen" of an earlier log, and returns the roster.
func mayRecover(fsys disk.FS, dir string, first wire.Hash) (*rosterFile, error) {
	log, err := readWhole(fsys, filepath.Join(dir, "log"))
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, err = readWhole(fsys, filepath.Join(dir, "start"))
	if len(log) > len(logHead) || there && err == nil {
		return nil, ErrRecords
	}
	roster, err := openRoster(fsys, filepath.Join(dir, "roster"), wire.Hash{})
	if err != nil {
		return nil, err
	}
	if roster.log != (wire.Hash{}) && roster.log != first {
		return nil, fmt.Errorf("roster: %w: it is another run's", runlog.ErrCorrupt)
	}
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	seen := filepath.Join(dir, "seen")
	if err := fsys.Rename(seen, seen+unused(names)); !errors.Is(err, fs.ErrNotExist) {
		return roster, err
	}
	return roster, nil
}

// A counter is an io.Writer that counts bytes.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
