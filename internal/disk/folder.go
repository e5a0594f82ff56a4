package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// MakeDir makes a folder and all missing folders above it. When it returns nil, their
// names survive a power cut.
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
				return bad // something is there, but no folder that can be read
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

// syncName makes the name of an existing folder survive a power cut: a process may have
// been killed after it made the folder. If the folder above cannot be opened, it belongs
// to another user, who also made this folder.
func syncName(fsys FS, path string) error {
	err := fsys.SyncDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
