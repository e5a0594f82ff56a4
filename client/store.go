package client

import (
	"fmt"
	"io"

	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/internal/disk"
)

// A Store keeps what a device needs after a crash of its process, as named items of bytes.
// [OpenStore] keeps the items in a directory. Only one client may use a Store, from one goroutine
// at a time. Clients that take turns need a [SharedStore].
//
// A Store need not detect damage: the client checks each item that it reads, and sets aside
// unusable ones.
type Store interface {
	// Save replaces an item with the bytes that write writes. Once Save returns nil, the item survives
	// a power cut. After an error or a crash the item is either old or new, never a mix.
	Save(item string, write func(io.Writer) error) error

	// Load passes the content of an item to read. The error of Load matches [fs.ErrNotExist] if there
	// is no such item.
	Load(item string, read func(*io.SectionReader) error) error

	// SetAside moves an item, so that Load no longer finds the item and an operator can examine it. If
	// an older item of that name was set aside before, SetAside replaces it.
	SetAside(item string) error

	// Close releases the store; no other call may follow.
	Close() error
}

// A SharedStore is a [Store] that the app opens before it calls Run or Load, and closes afterwards.
// Between two Runs of a client, another client of the same device, with the same Run and ID, may
// use the store.
type SharedStore interface {
	Store

	// Changed says whether another client may have saved anything since the last call of Changed. If
	// Changed returns true, the client trusts the store and not its own memory. Run and Load call
	// Changed when they begin.
	Changed() bool
}

// ErrStoreLocked says that another process has the store open. Give each device its own store.
var ErrStoreLocked = errStoreLocked() // "store is in use by another process"

func errStoreLocked() error { return dirstore.ErrLocked } // hides the internal name

// OpenStore opens the store in a directory, and creates the directory if it does not exist. No
// other store may use the directory. Each item is a file with the item's name. An item that was set
// aside has ".bad" added to its name. Saving needs room for the old and the new item.
//
// Names of items have 1 to 32 of the characters a-z 0-9 - _. The errors of OpenStore match
// [ErrStoreLocked], or come from the file system.
func OpenStore(dir string) (Store, error) {
	s, err := dirstore.Open(disk.OS, dir)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return s, nil
}
