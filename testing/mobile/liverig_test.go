package mobile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/testing/bowl"
)

// soon is how long Stop may take to end Run: less than the 20 s of a connection attempt,
// and long enough for a busy machine.
const soon = 15 * time.Second

// An ear is a listener that records its calls.
type ear struct {
	does func() // called each time; nil: nothing

	mu     sync.Mutex // guards what follows
	states []int
	faults []string // "code: message"
	heard  chan struct{}
}

func newEar() *ear { return &ear{heard: make(chan struct{}, 1)} }

func (e *ear) note(change func()) {
	e.mu.Lock()
	change()
	e.mu.Unlock()
	select {
	case e.heard <- struct{}{}:
	default:
	}
	if e.does != nil {
		e.does()
	}
}

func (e *ear) OnState(state int, _ string) error {
	e.note(func() { e.states = append(e.states, state) })
	return nil
}

func (e *ear) OnProgress(_, _, _, _ int64, _ float64) error {
	e.note(func() {})
	return nil
}

func (e *ear) OnFault(code, message string) error {
	e.note(func() { e.faults = append(e.faults, code+": "+message) })
	return nil
}

// said returns the faults with a code; "" is any code.
func (e *ear) said(code string) (found []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.faults {
		if code == "" || mobile.ErrorCode(f) == code {
			found = append(found, f)
		}
	}
	return found
}

// all returns all faults.
func (e *ear) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.faults...)
}

// A phone is a client as in an app, together with its reports.
type phone struct {
	*mobile.Client
	t      *testing.T
	id     string
	ear    *ear
	result chan error
}

// settings returns the settings with which an app reaches the site.
func (s *site) settings(run, id string, dim int) *mobile.Config {
	s.t.Helper()
	cfg := mobile.NewConfig()
	cfg.Run, cfg.Device, cfg.Dim, cfg.Plaintext = run, id, dim, s.authority == nil
	cfg.SetObjective(flatBowl(1))
	errs := []error{cfg.AddServer(s.url)}
	if s.authority != nil {
		errs = append(errs, cfg.SetCA(s.authority.pem()))
	}
	if s.app.seed != "" {
		errs = append(errs, cfg.SetCredentials(s.app.seed))
	}
	for _, err := range errs {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return cfg
}

// newPhone makes a client that does not run yet.
func newPhone(t *testing.T, cfg *mobile.Config) *phone {
	t.Helper()
	p := &phone{t: t, id: cfg.Device, ear: newEar(), result: make(chan error, 1)}
	cfg.SetListener(p.ear)
	var err error
	if p.Client, err = mobile.NewClient(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// phone makes a client and runs it.
func (s *site) phone(run, id string, dim int, edits ...func(*mobile.Config)) *phone {
	s.t.Helper()
	cfg := s.settings(run, id, dim)
	for _, edit := range edits {
		edit(cfg)
	}
	p := newPhone(s.t, cfg)
	p.start()
	return p
}

// start calls Run on a goroutine with a label, by which the test recognizes the goroutines that Run
// starts.
func (p *phone) start() {
	label := pprof.Labels("phone", p.name())
	go pprof.Do(p.t.Context(), label, func(context.Context) { p.result <- p.Run() })
}

func (p *phone) name() string { return fmt.Sprintf("%s-%s-%p", p.t.Name(), p.id, p) }

// returned waits for Run and checks its result.
func (p *phone) returned(code string) {
	p.t.Helper()
	select {
	case err := <-p.result:
		if err == nil && code != "" || err != nil && mobile.ErrorCode(err.Error()) != code {
			p.t.Errorf("%s: Run returned %v, want code %q", p.id, err, code)
		}
	case <-time.After(patience):
		p.t.Fatalf("%s: Run has not returned, in state %s, after %q",
			p.id, mobile.StateName(p.State()), p.ear.all())
	}
}

// stopped stops the client, which must not take long.
func (p *phone) stopped() {
	p.t.Helper()
	began := time.Now()
	p.Stop()
	p.returned("")
	if d := time.Since(began); d > soon {
		p.t.Errorf("%s: Run returned %v after Stop", p.id, d)
	}
}

// until waits until the client's reports meet a condition.
func (p *phone) until(what string, holds func() bool) {
	p.t.Helper()
	late := time.After(patience)
	for !holds() {
		select {
		case <-p.ear.heard:
		case err := <-p.result:
			if p.result <- err; !holds() {
				p.t.Fatalf("%s: Run returned %v before %s, after %q", p.id, err, what, p.ear.all())
			}
		case <-late:
			p.t.Fatalf("%s: not %s within %v, but state %s and %q",
				p.id, what, patience, mobile.StateName(p.State()), p.ear.all())
		}
	}
}

// faulted waits until the listener has received a fault.
func (p *phone) faulted(code string) {
	p.t.Helper()
	p.until("told of "+code, func() bool { return len(p.ear.said(code)) > 0 })
}

// alone checks that no goroutine outlives Run.
func (p *phone) alone() {
	p.t.Helper()
	late := time.Now().Add(patience)
	for {
		var b bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			p.t.Fatal(err)
		}
		text := b.String()
		if !strings.Contains(text, p.name()) {
			return
		}
		if time.Now().After(late) {
			p.t.Fatalf("%s: goroutines outlive Run:\n%s", p.id, text)
		}
	}
}

// replay returns a replica with the state of the log.
func (l *lead) replay() *replica.Replica { return l.replayTo(math.MaxUint64) }

// replayTo returns a replica with the state of the log's first records.
func (l *lead) replayTo(last uint64) *replica.Replica {
	l.t.Helper()
	w := replica.New(replica.Config{Run: l.run})
	err := l.log.Read(l.t.Context(), 1, func(n uint64, record []byte) bool {
		if n > last {
			return false
		}
		err := w.Apply(record)
		if err != nil {
			l.t.Errorf("log, record %d: %v", n, err)
		}
		return err == nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

// agrees checks that a client has the model and the digest of the log, byte by byte.
func (l *lead) agrees(c *mobile.Client, who string) {
	l.t.Helper()
	l.holds(l.replay(), c, who)
}

// holds checks that a client has the state of a replica.
func (l *lead) holds(w *replica.Replica, c *mobile.Client, who string) {
	l.t.Helper()
	digest, want := make([]byte, 32), w.Digest()
	if n, err := c.Digest(digest); n != int64(w.N()) || err != nil || !bytes.Equal(digest, want[:]) {
		l.t.Errorf("%s: digest %x after record %d, %v, want %x after %d",
			who, digest, n, err, want, w.N())
	}
	params, model := make([]byte, 4*l.dim), []byte{}
	for _, v := range w.Params() {
		model = binary.LittleEndian.AppendUint32(model, math.Float32bits(v))
	}
	if n, err := c.Params(params); n != int64(w.N()) || err != nil || !bytes.Equal(params, model) {
		l.t.Errorf("%s: other parameters than the log after record %d, %v", who, n, err)
	}
}

// A flatBowl is the loss of package bowl in simple mode.
type flatBowl int

func (device flatBowl) Loss(params []byte) (float64, error) {
	x := make([]float32, len(params)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(params[4*i:]))
	}
	return bowl.Of(int(device))(nil, x, objective.Batch{})
}

// A blockBowl is the loss of package bowl in block mode; it reads blocks of odd size.
type blockBowl int

func (device blockBowl) Loss(r *mobile.Round) (float64, error) {
	params, block := []byte{}, make([]byte, 4*1000)
	for off := 0; off < r.Dim(); {
		n, err := r.ReadParams(off, block)
		if err != nil {
			return 0, err
		}
		params = append(params, block[:4*n]...)
		off += n
	}
	return flatBowl(device).Loss(params)
}

// A loss runs a test's code in the n-th call, from 1.
type loss struct {
	f     func(n int) (float64, error) // if it returns 0 and nil, flatBowl's loss counts
	mu    sync.Mutex
	calls int
}

func (l *loss) Loss(params []byte) (float64, error) {
	l.mu.Lock()
	l.calls++
	n := l.calls
	l.mu.Unlock()
	if f, err := l.f(n); f != 0 || err != nil {
		return f, err
	}
	return flatBowl(1).Loss(params)
}

// made returns the number of calls.
func (l *loss) made() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// slow is a loss that takes a while, so that the run takes a while too.
func slow(d time.Duration) *loss {
	return &loss{f: func(int) (float64, error) {
		<-time.After(d)
		return 0, nil
	}}
}
