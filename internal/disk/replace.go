package disk

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unfinished ends the name of a file that is to take the place of another one.
const unfinished = ".zofl-new"

// writeSize is how many bytes of a new file are written at once.
const writeSize = 64 << 10

// Replace makes what write writes the contents of a file, or leaves that as it
// was. When it returns nil the new contents survive a power cut. After an
// error, or a crash, they are the old ones or the new ones, whole; the old ones
// unless the error came after all was written.
//
// The file system needs room for both.
func Replace(fsys FS, path string, write func(io.Writer) error) error {
	temp := path + unfinished
	if err := writeNew(fsys, temp, write); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// writeNew writes a file that is whole and on the disk, or is not there.
func writeNew(fsys FS, path string, write func(io.Writer) error) error {
	file, err := create(fsys, path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(io.NewOffsetWriter(file, 0), writeSize)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, fsys.Remove(path))
	}
	return nil
}

// create makes a new file: one that is there could be another name of the file
// that is to be replaced, as some file systems leave a rename at a crash.
func create(fsys FS, path string) (File, error) {
	const flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	file, err := fsys.Open(path, flag)
	if errors.Is(err, fs.ErrExist) {
		if err := fsys.Remove(path); err != nil {
			return nil, err
		}
		file, err = fsys.Open(path, flag)
	}
	return file, err
}

// RemoveUnfinished removes from a folder what crashes left of Replace.
func RemoveUnfinished(fsys FS, dir string) error {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, unfinished) {
			if err := fsys.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
