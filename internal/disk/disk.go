// Package disk is the part of a file system that outlives a power cut: what
// the file log of a coordinator and the store of a device are written against,
// so that their tests can cut the power (package disktest).
//
// What it takes for granted: bytes that were there before the last Sync of a
// file that returned nil are kept, and so is what SyncDir returned nil for; a
// sector of 512 bytes holds what it held or what was written to it. Nothing is
// taken for granted of what was not synced.
package disk

import (
	"errors"
	"io"
)

// Sector is the number of bytes that a power cut leaves as a whole: as they
// were, or as they were to be.
const Sector = 512

// An FS is a file system. Errors match those of package io/fs where these say
// what is meant: [fs.ErrExist], [fs.ErrNotExist], [fs.ErrPermission]. Folders
// are made for their owner alone, and so are files.
type FS interface {
	// Mkdir makes one folder in a folder that exists.
	Mkdir(path string) error
	// Open opens a file; flag is as that of [os.OpenFile].
	Open(path string, flag int) (File, error)
	// Rename renames a file within its folder, in place of another one if there
	// is one.
	Rename(from, to string) error
	Remove(path string) error
	// ReadDir returns the sorted names in a folder.
	ReadDir(path string) ([]string, error)
	// SyncDir returns when the names in a folder survive a power cut.
	SyncDir(path string) error
	// Lock locks a file, and makes it if there is none, until the lock is closed
	// or the process ends. The error matches [ErrLocked] if it is locked already.
	Lock(path string) (io.Closer, error)
}

// A File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	// Sync returns when what the file holds survives a power cut. After an error
	// what was written since the Sync before may be on the disk, in part or
	// not at all, and later Syncs may leave it so, although it can be read:
	// whoever wants it there writes it again.
	Sync() error
	Size() (int64, error)
	io.Closer
}

// ErrLocked: the file is locked, by this process or another one.
var ErrLocked = errors.New("locked")

// OS is the file system of the operating system.
var OS FS = system{}
