package memstore_test

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/memstore"
)

var _ client.Store = memstore.Store{}

// TestStore: an item is whole or as it was, and gone when it was set aside.
func TestStore(t *testing.T) {
	s, torn := memstore.Store{}, errors.New("torn")
	save := func(text string, err error) error {
		return s.Save("item", func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		})
	}
	load := func() (text string, err error) {
		err = s.Load("item", func(r *io.SectionReader) error {
			b, err := io.ReadAll(r)
			text = string(b)
			return err
		})
		return text, err
	}
	if _, err := load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty store: %v", err)
	}
	if err := save("first", nil); err != nil {
		t.Fatal(err)
	}
	if err := save("second", torn); err != torn {
		t.Errorf("a torn item: %v", err)
	}
	if text, err := load(); err != nil || text != "first" {
		t.Errorf("%q, %v, want the first", text, err)
	}
	if err := s.SetAside("item"); err != nil {
		t.Fatal(err)
	}
	if _, err := load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("set aside: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
