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

// unfinished is the suffix of a file that will replace another one.
const unfinished = ".zofl-new"

// writeSize is the number of bytes of a new file that are written at once.
const writeSize = 64 << 10

// Replace replaces the content of a file with the bytes that write writes. When it returns nil, the
// new content survives a power cut. After an error or a crash the content is either the old or the
// new one, and complete; it is the old one unless the error came after everything was written.
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

// writeNew writes a file completely to the disk, or removes it.
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

// create makes a new file. It does not reuse an existing one, which could be another name
// of the file to be replaced: some file systems leave a rename so after a crash.
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

// RemoveUnfinished removes the files that an interrupted Replace left in a folder.
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
