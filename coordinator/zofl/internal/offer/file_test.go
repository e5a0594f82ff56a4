package offer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/wire"
)

// An offeredFile is a file that changes while it is offered.
type offeredFile struct {
	t       *testing.T
	name    string
	content []byte
	log     await.Text
	request Request
	waits   chan string // why the device waits
}

func newOfferedFile(t *testing.T) *offeredFile {
	t.Helper()
	o := &offeredFile{t: t, name: filepath.Join(t.TempDir(), "model"),
		content: bytes.Repeat([]byte("zofl"), wire.MaxPiece), waits: make(chan string, 100)}
	o.write(o.content)
	f, err := Open(o.name, slog.New(slog.NewTextHandler(&o.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	stop := serve(t, f, b, "r")
	t.Cleanup(func() { _ = stop() })
	o.request = Request{Conn: connect(t, b, "d"), Run: "r", ID: "d", SHA256: f.SHA256,
		Name: filepath.Join(t.TempDir(), "fetched"), Most: 1 << 30,
		Waiting: func(reason string) { o.waits <- reason }}
	return o
}

// write overwrites the file, at a time that no earlier content has.
func (o *offeredFile) write(b []byte) {
	o.t.Helper()
	if err := os.WriteFile(o.name, b, 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// fetched fetches the file. It returns an error if the bytes are not those that were offered, or if
// nobody offers the file.
func (o *offeredFile) fetched() error {
	ctx, cancel := context.WithCancelCause(o.t.Context())
	defer cancel(nil)
	request := o.request
	request.Waiting = func(reason string) {
		if strings.Contains(reason, "nobody offers the model") {
			cancel(errors.New(reason))
		}
	}
	if err := request.Get(ctx); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return os.Remove(o.request.Name)
}

// refuses returns what the logger was told, once a device has learned that nobody offers the model.
func (o *offeredFile) refuses() string {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- o.request.Get(ctx) }()
	select {
	case reason := <-o.waits:
		if !strings.Contains(reason, "nobody offers the model") {
			o.t.Errorf("the device waits because %s", reason)
		}
		cancel()
		<-ended
	case err := <-ended:
		o.t.Errorf("a device got the model: %v", err)
	}
	return o.log.String()
}

// TestFileChanges: a file that changes while it is offered is sent to nobody until its bytes are
// back. A device waits meanwhile, and gets no piece of another file.
func TestFileChanges(t *testing.T) {
	for name, change := range map[string]func(o *offeredFile){
		"a byte": func(o *offeredFile) {
			b := bytes.Clone(o.content)
			b[len(b)-1]++
			o.write(b)
		},
		"cut":   func(o *offeredFile) { o.write(o.content[:5]) },
		"empty": func(o *offeredFile) { o.write(nil) },
		"grown": func(o *offeredFile) { o.write(append(bytes.Clone(o.content), 7)) },
		"then removed": func(o *offeredFile) {
			o.write([]byte("other"))
			if err := os.Remove(o.name); err != nil {
				o.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOfferedFile(t)
			change(o)
			said := o.refuses()
			if strings.Count(said, "ERROR") != 1 || !strings.Contains(said, "has changed") ||
				!strings.Contains(said, o.name) || !strings.Contains(said, o.request.SHA256) {
				t.Errorf("it says %q", said)
			}
			o.write(o.content)
			if err := o.fetched(); err != nil {
				t.Errorf("after it was put back: %v", err)
			}
			if said := o.log.String(); !strings.Contains(said, "offering the model again") {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// TestFileVanishes: devices still fetch a file that was removed or replaced, because serve has it
// open. serve warns, since it could not start again.
func TestFileVanishes(t *testing.T) {
	for name, change := range map[string]func(name string) error{
		"removed": os.Remove,
		"renamed": func(name string) error { return os.Rename(name, name+".old") },
		"replaced": func(name string) error {
			other := name + ".new"
			if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
				return err
			}
			return os.Rename(other, name)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOfferedFile(t)
			if err := change(o.name); err != nil {
				t.Fatal(err)
			}
			if err := o.fetched(); err != nil {
				t.Error(err)
			}
			said := o.log.String()
			if strings.Count(said, "WARN") != 1 || !strings.Contains(said, "removed or replaced") {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// TestTouchedFile: a file whose time changed, and no byte, is offered on.
func TestTouchedFile(t *testing.T) {
	o := newOfferedFile(t)
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(o.name, later, later); err != nil {
		t.Fatal(err)
	}
	if err := o.fetched(); err != nil {
		t.Error(err)
	}
}
