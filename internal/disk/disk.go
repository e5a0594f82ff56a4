// Package disk defines the file system that the file log of a coordinator and the
// store of a device use, so that their tests can cut the power (package disktest).
//
// They rely on three things. Bytes written before a Sync that returned nil survive a power cut. So
// do the names in a folder whose SyncDir returned nil. A sector of 512 bytes has either its old or
// its new content. They rely on no bytes that were not synced.
package disk

import (
	"errors"
	"io"
)

// Sector is the number of bytes that a power cut leaves entirely old or entirely
// new.
const Sector = 512

// An FS is a file system. Its errors match [fs.ErrExist], [fs.ErrNotExist] and
// [fs.ErrPermission] where these apply. Only their owner can access new folders and
// files.
type FS interface {
	// Mkdir makes a folder in an existing folder.
	Mkdir(path string) error
	// Open opens a file; flag has the meaning that it has for [os.OpenFile].
	Open(path string, flag int) (File, error)
	// Rename renames a file within its folder, and replaces a file that has the new
	// name.
	Rename(from, to string) error
	Remove(path string) error
	// ReadDir returns the sorted names in a folder.
	ReadDir(path string) ([]string, error)
	// SyncDir returns nil when the names in a folder survive a power cut.
	SyncDir(path string) error
	// Lock locks a file until the lock is closed or the process ends, and creates
	// the file if needed. The error matches [ErrLocked] if it is already locked.
	Lock(path string) (io.Closer, error)
}

// A File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	// Sync returns nil when the file's content survives a power cut. After an error,
	// the bytes written since the previous Sync may be on the disk in part or not at
	// all, and later Syncs may not store them either, although they can be read. To
	// store them, write them again.
	Sync() error
	Size() (int64, error)
	// Mark looks up the path by which the file was opened. The error matches [fs.ErrNotExist] if it
	// leads to no file now, and [ErrReplaced] if it leads to another one.
	Mark() (Mark, error)
	io.Closer
}

// A Mark is another one after a process has written to the file or has cut it. Two changes within
// a tick of the file system's clock, some milliseconds, may leave the same one.
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
