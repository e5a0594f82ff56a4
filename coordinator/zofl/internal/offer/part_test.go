package offer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// The tests use an offered file of many pieces, and a device that fetches it.
type offered struct {
	content []byte
	request Request
	asked   atomic.Int64 // pieces
	left    atomic.Int64
	stop    func() // called in place of the answer when left more were asked
}

const manyPieces = 100

func newOffered(t *testing.T) *offered {
	t.Helper()
	o := &offered{content: make([]byte, manyPieces*wire.MaxPiece-7)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range o.content {
		o.content[i] = byte(r.Uint32())
	}
	name := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(name, o.content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	if _, err := connect(t, b, "coordinator").Subscribe(subjects.AllFiles("r"), func(m *nats.Msg) {
		o.asked.Add(1)
		if o.left.Add(-1) == 0 {
			o.stop()
			return
		}
		f.answer(m, 1<<20)
	}); err != nil {
		t.Fatal(err)
	}
	o.request = Request{Conn: connect(t, b, "a"), Run: "r", ID: "a", SHA256: f.SHA256,
		Name: filepath.Join(t.TempDir(), "fetched"), Most: uint64(f.size)}
	return o
}

// interrupted fetches until the device has requested the given number of pieces.
func (o *offered) interrupted(t *testing.T, pieces int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.stop = cancel
	o.left.Store(pieces)
	if err := o.request.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted after %d pieces: %v", pieces, err)
	}
}

// alone checks that the directory has the file and no other file.
func (o *offered) alone(t *testing.T) {
	t.Helper()
	got, err := os.ReadFile(o.request.Name)
	if err != nil || !bytes.Equal(got, o.content) {
		t.Errorf("%d bytes, %v, want the %d that are offered", len(got), err, len(o.content))
	}
	names, err := os.ReadDir(filepath.Dir(o.request.Name))
	if err != nil || len(names) != 1 {
		t.Errorf("in the folder are %v, want the file alone (%v)", names, err)
	}
}

// A device that is stopped repeatedly goes on at the first missing piece. In all it requests the
// model once, far less than its share, and leaves only the file.
func TestFetchGoesOn(t *testing.T) {
	o := newOffered(t)
	const stops = 8
	for range stops {
		o.interrupted(t, 11)
	}
	if err := o.request.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked := o.asked.Load(); asked > manyPieces+2*stops {
		t.Errorf("asked for %d pieces of %d", asked, manyPieces)
	}
	o.alone(t)
}

// The part of an earlier process may be damaged, of another file, longer than the file, or
// complete.
func TestFetchFromABadPart(t *testing.T) {
	o := newOffered(t)
	flipped := bytes.Clone(o.content[:10*wire.MaxPiece])
	flipped[77] ^= 1
	for name, part := range map[string][]byte{
		"damaged": flipped, "zeros": make([]byte, 5*wire.MaxPiece+3),
		"of another file": bytes.Repeat([]byte("zofl"), wire.MaxPiece),
		"longer":          append(bytes.Clone(o.content), make([]byte, 3*wire.MaxPiece)...),
		"complete":        o.content,
		"torn":            o.content[:4*wire.MaxPiece+9],
	} {
		if err := os.WriteFile(o.request.part(), part, 0o600); err != nil {
			t.Fatal(err)
		}
		// a device of its own, with a share of its own
		o.request.ID = string(rune('b' + len(name)))
		if err := o.request.Get(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o.alone(t)
		if err := os.Remove(o.request.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// Devices on one machine with the same path for the file fetch the file once. New parts of other
// files stay.
func TestFetchTogether(t *testing.T) {
	o := newOffered(t)
	dir := filepath.Dir(o.request.Name)
	old := filepath.Join(dir, hidden+"0f"+partSuffix)
	young := filepath.Join(dir, hidden+"1f"+partSuffix)
	for _, name := range []string{old, young} {
		if err := os.WriteFile(name, []byte("part"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * forgotten)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		r := o.request
		all.Go(func() {
			if err := r.Get(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked := o.asked.Load(); asked > manyPieces {
		t.Errorf("asked for %d pieces of %d", asked, manyPieces)
	}
	if err := os.Remove(young); err != nil {
		t.Error(err)
	}
	o.alone(t)
}
