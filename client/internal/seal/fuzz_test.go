package seal

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzOpen: an Opener writes a changed sealed file at most up to the change, and returns an error.
func FuzzOpen(f *testing.F) {
	key := make([]byte, 32)
	plain := bytes.Repeat([]byte{1, 2, 3}, 50)
	var sealed bytes.Buffer
	w, err := NewWriter(&sealed, key)
	if err != nil {
		f.Fatal(err)
	}
	if _, err = w.Write(plain); err == nil {
		err = w.Close()
	}
	if err != nil {
		f.Fatal(err)
	}
	whole := sealed.Bytes()
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(whole[:headLen])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := io.ReadAll(NewReader(bytes.NewReader(b), key, uint64(len(b))))
		switch {
		case err == nil && !bytes.Equal(got, plain): // of any salt
			t.Errorf("%x is opened as %x", b, got)
		case err != nil && !errors.Is(err, ErrFile) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Errorf("error %v", err)
		case err != nil && len(got) > 0:
			t.Errorf("%d bytes of a damaged chunk are handed out", len(got))
		}
	})
}
