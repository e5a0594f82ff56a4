package device

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/wire/signed"
)

// connected returns a connection to a broker of its own.
func connected(t *testing.T) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(await.Patience) {
		t.Fatal("the server is not ready")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestAbsence: a device says that no coordinator answers only if it has heard of none, or if none
// is there any more. Else it says what it heard, and what failed.
func TestAbsence(t *testing.T) {
	const none = "no coordinator answers"
	var (
		quiet    = fmt.Errorf("%w: no answer in 5s", client.ErrQuiet)
		unsigned = fmt.Errorf("%w: 3 answers (%w)", signed.ErrUnsigned, quiet)
		nobody   = fmt.Errorf("%w (%w)", client.ErrQuiet, bus.ErrNoResponders)
		heard    = client.Progress{State: client.Waiting}
		paused   = client.Progress{State: client.Paused, Reason: "lunch"}
		witness  = client.Progress{State: client.CatchingUp, Snapshot: 4}
	)
	nc := connected(t)
	for _, c := range []struct {
		before []client.Progress
		err    error
		want   string // "": nothing
	}{
		{nil, quiet, none},
		{nil, bus.ErrNoResponders, none},
		{nil, unsigned, "none has the signature of --coordinator"},
		{nil, errors.New("no loss"), ""},
		{[]client.Progress{witness}, quiet, none},
		{[]client.Progress{heard}, quiet, "the coordinator that this device heard does not answer now"},
		{[]client.Progress{paused}, quiet, "the coordinator that this device heard does not answer now"},
		{[]client.Progress{heard}, nobody, none},
		{[]client.Progress{heard}, unsigned, "none has the signature of --coordinator"},
	} {
		var out strings.Builder
		a := &absence{next: client.RecorderFunc(func(client.Progress) error { return nil }), nc: nc,
			run: "kitchen", log: slog.New(slog.NewTextHandler(&out, nil))}
		for _, p := range append(c.before, client.Progress{State: client.Joining, Err: c.err},
			client.Progress{State: client.Joining, Err: c.err}) {
			if err := a.Record(p); err != nil {
				t.Fatal(err)
			}
		}
		lines := strings.Count(out.String(), "level=WARN")
		if c.want == "" && lines > 0 || c.want != "" && (lines != 1 ||
			!strings.Contains(out.String(), c.want)) ||
			c.want != none && strings.Contains(out.String(), none) {
			t.Errorf("%v after %+v: said %q, want %q once", c.err, c.before, out.String(), c.want)
		}
		if err := a.Record(heard); err != nil {
			t.Fatal(err)
		}
		if again := strings.Contains(out.String(), "a coordinator answers"); again != (lines > 0) {
			t.Errorf("%v after %+v: said %q", c.err, c.before, out.String())
		}
	}
}
