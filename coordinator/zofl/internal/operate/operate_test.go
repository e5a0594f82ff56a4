package operate

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// patience bounds how long a test waits for an event. A passing test never waits that long.
const patience = 2 * time.Minute

// A lab is a run of one device and a coordinator that tests send commands to.
type lab struct {
	t      *testing.T
	broker *broker.Broker
	nc     *nats.Conn // the operator's
	watch  *Watch     // of serve
	desk   *Desk      // likewise

	// records is called before the watch of serve records an event; nil: nothing is.
	records func(report.Event)
}

func newLab(t *testing.T) *lab {
	t.Helper()
	b, err := broker.Run(broker.Config{InProcess: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	l := &lab{t: t, broker: b}
	l.nc = l.connect("operator")
	return l
}

func (l *lab) connect(name string) *nats.Conn {
	l.t.Helper()
	nc, _, err := l.broker.Connect(name)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(nc.Close)
	return nc
}

// serve runs a coordinator and its device until the test ends.
func (l *lab) serve() {
	l.t.Helper()
	p, err := preset.Unbound("decomfl", "kitchen", 3)
	if err != nil {
		l.t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32)
	p.Members, p.Target, p.Quorum, p.Reannounce = 1, 1, 1, 50
	nc := l.connect("coordinator")
	watch := &Watch{}
	l.watch = watch
	c, err := coordinator.New(l.t.Context(), coordinator.Config{Conn: nc, Plan: p,
		Log: &runlog.Memory{}, Linger: -1, Recorder: report.RecorderFunc(func(e report.Event) error {
			if l.records != nil {
				l.records(e)
			}
			return watch.Record(e)
		})})
	if err != nil {
		l.t.Fatal(err)
	}
	l.desk = NewDesk(c, watch)
	stop, err := Serve(nc, l.desk)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := nc.Flush(); err != nil { // the broker knows of the service
		l.t.Fatal(err)
	}
	d, err := client.New(client.Config{Conn: l.connect("d"), Run: "kitchen", ID: "d",
		Objective: objective.Func(3, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			return float64(x[0]), nil
		})})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{}, 2)
	go func() { c.Run(ctx); ended <- struct{}{} }()
	go func() { d.Run(ctx); ended <- struct{}{} }()
	l.t.Cleanup(func() {
		cancel()
		<-ended
		<-ended
		if err := stop(); err != nil {
			l.t.Error(err)
		}
	})
}

func (l *lab) ask(verb string, r Request) (*Status, error) {
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	return Ask(ctx, l.nc, "kitchen", verb, r)
}

func (l *lab) must(verb string, r Request) *Status {
	l.t.Helper()
	s, err := l.ask(verb, r)
	if err != nil {
		l.t.Fatalf("%s: %v", verb, err)
	}
	return s
}

// reach asks until the log has record n.
func (l *lab) reach(n uint64) *Status {
	l.t.Helper()
	for {
		if s := l.must(VerbStatus, Request{}); s.N >= n {
			return s
		}
	}
}

func TestOperate(t *testing.T) {
	l := newLab(t)
	if _, err := l.ask(VerbStatus, Request{}); !errors.Is(err, ErrNobody) ||
		!strings.Contains(err.Error(), "kitchen") {
		t.Errorf("without a coordinator: %v, want %v", err, ErrNobody)
	}
	l.serve()
	s := l.reach(8)
	if s.Run != "kitchen" || s.Members != 1 || s.Epoch != 1 {
		t.Errorf("status %+v", s)
	}
	for s.State != "open" { // between two rounds it waits
		s = l.must(VerbStatus, Request{})
	}
	if _, err := l.ask(VerbResume, Request{}); !errors.Is(err, ErrRefused) {
		t.Errorf("resume of a run that is not paused: %v, want %v", err, ErrRefused)
	}
	paused := l.must(VerbPause, Request{Reason: "lunch"})
	if paused.State != "paused" || paused.Reason != "lunch" {
		t.Errorf("after pause: %+v", paused)
	}
	for _, to := range []uint64{0, paused.N + 100} {
		if _, err := l.ask(VerbRollback, Request{To: to}); !errors.Is(err, ErrRefused) {
			t.Errorf("rollback to %d: %v, want %v", to, err, ErrRefused)
		}
	}
	if s := l.must(VerbResume, Request{}); s.State == "paused" {
		t.Errorf("after resume: %+v", s)
	}
	before := l.reach(paused.N + 3)
	after := l.must(VerbRollback, Request{To: 4})
	if after.N <= before.N {
		t.Errorf("rollback: the log went from record %d to %d", before.N, after.N)
	}
	l.reach(after.N + 3)
	if _, err := l.ask(VerbChange, Request{Fields: []string{"dim=7"}}); !errors.Is(err,
		ErrRefused) || !strings.Contains(err.Error(), "dim") {
		t.Errorf("change of dim: %v, want %v", err, ErrRefused)
	}
	for _, fields := range [][]string{nil, {"step"}, {"nothing=1"}, {"step=fast"}} {
		if _, err := l.ask(VerbChange, Request{Fields: fields}); !errors.Is(err, ErrRefused) {
			t.Errorf("change of %q: %v, want %v", fields, err, ErrRefused)
		}
	}
	now := l.must(VerbStatus, Request{})
	if s := l.must(VerbChange, Request{Fields: []string{"step=0.5"}}); s.N <= now.N {
		t.Errorf("change: the log stayed at record %d", s.N)
	}
	ended := l.must(VerbStop, Request{Reason: "enough"})
	if ended.State != "ended" || ended.End != "requested" || ended.Reason != "enough" {
		t.Errorf("after stop: %+v", ended)
	}
	for _, verb := range []string{VerbPause, VerbResume, VerbRollback, VerbChange} {
		if _, err := l.ask(verb, Request{To: 2, Fields: []string{"step=1"}}); !errors.Is(err,
			ErrRefused) {
			t.Errorf("%s of a run that has ended: %v, want %v", verb, err, ErrRefused)
		}
	}
}

// If a coordinator takes commands and no answer comes, the error does not say that there is none.
func TestSilentCoordinator(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, l.nc, "kitchen", VerbStatus, Request{}); !errors.Is(err, ErrNobody) {
		t.Errorf("%v, want %v", err, ErrNobody)
	}
	if _, err := l.nc.SubscribeSync(subjects.Operator("kitchen", VerbStatus)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Ask(ctx, l.nc, "kitchen", VerbStatus, Request{})
	if !errors.Is(err, ErrSilent) || errors.Is(err, ErrNobody) ||
		strings.Contains(err.Error(), "no coordinator") {
		t.Errorf("%v, want %v", err, ErrSilent)
	}
}

// The coordinator answers a command only after the command's event is recorded, even if the status
// shows the effect before. So the next request for the history finds the event.
func TestAnswersOnceRecorded(t *testing.T) {
	l := newLab(t)
	var answered atomic.Bool
	early := make(chan bool, 1)
	l.records = func(e report.Event) {
		if e.Kind == report.RunPaused {
			for began := time.Now(); time.Since(began) < 100*time.Millisecond && !answered.Load(); {
				time.Sleep(time.Millisecond)
			}
			early <- answered.Load()
		}
	}
	l.serve()
	l.reach(8)
	c := l.desk.c
	paused := func(s report.State) bool { return s == report.Paused }
	done, err := l.desk.settled(func() {
		c.Pause("lunch")
		for !paused(c.Status().State) {
		}
	}, paused)
	answered.Store(true)
	if err != nil || !done || <-early {
		t.Errorf("done %t, %v: a pause is answered before its event is recorded", done, err)
	}
}

// The service refuses malformed requests, and goes on.
func TestOperateRefusesNoise(t *testing.T) {
	l := newLab(t)
	l.serve()
	l.reach(2)
	for _, body := range []string{"{", "[]", `{"to": -1}`, strings.Repeat(" ", MaxRequest+1)} {
		m, err := l.nc.Request(subjects.Operator("kitchen", VerbPause), []byte(body), patience)
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get(micro.ErrorHeader) == "" {
			t.Errorf("%.20q is taken as a request", body)
		}
	}
	if s := l.must(VerbStatus, Request{}); s.State == "paused" {
		t.Errorf("noise paused the run: %+v", s)
	}
}

// TestServeAfterAnAbsence: a coordinator that was deposed while its broker was away leaves no
// subscription that receives requests without an answer.
func TestServeAfterAnAbsence(t *testing.T) {
	cfg := broker.Config{Listen: freeport.Address(t)}
	b, err := broker.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	reconnected := make(chan struct{}, 1)
	gone := make(chan struct{}, 1)
	nc, err := nats.Connect(b.URL(), nats.Timeout(patience), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { gone <- struct{}{} }),
		nats.ReconnectHandler(func(*nats.Conn) { reconnected <- struct{}{} }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p, err := preset.Unbound("decomfl", "kitchen", 3)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32)
	lead := func() (stop func() error) {
		t.Helper()
		c, err := coordinator.New(t.Context(),
			coordinator.Config{Conn: nc, Plan: p, Log: &runlog.Memory{}})
		if err != nil {
			t.Fatal(err)
		}
		if stop, err = Serve(nc, NewDesk(c, &Watch{})); err != nil {
			t.Fatal(err)
		}
		return stop
	}
	stop := lead()
	b.Shutdown()
	<-gone
	_ = stop() // the connection is down
	if b, err = broker.Run(cfg); err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	<-reconnected
	stop = lead()
	defer stop()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, broker: b}
	l.nc = l.connect("operator")
	for range 20 {
		l.must(VerbStatus, Request{})
	}
}
