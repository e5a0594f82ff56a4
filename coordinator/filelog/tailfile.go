package filelog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// A tailFile is a file to which bytes are only appended. Each append survives a power cut. Only one
// goroutine, the owner, may use a tailFile. Other goroutines may read the file up to a size that
// the owner has told them.
//
// Invariants:
//  1. The bytes before size are on the disk, whatever the page cache holds.
//  2. Unless dirty, the file has no bytes after size.
//  3. The file's mark is mark, unless another process wrote to the file. A zero mark means that the
//     mark is unknown.
type tailFile struct {
	file  disk.File
	size  int64
	dirty bool
	reach int64 // if dirty, where the bytes that this process wrote end
	mark  disk.Mark
	idle  int // how often the mark had changed, but not the bytes before size
}

// openTail opens a file that begins with head. openTail creates the file if there is none, and
// writes the head again if a crash left only part of it. Until the caller calls settle, size also
// counts bytes that may be only in the page cache.
func openTail(fsys disk.FS, path, head string) (*tailFile, error) {
	file, err := fsys.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	f := &tailFile{file: file}
	if err := f.begin(head); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(path), err), file.Close())
	}
	return f, nil
}

// openTailReadOnly opens a file that begins with head. openTailReadOnly writes nothing. A file
// without the head is damaged, because openTail writes the head first.
func openTailReadOnly(fsys disk.FS, path, head string) (*tailFile, error) {
	file, err := fsys.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f := &tailFile{file: file}
	got := make([]byte, len(head))
	n, err := readAt(file, got, 0)
	if err == nil && string(got[:n]) != head {
		f.size, _ = file.Size()
		err = fmt.Errorf("%w: it has %d bytes and does not begin with %q%s", runlog.ErrCorrupt,
			f.size, head, behind(file, 0, f.size))
	}
	if err == nil {
		f.size, err = file.Size()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(path), err), file.Close())
	}
	return f, nil
}

func (f *tailFile) begin(head string) error {
	size, err := f.file.Size()
	if err != nil {
		return err
	}
	got := make([]byte, len(head)+1)
	n, err := readAt(f.file, got, 0)
	got = got[:n]
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(string(got), head):
		f.size = size
		return nil
	case strings.HasPrefix(head, string(got)), n <= len(head) && allZero(got):
		f.dirty = true
		return f.append([]byte(head))
	}
	return fmt.Errorf("%w: it does not begin with %q%s", runlog.ErrCorrupt, head,
		behind(f.file, 0, size))
}

// settle cuts the file to size bytes, and makes sure that all of them are on the disk (invariant
// 1). The bytes before from are on the disk already. Later bytes may be only in the page cache, if
// the process that wrote them was killed before its sync, or if that sync failed. So settle writes
// the later bytes again, because a sync stores only bytes that were written since the last sync.
func (f *tailFile) settle(from, size int64) error {
	b := make([]byte, size-from)
	n, err := readAt(f.file, b, from)
	if err == nil && n < len(b) {
		err = fmt.Errorf("%w: the file has become shorter", runlog.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	f.dirty = true
	if err := f.file.Truncate(size); err != nil {
		return err
	}
	if _, err := f.file.WriteAt(b, from); err != nil {
		return err
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	f.size, f.dirty = size, false
	f.mark, err = f.file.Mark()
	return err
}

// append writes b at the end, and returns once b is on the disk, in the file that the path names.
// After an error, the file may hold part of b. The next append first cuts that part off and syncs:
// otherwise a power cut could leave the new bytes followed by old bytes. Call append only after
// unchanged has returned nil.
func (f *tailFile) append(b []byte) error {
	err := f.put(b)
	var bad error
	f.mark, bad = f.file.Mark() // read the mark also after an error
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	if f.mark.Size != f.reach {
		if err = f.resized(f.mark.Size); err == nil {
			err = fmt.Errorf("the disk reported %d bytes written at byte %d, and the log has %d bytes",
				len(b), f.size, f.mark.Size)
		}
		f.mark = disk.Mark{}
		return err
	}
	f.size, f.dirty = f.reach, false
	return nil
}

func (f *tailFile) put(b []byte) error {
	if f.dirty {
		if err := f.file.Truncate(f.size); err != nil {
			return err
		}
		if err := f.file.Sync(); err != nil {
			return err
		}
	}
	f.dirty, f.reach = true, f.size+int64(len(b))
	if _, err := f.file.WriteAt(b, f.size); err != nil {
		return err
	}
	return f.file.Sync()
}

// readAt fills b with the file's bytes from off on. readAt returns fewer bytes only at the end of
// the file.
func readAt(file io.ReaderAt, b []byte, off int64) (int, error) {
	n, err := file.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
