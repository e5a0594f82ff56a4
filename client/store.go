package client

import (
	"fmt"
	"io"

	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/internal/disk"
)

// A Store keeps what a device needs after its process was killed, as named items of bytes.
// [OpenStore] keeps them in a directory. One client uses a Store, from one goroutine at a time.
// Clients that take turns need a [SharedStore].
//
// A Store need not detect damage: the client checks each item that it reads, and sets aside
// unusable ones.
type Store interface {
	// Save replaces an item with the bytes that write writes. Once it returns nil, the item survives a
	// power cut. After an error or a crash the item is either old or new, never a mix.
	Save(item string, write func(io.Writer) error) error

	// Load passes the content of an item to read. Its error matches [fs.ErrNotExist] if there is no
	// such item.
	Load(item string, read func(*io.SectionReader) error) error

	// SetAside moves an item out of the way, so that an operator can examine it. It replaces an older
	// item of that name that was set aside.
	SetAside(item string) error

	// Close releases the store; no other call may follow.
	Close() error
}

// A SharedStore is a [Store] that is closed between the Runs of a client. Another client of the
// same device, with the same Run and ID, may use it meanwhile. The app opens it before it calls Run
// or Load, and closes it afterwards.
type SharedStore interface {
	Store

	// Changed says whether another client may have saved anything since the last call. If so, the
	// client trusts the store and not its own memory. Run and Load call Changed when they begin.
	Changed() bool
}

// ErrStoreLocked: another process has the store open. Give each device its own store.
var ErrStoreLocked = errStoreLocked() // "store is in use by another process"

func errStoreLocked() error { return dirstore.ErrLocked } // documentation shows no internal name

// OpenStore opens the store in a directory, which no other store may use, and creates the directory
// if it does not exist. Each item is a file with the item's name. An item that was set aside has
// ".bad" added to its name. Saving needs room for the old and the new item.
//
// Names of items have 1 to 32 of the characters a-z 0-9 - _. Its errors match [ErrStoreLocked], or
// come from the file system.
func OpenStore(dir string) (Store, error) {
	s, err := dirstore.Open(disk.OS, dir)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return s, nil
}
