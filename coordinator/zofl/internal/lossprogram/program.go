// Package lossprogram makes objectives whose loss another program computes, in any language.
// docs/exec.md defines the protocol.
package lossprogram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// Config says which program to ask.
type Config struct {
	// Command is the program and its arguments. If Command is empty, the program is the process that
	// started this process. That program reads requests from Out and writes answers to In.
	Command []string
	In      io.Reader
	Out     io.Writer
	Dim     int           // the model's number of parameters; 0: what the program says
	Startup time.Duration // how long it may take to answer hello; 0: a minute
	// Patience is how long after the end of a round the program may still answer. After that, zofl
	// kills the program. 0 means five seconds.
	Patience time.Duration
	// Lock is a file that only one program at a time can lock. A program keeps the lock even if the
	// process that started the program was killed. Start waits until no program has the lock. Empty
	// means no lock.
	Lock   string
	Logger *slog.Logger
}

// firstPause is the first pause before an ended program starts again. The pauses double, up to
// lastPause, until the program answers.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
)

// anyDimNumbers bounds the numbers of a request, unless it is for a single point, to a program that
// did not know the number of parameters when it said how many points it takes.
const anyDimNumbers = 1 << 22

// A Program computes the losses of one or more devices.
type Program struct {
	cfg     Config
	hello   hello
	dim     int           // of the model; 0: SetDim was not called yet
	points  int           // of a request, at most
	turn    chan struct{} // holds one token: whose turn it is to ask
	reports reports
	file    *sharedFile // nil until the first request; only the holder of turn may use it
	writes  uint64      // of x to files of factors; for the holder of turn
	lock    *os.File    // nil: none

	mu      sync.Mutex
	current *talk // nil while no program runs
	child   *child
	why     error  // why no program runs
	mapped  bool   // the current program knows the file
	scaled  bool   // the current program knows the scale
	scale   string // the request that tells it; "": there is none
	factors factors

	stop  context.CancelFunc
	ended chan struct{} // closed when no program will run any more
}

// Start starts a program and waits for its hello. Close ends the program.
func Start(ctx context.Context, cfg Config) (*Program, error) {
	if cfg.Startup == 0 {
		cfg.Startup = time.Minute
	}
	if cfg.Patience == 0 {
		cfg.Patience = 5 * time.Second
	}
	p := &Program{cfg: cfg, turn: make(chan struct{}, 1), ended: make(chan struct{}),
		reports: reports{logger: cfg.Logger, kept: deviceinfo.Values{}}}
	p.turn <- struct{}{}
	if cfg.Lock != "" {
		var err error
		if p.lock, err = lockOf(ctx, cfg.Lock, func() {
			cfg.Logger.Warn("waiting until the program of another zofl exec of this device has ended",
				"lock", cfg.Lock)
		}); err != nil {
			return nil, err
		}
	}
	if err := p.begin(ctx, true); err != nil {
		p.unlock()
		return nil, err
	}
	if p.hello.dim == 0 {
		p.hello.dim = cfg.Dim
	}
	if err := p.checkDim(); err != nil {
		p.leave(err)
		p.unlock()
		return nil, err
	}
	p.dim, p.points = p.hello.dim, p.hello.points
	if p.TakesFactors() && p.dim > 0 { // it has room for so many factors, perhaps not for points
		p.SetDim(p.dim)
	}
	own, stop := context.WithCancel(context.Background())
	p.stop = stop
	go p.keep(own)
	return p, nil
}

func (p *Program) checkDim() error {
	if given, dim := p.cfg.Dim, p.hello.dim; given != 0 && given != dim {
		return fmt.Errorf("the program said dim=%d, and the plan's dim is %d: give both the same", dim,
			given)
	}
	return nil
}

// begin starts the program once, or again, and reads its hello.
func (p *Program) begin(ctx context.Context, first bool) error {
	var c *child
	in, out, hang := p.cfg.In, p.cfg.Out, func() {}
	if len(p.cfg.Command) > 0 {
		var err error
		if c, err = startChild(p.cfg.Command, p.lock, p.cfg.Logger); err != nil {
			return fmt.Errorf("the program cannot start: %w", err)
		}
		in, out, hang = c.stdout, c.stdin, c.kill
	}
	t := newTalk(in, out, p.cfg.Patience, hang, &p.reports)
	p.mu.Lock()
	p.child, p.mapped, p.scaled = c, false, false
	p.mu.Unlock()
	h, err := p.greet(ctx, t)
	if first && errors.Is(err, io.EOF) {
		t.fail(err)
		return fmt.Errorf("%w: let it answer hello and all lines after that, until its input ends",
			p.leave(err))
	}
	if err == nil && !first {
		if h.dim == 0 {
			h.dim = p.hello.dim
		}
		if h != p.hello {
			err = errors.New("said another hello than before: say the same each time")
		}
	}
	if err != nil {
		t.fail(err)
		return p.leave(err)
	}
	if first {
		p.hello = h // hello does not change after this
	}
	p.mu.Lock()
	p.current = t // from here on devices may ask it
	p.mu.Unlock()
	return nil
}

func (p *Program) greet(ctx context.Context, t *talk) (hello, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.Startup,
		fmt.Errorf("did not answer hello within %v", p.cfg.Startup))
	defer cancel()
	words, err := t.ask(ctx, "hello "+version, "hello")
	if err != nil {
		return hello{}, err
	}
	line := "hello"
	for _, w := range words {
		line += " " + w
	}
	return parseHello(line)
}

// leave ends the running program, and returns the reason with the program's exit status.
func (p *Program) leave(why error) error {
	p.mu.Lock()
	c := p.child
	p.current, p.child, p.why = nil, nil, why
	p.mu.Unlock()
	switch {
	case c == nil:
		if errors.Is(why, io.EOF) {
			why = errors.New("the program that gives the loss has ended")
		} else {
			why = fmt.Errorf("the program %w", why)
		}
	default:
		c.end(p.cfg.Patience)
		if errors.Is(why, io.EOF) {
			why = fmt.Errorf("the program ended: %s", c.status())
		} else {
			why = fmt.Errorf("the program %w (%s)", why, c.status())
		}
	}
	p.mu.Lock()
	p.why = why
	p.mu.Unlock()
	return why
}

// keep restarts the program whenever it ends.
func (p *Program) keep(ctx context.Context) {
	defer close(p.ended)
	wait := firstPause
	for {
		t, _ := p.now()
		select {
		case <-ctx.Done():
			_ = p.leave(io.EOF)
			return
		case <-t.ended:
		}
		if t.spoke.Load() {
			wait = firstPause
		}
		why := p.leave(t.why)
		if len(p.cfg.Command) == 0 {
			return // nobody else can start it
		}
		for {
			if ctx.Err() != nil {
				return // Close ended the program
			}
			p.cfg.Logger.Warn("the program starts again", "in", wait, "because", why)
			if pause.For(ctx, wait) != nil {
				return
			}
			wait = min(2*wait, lastPause)
			if why = p.begin(ctx, false); why == nil {
				break
			}
		}
	}
}

// now returns the talk with the running program, or the reason why no program runs.
func (p *Program) now() (*talk, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil {
		return nil, fmt.Errorf("%w; it starts again soon", p.why)
	}
	return p.current, nil
}

// Dim is the number of parameters; 0: the program takes any, and nobody has called SetDim.
func (p *Program) Dim() int { return p.dim }

// SetDim sets the number of parameters of a program that takes any, before the first request. A
// program that did not know the number may have asked for more points than it has memory for: with
// many parameters it gets fewer in a request.
func (p *Program) SetDim(dim int) {
	p.dim, p.points = dim, max(1, min(p.hello.points, anyDimNumbers/dim))
}

// Ended returns a channel that is closed when the program has ended for good: after Close, or after
// its end if the program started this process. Err says why.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Err says why no program runs. Err returns nil while the program runs.
func (p *Program) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil {
		return p.why
	}
	select {
	case <-p.current.ended:
		return p.current.why
	default:
		return nil
	}
}

// Close ends the program, and waits until the program has ended.
func (p *Program) Close() {
	p.stop()
	<-p.ended
	<-p.turn
	if p.file != nil {
		p.file.close()
	}
	p.unlock()
}

func (p *Program) unlock() {
	if p.lock != nil {
		_ = os.Remove(p.lock.Name()) // a process that waits for the lock tries again
		_ = p.lock.Close()
	}
}
