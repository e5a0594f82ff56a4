// Package memstore has a client.Store that keeps items in memory, for simulated devices. Even a
// simulated device needs a store if it adds noise.
package memstore

import (
	"bytes"
	"io"
	"io/fs"
)

// A Store has items by name. The items are lost when the process ends.
type Store map[string][]byte

// Save replaces an item with the bytes that write writes.
func (s Store) Save(item string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	s[item] = b.Bytes()
	return nil
}

// Load calls read with an item. The error is fs.ErrNotExist if there is no such item.
func (s Store) Load(item string, read func(*io.SectionReader) error) error {
	content, found := s[item]
	if !found {
		return fs.ErrNotExist
	}
	return read(io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
}

// SetAside forgets an item.
func (s Store) SetAside(item string) error {
	delete(s, item)
	return nil
}

// Close does nothing.
func (s Store) Close() error { return nil }
