package offer

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A device that requests pieces as fast as it can gets the bytes of four models, and then almost
// nothing. Meanwhile another device gets its model.
func TestGreedyDevice(t *testing.T) {
	const pieces = 80
	name := filepath.Join(t.TempDir(), "model")
	model := bytes.Repeat([]byte("zofl"), pieces*wire.MaxPiece/4)
	if err := os.WriteFile(name, model, 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	f, err := Open(name, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	stop := serve(t, f, b, "share")
	greedy := connect(t, b, "greedy")
	inbox := nats.NewInbox()
	sub, err := greedy.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	const asked = 1000
	for range asked {
		err := greedy.PublishRequest(subjects.File("share", "greedy"), inbox, make([]byte, numberLen))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := greedy.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	r := Request{Conn: connect(t, b, "modest"), Run: "share", ID: "modest", SHA256: f.SHA256,
		Name: filepath.Join(t.TempDir(), "fetched"), Most: uint64(f.size)}
	if err := r.Get(t.Context()); err != nil { // behind all that the greedy one asked for
		t.Fatal(err)
	}
	if err := greedy.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	got, _, err := sub.Pending()
	const want = 4 * pieces
	if err != nil || got < want || got > want+asked/10 {
		t.Errorf("%d answers to %d requests, error %v, want about %d", got, asked, err, want)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if strings.Count(said.String(), "device=greedy") != 1 ||
		strings.Contains(said.String(), "modest") {
		t.Errorf("the log has %q, want the greedy device once", said.String())
	}
}

// serve offers the file. The broker knows of it when serve returns: else a device could ask before
// anybody listens.
func serve(t *testing.T, f *File, b *broker.Broker, run string) (stop func() error) {
	t.Helper()
	nc := connect(t, b, "coordinator")
	stop, err := f.Serve(nc, run)
	if err == nil {
		err = nc.FlushTimeout(time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

func connect(t *testing.T, b *broker.Broker, name string) *nats.Conn {
	t.Helper()
	nc, _, err := b.Connect(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
