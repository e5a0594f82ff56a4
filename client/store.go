package client

import (
	"fmt"
	"io"

	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/internal/disk"
)

// A Store keeps what a device needs after it was killed, as items of bytes by
// name. [OpenStore] keeps them in a directory. One client uses it, from one
// goroutine at a time; clients that take turns need a [SharedStore].
//
// What it returns is what was saved, or nothing: whoever reads an item checks
// it, and sets it aside if it cannot be used.
type Store interface {
	// Save replaces an item by what write writes. When it returns nil, the item
	// survives a power cut; after an error or a crash it is what it was, or what
	// it was to be, whole.
	Save(item string, write func(io.Writer) error) error

	// Load calls read with an item. The error matches [fs.ErrNotExist] if
	// there is none.
	Load(item string, read func(*io.SectionReader) error) error

	// SetAside moves an item out of the way, where somebody can look into it;
	// what was set aside before under that name is lost.
	SetAside(item string) error

	// Close releases the store; no other call may follow.
	Close() error
}

// A SharedStore is a [Store] that is closed between the Runs of a client, so that
// another client of the same device, with the same Run and ID, may use it meanwhile.
// Whoever calls Run or Load opens it before and closes it after.
type SharedStore interface {
	Store

	// Changed says whether another may have saved anything since it was asked last;
	// then what the store has counts, and not what this client remembers. Run and Load
	// ask when they begin.
	Changed() bool
}

// ErrStoreLocked: another process has the store open. Two devices need two stores.
var ErrStoreLocked = dirstore.ErrLocked

// OpenStore opens the store in a folder of its own, and makes the folder if there is
// none. Each item is a file of its name; one that was set aside has ".bad" added.
// Saving needs room for the old and the new item.
//
// Names of items have 1 to 32 of a-z 0-9 - _. Errors match [ErrStoreLocked], or
// are those of the file system.
func OpenStore(dir string) (Store, error) {
	s, err := dirstore.Open(disk.OS, dir)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return s, nil
}
