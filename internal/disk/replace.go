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

// unfinished is the suffix of the name of a new file until Replace renames it.
const unfinished = ".zofl-new"

// writeSize is how many bytes Replace writes to a new file at once.
const writeSize = 64 << 10

// Replace replaces the content of a file with the bytes that write writes. When it returns nil, the
// new content survives a power cut. After an error or a crash, the file has either the whole old
// content or the whole new content. After an error before the renaming, the file has the old
// content.
//
// The file system needs room for both contents.
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

// writeNew writes a new file to the disk and syncs it, or removes the file after an error.
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

// create makes a new file. If a file of that name exists, create removes it first. After a crash
// during a rename, some file systems keep both names for the same file, so to write to the existing
// file could damage the file that is to be replaced.
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
