package offer

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/wire"
)

// A device whose broker accepts only short messages gets its whole model in short pieces, within
// its share.
func TestNarrowBroker(t *testing.T) {
	name := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(name, bytes.Repeat([]byte("zofl"), wire.MaxPiece/2), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{700, 4096, 61000} {
		f, err := Open(name, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		b, err := broker.Run(broker.Config{MaxPayload: most})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Shutdown)
		stop := serve(t, f, b, "narrow")
		t.Cleanup(func() { _ = stop() })
		for range 4 {
			fetched := filepath.Join(t.TempDir(), "fetched")
			r := Request{Conn: connect(t, b, "modest"), Run: "narrow", ID: "modest", SHA256: f.SHA256,
				Name: fetched, Most: uint64(f.size), Waiting: func(reason string) {
					t.Errorf("max_payload %d: %s", most, reason)
				}}
			if err := r.Get(t.Context()); err != nil {
				t.Errorf("max_payload %d: %v", most, err)
			}
		}
	}
}
