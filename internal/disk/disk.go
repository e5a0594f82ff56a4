// Package disk defines the interface through which the file log of a coordinator and the store of a
// device use the file system. So tests can replace the file system by a simulated disk whose power
// fails (package disktest).
//
// The file log and the store rely on three properties of a disk. Bytes written before a Sync that
// returned nil survive a power cut. Names in a folder whose SyncDir returned nil survive a power
// cut. After a power cut, a sector of 512 bytes has either its old or its new content. The file log
// and the store do not rely on bytes that were not synced.
package disk

import (
	"errors"
	"io"
)

// Sector is the number of bytes of a disk sector. After a power cut, a sector has entirely old or
// entirely new content.
const Sector = 512

// An FS is a file system. Errors of an FS match [fs.ErrExist], [fs.ErrNotExist] and
// [fs.ErrPermission] where these apply. Only the owner of a new folder or file can access it.
type FS interface {
	// Mkdir makes a folder in an existing folder.
	Mkdir(path string) error
	// Open opens a file; flag has the same meaning as in [os.OpenFile].
	Open(path string, flag int) (File, error)
	// Rename renames a file within its folder, and replaces a file that has the new
	// name.
	Rename(from, to string) error
	Remove(path string) error
	// ReadDir returns the sorted names in a folder.
	ReadDir(path string) ([]string, error)
	// SyncDir returns nil when the names in a folder survive a power cut.
	SyncDir(path string) error
	// Lock locks a file until the lock is closed or the process ends, and creates the file if needed.
	// The error matches [ErrLocked] if the file is already locked.
	Lock(path string) (io.Closer, error)
}

// A File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	// Sync returns nil when the file's content survives a power cut. After an error, the bytes written
	// since the previous Sync may be on the disk in part or not at all, and later Syncs may not store
	// them either, although they can be read. To store these bytes, write them again.
	Sync() error
	Size() (int64, error)
	// Mark looks up the path by which the file was opened. The error matches [fs.ErrNotExist] if the
	// path leads to no file now, and [ErrReplaced] if the path leads to another file.
	Mark() (Mark, error)
	io.Closer
}

// A Mark of a file changes when a process writes to the file or cuts it. After two changes within a
// tick of the file system's clock, some milliseconds, the Mark may be the same as after the first
// change.
type Mark struct {
	Size    int64
	Changed int64 // the time of the last change, in nanoseconds
}

// ErrLocked: the file is locked, by this process or another.
var ErrLocked = errors.New("locked")

// ErrReplaced: the path by which a file was opened leads to another file.
var ErrReplaced = errors.New("another file has its name")

// OS is the file system of the operating system.
var OS FS = system{}
