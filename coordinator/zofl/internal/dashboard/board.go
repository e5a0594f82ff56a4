package dashboard

import (
	"cmp"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/plan"
)

// A Run is the part of a coordinator that a board shows and commands. [operate.Desk] implements it.
type Run interface {
	Status() operate.Status
	Plan() plan.Plan
	Devices() ([]operate.Device, time.Time)
	Do(verb string, r operate.Request) (*operate.Status, error)
}

var _ Run = (*operate.Desk)(nil)

// mostHappened bounds how many events of devices a board keeps.
const mostHappened = 200

// A Board shows one run. It is a [report.Recorder] for the events of devices, which no history
// keeps. Any goroutine may call its methods.
//
// Invariants:
//  1. A pump runs while there are readers, and lingers a little after the last.
//  2. messages have the numbers up to last, without gaps.
type Board struct {
	server  *Server
	history *history.History
	boot    string // a random prefix of message numbers

	mu       sync.Mutex // guards what follows
	run      Run        // nil: nobody leads yet
	name     string     // of the run
	happened []mark
	news     []mark // the events that no message has had yet
	original *plan.Plan

	readers  map[*reader]struct{}
	messages []message
	last     uint64 // number of the last message
	pumping  bool
	left     time.Time // when the last reader went

	list listing // devices
}

// Lead says which coordinator leads the run from now on, and shows it.
func (b *Board) Lead(run Run) {
	plan := run.Plan()
	b.mu.Lock()
	b.run, b.name = run, plan.Run
	b.original = cmp.Or(b.original, &plan)
	b.mu.Unlock()
	b.server.led(b)
}

func (b *Board) leader() Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.run
}

// title is the name of the run.
func (b *Board) title() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.name
}

// Record implements [report.Recorder]. Record never fails and never waits.
func (b *Board) Record(e report.Event) error {
	m, ok := happening(&e, time.Now())
	if !ok {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.happened) >= 2*mostHappened {
		b.happened = append([]mark{}, b.happened[mostHappened:]...)
	}
	b.happened = append(b.happened, m)
	if b.pumping && len(b.news) < mostHappened {
		b.news = append(b.news, m)
	}
	return nil
}
