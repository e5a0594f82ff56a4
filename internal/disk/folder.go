package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// MakeDir creates a folder and all missing folders above it. When MakeDir returns nil, the names of
// these folders survive a power cut.
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
			if errors.Is(err, fs.ErrExist) {
				return bad // the path exists, but is no readable folder
			}
			return err
		}
		return syncName(fsys, path)
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}

// syncName makes the name of an existing folder survive a power cut. The name may not be on the
// disk if a process was killed after it created the folder. If this process may not open the folder
// above, that folder belongs to another user, who also created this folder. Then syncName returns
// nil.
func syncName(fsys FS, path string) error {
	err := fsys.SyncDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
