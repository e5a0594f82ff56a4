package history

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/internal/subjects"
)

func jetStream(t testing.TB, most int) *nats.Conn {
	t.Helper()
	b, err := broker.Run(broker.Config{JetStream: t.TempDir(), MaxPayload: most})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	nc, _, err := b.Connect("coordinator")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func TestJet(t *testing.T) {
	for name, most := range map[string]int{"1 MiB": 0, "8 KiB": 8 << 10} {
		t.Run(name, func(t *testing.T) {
			nc := jetStream(t, most)
			testStore(t, func() Store { return Jet(nc, "kitchen", 1, 0) })
			js := must(jetstream.New(nc))(t)
			s := must(js.Stream(t.Context(), StreamOf("kitchen")))(t)
			h, _, err := Read(t.Context(), Jet(nc, "kitchen", 1, 0))
			if err != nil {
				t.Fatal(err)
			}
			points, marks := h.Snapshot(0)
			most := 2 * uint64(len(encodeAll(points, marks)))
			if info := must(s.Info(t.Context()))(t); info.State.Bytes > most {
				t.Errorf("the stream has %d bytes, more than %d", info.State.Bytes, most)
			}
		})
	}
}

// A person reads who was silent, not that a deadline was exceeded.
func TestJetSilent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, _, err := Read(ctx, Jet(jetStream(t, 0), "kitchen", 1, 0))
	if !errors.Is(err, runlog.ErrUnavailable) || !strings.Contains(err.Error(), "do not answer") ||
		strings.Contains(err.Error(), "deadline") {
		t.Errorf("got %v, want that the servers do not answer", err)
	}
}

// Reading a history that does not exist makes no stream.
func TestJetToRead(t *testing.T) {
	nc := jetStream(t, 0)
	if got := stored(t, Jet(nc, "kitchen", 1, 0)); len(got) != 0 {
		t.Errorf("read %v", got)
	}
	js := must(jetstream.New(nc))(t)
	if _, err := js.Stream(t.Context(), StreamOf("kitchen")); err == nil {
		t.Error("reading made a stream")
	}
}

// A coordinator that has lost the lead without knowing stores its points beside those of the new
// coordinator. Neither deletes the other's points.
func TestJetOfTwoCoordinators(t *testing.T) {
	nc := jetStream(t, 0)
	ctx := t.Context()
	old, young := Jet(nc, "kitchen", 1, 0), Jet(nc, "kitchen", 1, 0)
	first, second := History{within: patience}, History{within: patience}
	stopFirst := first.Lead(ctx, newRun(t), old, logger(t))
	record(t, &first, round(2), round(3))
	run := newRun(t)
	run.status.N = 9
	stopSecond := second.Lead(ctx, run, young, logger(t))
	record(t, &second, round(10))
	const last = mostPoints + 100
	for n := uint64(11); n <= last; n++ { // thinned, so all is stored again
		record(t, &second, round(n))
	}
	stopSecond()
	record(t, &first, round(4))
	stopFirst()
	got := stored(t, Jet(nc, "kitchen", 1, 0))
	for _, n := range []uint64{2, 3, 4, 10, last} {
		if !slices.Contains(got, n) {
			t.Errorf("the point of record %d is gone", n)
		}
	}
}

// If somebody writes other messages into the stream, the history loses only damaged lines.
func TestDamagedStream(t *testing.T) {
	nc := jetStream(t, 0)
	lead(t, &History{}, Jet(nc, "kitchen", 1, 0), 0, 2, 3)
	js := must(jetstream.New(nc))(t)
	for _, text := range []string{"", "noise", "{\"point\":{\"n\":4}", "\x00\n{}\n",
		"{\"point\":{\"n\":5}}\n"} {
		must(js.Publish(t.Context(), subjects.History("kitchen"), []byte(text)))(t)
	}
	lead(t, &History{}, Jet(nc, "kitchen", 1, 0), 6, 7)
	if got := stored(t, Jet(nc, "kitchen", 1, 0)); !slices.Equal(got, []uint64{2, 3, 5, 7}) {
		t.Errorf("points of %v", got)
	}
}

// A history goes from a directory to JetStream and back.
func TestCopyToJetAndBack(t *testing.T) {
	nc, from, to := jetStream(t, 0), t.TempDir(), t.TempDir()
	lead(t, &History{}, Dir(from), 0, 2, 3, 4)
	for range 2 {
		if err := Copy(t.Context(), Jet(nc, "kitchen", 1, 0), DirToRead(from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Copy(t.Context(), Dir(to), Jet(nc, "kitchen", 1, 0)); err != nil {
		t.Fatal(err)
	}
	a, b := stored(t, DirToRead(from)), stored(t, DirToRead(to))
	if len(a) != 3 || !slices.Equal(a, b) {
		t.Errorf("from points of %v to points of %v", a, b)
	}
}

// SetAside keeps the whole history of a lost run, under another name.
func TestJetSetAside(t *testing.T) {
	nc := jetStream(t, 0)
	if name, err := SetAside(t.Context(), nc, "kitchen"); name != "" || err != nil {
		t.Errorf("without a history: %q, %v", name, err)
	}
	js := must(jetstream.New(nc))(t)
	for _, want := range []string{"ZO_kitchen_HISTORY_BEFORE_1", "ZO_kitchen_HISTORY_BEFORE_2"} {
		lead(t, &History{}, Jet(nc, "kitchen", 1, 0), 0, 2, 3)
		before := must(js.Stream(t.Context(), StreamOf("kitchen")))(t).CachedInfo().State.Msgs
		name, err := SetAside(t.Context(), nc, "kitchen")
		if name != want || err != nil {
			t.Fatalf("set aside as %q, %v, want %s", name, err, want)
		}
		if got := must(js.Stream(t.Context(), name))(t).CachedInfo().State.Msgs; got != before {
			t.Errorf("%s has %d messages of %d", name, got, before)
		}
		if got := stored(t, Jet(nc, "kitchen", 1, 0)); len(got) > 0 {
			t.Errorf("the new run begins with %v", got)
		}
	}
}

// The keeper stores the lines from the broker's absence when the broker is back.
func TestJetWhileTheBrokerIsAway(t *testing.T) {
	cfg := broker.Config{Listen: freeport.Address(t), JetStream: t.TempDir()}
	b := must(broker.Run(cfg))(t)
	gone, back := make(chan struct{}, 9), make(chan struct{}, 9)
	nc := must(nats.Connect(b.URL(), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.Timeout(time.Minute),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { gone <- struct{}{} }),
		nats.ReconnectHandler(func(*nats.Conn) { back <- struct{}{} })))(t)
	t.Cleanup(nc.Close)
	var h History
	stop := h.Lead(t.Context(), newRun(t), Jet(nc, "kitchen", 1, 0), logger(t))
	record(t, &h, round(2))
	b.Shutdown()
	<-gone
	record(t, &h, round(3), round(4))
	b = must(broker.Run(cfg))(t)
	t.Cleanup(b.Shutdown)
	<-back
	record(t, &h, round(5))
	stop()
	run := newRun(t)
	run.status.N = 5
	h.within = patience
	// what a busy machine had no time for
	h.Lead(t.Context(), run, Jet(nc, "kitchen", 1, 0), logger(t))()
	if got := stored(t, Jet(nc, "kitchen", 1, 0)); !slices.Equal(got, []uint64{2, 3, 4, 5}) {
		t.Errorf("points of %v", got)
	}
}
