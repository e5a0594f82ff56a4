package outbox

import (
	"bytes"
	"io"
	"io/fs"
	"log/slog"
	"testing"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/wire/secagg"
)

// A memoryStore keeps items in memory.
type memoryStore map[string][]byte

func (m memoryStore) Save(item string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	m[item] = b.Bytes()
	return err
}

func (m memoryStore) Load(item string, read func(*io.SectionReader) error) error {
	b, ok := m[item]
	if !ok {
		return fs.ErrNotExist
	}
	return read(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))
}

func (m memoryStore) SetAside(item string) error { delete(m, item); return nil }

// TestUnmaskedIsKept: a device that helped to unmask a record knows that in its next process, also
// for earlier records. The device begins an attempt only once.
func TestUnmaskedIsKept(t *testing.T) {
	store := memoryStore{}
	life := func() *Outbox {
		o := New(Config{Files: files.New(files.Config{Store: store, Run: "r", ID: "d",
			Logger: slog.New(slog.DiscardHandler), Report: func(err error) error {
				t.Errorf("reported: %v", err)
				return nil
			}})})
		if err := o.Open(); err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := life()
	if o.Unmasked(1) || o.Worked() {
		t.Error("a new device unmasked record 1")
	}
	for _, n := range []uint64{7, 5} {
		if err := o.Unmask(n); err != nil {
			t.Fatal(err)
		}
	}
	if o = life(); !o.Unmasked(7) || !o.Unmasked(6) || o.Unmasked(8) || !o.Worked() {
		t.Error("the next life does not know what was unmasked")
	}
	nonce := [secagg.NonceLen]byte{}
	if !o.BeginAttempt(nonce) || o.BeginAttempt(nonce) {
		t.Error("an attempt is not taken up once")
	}
	if nonce[0]++; !o.BeginAttempt(nonce) {
		t.Error("another attempt is not taken up")
	}
}
