//go:build js && wasm

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall/js"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/examples/browser/digits"
)

// items is the object store of the database.
const items = "items"

// A store keeps the state of the client in IndexedDB, so that a reloaded page continues the run.
// The store also keeps the drawings, beyond the end of a run.
type store struct {
	db  js.Value
	run string
}

var _ client.Store = (*store)(nil)

// openStore opens a database, and deletes all runs in it except one.
func openStore(name, run string) (s *store, err error) {
	defer caught(&err)
	open := js.Global().Get("indexedDB").Call("open", name, 1)
	upgrade := js.FuncOf(func(js.Value, []js.Value) any {
		open.Get("result").Call("createObjectStore", items)
		return nil
	})
	defer upgrade.Release()
	open.Set("onupgradeneeded", upgrade)
	db, err := settle(open, "success", "error", "blocked")
	if err != nil {
		return nil, err
	}
	s = &store{db, run}
	return s, s.forget()
}

// key returns the database key of an item of the run. A run's name has no slash.
func (s *store) key(item string) string { return "run/" + s.run + "/" + item }

// drawingKey returns the database key of drawing i.
func drawingKey(i int) string { return fmt.Sprintf("drawing/%06d", i) }

// begin begins a transaction.
func (s *store) begin(mode string) (transaction, table js.Value) {
	transaction = s.db.Call("transaction", []any{items}, mode,
		map[string]any{"durability": "strict"}) // on the disk once it is complete
	return transaction, transaction.Call("objectStore", items)
}

// change calls do in a transaction, and waits until the changes are on the disk.
func (s *store) change(do func(table js.Value)) (err error) {
	defer caught(&err)
	transaction, table := s.begin("readwrite")
	do(table)
	_, err = settle(transaction, "complete", "abort", "error")
	return err
}

// get returns an item, as bytes. The error matches [fs.ErrNotExist] if there is none.
func (s *store) get(key string) (b []byte, err error) {
	defer caught(&err)
	_, table := s.begin("readonly")
	v, err := settle(table.Call("get", key), "success", "error")
	if err == nil && v.IsUndefined() {
		err = fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return bytesOf(v), nil
}

// keys returns the names of all items, in order.
func (s *store) keys() (keys []string, err error) {
	defer caught(&err)
	_, table := s.begin("readonly")
	list, err := settle(table.Call("getAllKeys"), "success", "error")
	if err != nil {
		return nil, err
	}
	for i := range list.Length() {
		keys = append(keys, list.Index(i).String())
	}
	return keys, nil
}

// forget deletes the data of other runs.
func (s *store) forget() error {
	keys, err := s.keys()
	if err != nil {
		return err
	}
	return s.change(func(table js.Value) {
		for _, key := range keys {
			if strings.HasPrefix(key, "run/") && !strings.HasPrefix(key, s.key("")) {
				table.Call("delete", key)
			}
		}
	})
}

// Save implements [client.Store].
func (s *store) Save(item string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return s.change(func(table js.Value) { table.Call("put", arrayOf(b.Bytes()), s.key(item)) })
}

// Load implements [client.Store].
func (s *store) Load(item string, read func(*io.SectionReader) error) error {
	b, err := s.get(s.key(item))
	if err != nil {
		return err
	}
	return read(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))
}

// SetAside implements [client.Store].
func (s *store) SetAside(item string) error {
	b, err := s.get(s.key(item))
	if err != nil {
		return err
	}
	return s.change(func(table js.Value) {
		table.Call("put", arrayOf(b), s.key(item+".aside"))
		table.Call("delete", s.key(item))
	})
}

// Close implements [client.Store].
func (s *store) Close() error {
	s.db.Call("close")
	return nil
}

// saveDrawing keeps drawing i: its label, then its pixels.
func (s *store) saveDrawing(i int, image []uint8, label int) error {
	b := append([]byte{byte(label)}, image...)
	return s.change(func(table js.Value) { table.Call("put", arrayOf(b), drawingKey(i)) })
}

// eachDrawing gives the drawings to a function, in order.
func (s *store) eachDrawing(take func(image []uint8, label int) error) error {
	keys, err := s.keys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !strings.HasPrefix(key, "drawing/") {
			continue
		}
		b, err := s.get(key)
		if err != nil {
			return err
		}
		if len(b) != 1+digits.Side*digits.Side {
			return fmt.Errorf("%s has %d bytes: clear the data of this page", key, len(b))
		}
		if err := take(b[1:], int(b[0])); err != nil {
			return err
		}
	}
	return nil
}
