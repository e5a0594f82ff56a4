package filelog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// errFixed: the log is open for reading only, and a method was to write.
var errFixed = errors.New("log: it is open for reading only")

// OpenReadOnly opens the log in a directory for reading. OpenReadOnly never changes the bytes,
// times or names of files. An unfinished append stays at the log's end, see [Log.Notes]. The caller
// may call only Last, Read, Members, Retired, Object, LastEpoch, Seen, Left, Notes and Close.
//
// Errors match [runlog.ErrNoLog] if there is no log; [runlog.ErrLocked] while a coordinator has the
// log open; [runlog.ErrCorrupt]; or come from the file system.
func OpenReadOnly(dir string) (*Log, error) {
	f := &Log{fs: disk.OS, dir: dir, fixed: true}
	if err := f.openReadOnly(); err != nil {
		return nil, errors.Join(fmt.Errorf("filelog: %s: %w", dir, err), f.Close())
	}
	return f, nil
}

func (f *Log) openReadOnly() (err error) {
	if f.lock, err = disk.ShareLock(f.path("lock")); err != nil {
		return locked(err)
	}
	f.log, err = openTailReadOnly(f.fs, f.path("log"), logHead)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(f.dir, err)
	}
	if err != nil {
		return err
	}
	return f.load()
}

// missing returns an error that matches ErrCorrupt if a directory without a file of records has
// other files of a log. Otherwise it returns the error of an absent log.
func missing(dir string, absent error) error {
	for _, name := range []string{"roster", "epoch", "seen"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%w: the file log is missing, and the file %s of a log is there: "+
				"restore it from a copy", runlog.ErrCorrupt, name)
		}
	}
	return fmt.Errorf("%w: %w", runlog.ErrNoLog, absent)
}
