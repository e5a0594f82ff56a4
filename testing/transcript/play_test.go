package transcript

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/memstore"
)

// A player is the world around a client: it answers the client as a transcript says, and
// compares what the client does with it.
type player struct {
	t *testing.T
	file
	i       int            // the present line
	store   memstore.Store // of the device, if it keeps anything
	device  *client.Client
	stop    context.CancelCauseFunc
	ended   chan error
	events  chan event // what the client did
	answers chan line  // to its request
	pending event      // the loss that returns before the client's next event
	handle  map[string]func(bus.Message)
}

// An event is what the client did. The app answers a loss with value.
type event struct {
	line
	value  string
	answer chan string
}

// play plays a transcript to a new client.
func play(t *testing.T, name string) {
	f, err := read(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, file: f, events: make(chan event, 1000), answers: make(chan line),
		handle: map[string]func(bus.Message){}}
	began := time.Now()
	for p.i = range p.lines {
		l := &p.lines[p.i]
		time.Sleep(time.Until(began.Add(l.at)))
		p.step(l)
		synctest.Wait()
	}
	if len(p.events) > 0 {
		t.Errorf("after the end: %s", (<-p.events).says())
	}
	p.quit()
}

// where names the present line in an error.
func (p *player) where() string { return fmt.Sprintf("line %d (%.60s)", p.i+1, &p.lines[p.i]) }

// step does what a line says.
func (p *player) step(l *line) {
	switch l.kind {
	case begin:
		p.store = memstore.Store{}
		p.begin()
	case wake:
		p.begin()
	case leave:
		p.quit()
	case hear:
		handle := p.handle[l.fields[0]]
		if handle == nil {
			p.t.Fatalf("%s: the client has not subscribed", p.where())
		}
		data, _ := hex.DecodeString(l.fields[1])
		handle(bus.Message{Subject: l.fields[0], Data: data})
	case answer, nobody:
		select {
		case p.answers <- *l:
		default:
			p.t.Fatalf("%s: the client does not wait for an answer", p.where())
		}
	case silence: // the client has waited long enough
	case state:
		n, digest := p.device.Digest()
		if got := fmt.Sprintf("state %d %x", n, digest); got != l.says() {
			p.t.Fatalf("%s: the client's is %s", p.where(), got)
		}
	default:
		p.expect(l)
	}
}

// expect compares what the client did with a line.
func (p *player) expect(l *line) {
	if p.pending.answer != nil {
		p.pending.answer <- p.pending.value
		p.pending = event{}
	}
	var got event
	select {
	case got = <-p.events:
	case <-time.After(2 * time.Millisecond): // times in a file are rounded
		p.t.Fatalf("%s: the client did nothing", p.where())
	}
	want := *l
	switch l.kind {
	case loss:
		want.fields = l.fields[:5]
		p.pending, p.pending.value = got, l.fields[5]
	case measure:
		want.fields = l.fields[:1]
	}
	if got.says() != want.says() {
		p.t.Fatalf("%s: the client did\n%s, want\n%s", p.where(), got.says(), want.says())
	}
	if l.kind == measure {
		p.answers <- *l
	}
}

// begin starts a client.
func (p *player) begin() {
	var err error
	cfg := client.Config{Bus: (*played)(p), Run: p.run, ID: p.id, Objective: (*app)(p),
		RunKey: p.secret, Workers: 1}
	if p.keeps {
		cfg.Store = p.store
	}
	p.device, err = client.New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	clear(p.handle)
	ctx, stop := context.WithCancelCause(p.t.Context())
	p.stop, p.ended = stop, make(chan error, 1)
	go func() {
		err := p.device.Run(ctx)
		p.ended <- err
		if err == nil {
			p.events <- event{line: line{kind: finish}}
		}
	}()
}

// quit stops the client.
func (p *player) quit() {
	if p.stop == nil {
		return
	}
	p.stop(errors.New("the app stops"))
	synctest.Wait()
	if p.i < len(p.lines)-1 {
		return // it may say goodbye
	}
	<-p.ended
}

// played is the client's connection.
type played player

func (p *played) MaxPayload() int64 { return int64(p.room) }

func (p *played) Publish(subject string, data []byte) error {
	p.events <- event{line: line{kind: say, fields: []string{subject, hex.EncodeToString(data)}}}
	return nil
}

func (p *played) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	if p.handle[subject] == nil {
		p.handle[subject] = handle
		p.events <- event{line: line{kind: listen, fields: []string{subject}}}
	}
	return subscription{}, nil
}

func (p *played) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	p.events <- event{line: line{kind: ask, fields: []string{subject, hex.EncodeToString(data)}}}
	select {
	case l := <-p.answers:
		if l.kind == nobody {
			return nil, bus.ErrNoResponders
		}
		return hex.DecodeString(l.fields[0])
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type subscription struct{}

func (subscription) Unsubscribe() error { return nil }
func (subscription) Dropped() int       { return 0 }

// app is the client's app.
type app player

func (a *app) Dim() int     { return a.dim }
func (a *app) Samples() int { return a.samples }

func (a *app) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	value := make(chan string, 1)
	a.events <- event{line: line{kind: loss, fields: lossFields(x, b)}, answer: value}
	select {
	case value := <-value:
		if value == fails {
			return 0, errLoss
		}
		return strconv.ParseFloat(value, 64)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (a *app) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	a.events <- event{line: line{kind: measure, fields: []string{point(x)}}}
	l := <-a.answers
	value, err := strconv.ParseFloat(l.fields[2], 64)
	samples, _ := strconv.Atoi(l.fields[1])
	return []float64{value}, samples, err
}
