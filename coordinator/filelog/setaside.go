package filelog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/zofl/zofl/internal/disk"
)

// ErrRecords: the log has records, so another run cannot begin in its directory.
var ErrRecords = errors.New("the log has records: give another directory to begin another run")

// SetAside makes room for another run in the directory of a log that has lost all its records.
// SetAside renames the other files there, such as the roster, to names that end in .before-N, and
// returns these names. SetAside deletes nothing. The epoch stays, so that the new coordinator's
// epochs are larger than those of the old run.
//
// An error matches [runlog.ErrLocked], or [ErrRecords] if there are records, even damaged ones, or
// comes from the file system.
func SetAside(dir string) (names []string, err error) {
	if names, err = setAside(disk.OS, dir); err != nil {
		return names, fmt.Errorf("filelog: %s: %w", dir, err)
	}
	return names, nil
}

func setAside(fsys disk.FS, dir string) (names []string, err error) {
	there, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lock, err := fsys.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, locked(err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := readWhole(fsys, filepath.Join(dir, "log"))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case len(log) > len(logHead), slices.Contains(there, "start"):
		return nil, ErrRecords
	}
	// The zofl program keeps the losses of a run in history.jsonl, see its package history.
	left := slices.DeleteFunc([]string{"roster", "seen", "decisions", "handover", "objects",
		"log", "history.jsonl"},
		func(name string) bool { return !slices.Contains(there, name) })
	if _, err := readEpoch(fsys, filepath.Join(dir, "epoch")); err != nil {
		left = append(left, "epoch")
	}
	if len(left) == 0 && !slices.Contains(there, "epoch") {
		return nil, nil
	}
	suffix := unused(there)
	for _, name := range left {
		if err := fsys.Rename(filepath.Join(dir, name), filepath.Join(dir, name+suffix)); err != nil {
			return names, err
		}
		names = append(names, name+suffix)
	}
	// Without the file "seen", an epoch alone means that the directory held an earlier run.
	seen := &seenFile{fs: fsys, path: filepath.Join(dir, "seen"), absent: true}
	return names, errors.Join(seen.begin(0), seen.close(), fsys.SyncDir(dir))
}

// unused returns the first suffix .before-N that none of the names has.
func unused(names []string) string {
	for i := 1; ; i++ {
		suffix := fmt.Sprintf(".before-%d", i)
		if !slices.ContainsFunc(names, func(name string) bool {
			return filepath.Ext(name) == suffix
		}) {
			return suffix
		}
	}
}
