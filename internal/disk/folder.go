package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// MakeDir makes a folder and those above it that are missing. When it returns
// nil, their names survive a power cut.
func MakeDir(fsys FS, path string) error {
	parent := filepath.Dir(path)
	err := fsys.Mkdir(path)
	switch {
	case err == nil:
		err = syncName(fsys, parent)
	case errors.Is(err, fs.ErrNotExist) && parent != path:
		if err = MakeDir(fsys, parent); err == nil {
			err = fsys.Mkdir(path)
		}
	default:
		if _, bad := fsys.ReadDir(path); bad != nil {
			return errors.Join(err, bad)
		}
		return syncName(fsys, path)
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}

// syncName makes the name of a folder survive that was there: a process that was
// killed may have made it and no more. Where the folder above cannot be opened,
// it is not ours, and neither did we make what it holds.
func syncName(fsys FS, path string) error {
	err := fsys.SyncDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
