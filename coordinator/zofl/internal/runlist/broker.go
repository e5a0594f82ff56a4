package runlist

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// How long a broker's list waits: for the first coordinator to answer, for another one, and for the
// status of each.
const (
	firstWithin  = time.Second
	nextWithin   = 150 * time.Millisecond
	statusWithin = 2 * time.Second
)

const brokerPrefix = "run:"

// Broker returns the source of the runs whose coordinators answer on a connection. Where the broker
// does not let this user ask, the source has no runs.
func Broker(nc *nats.Conn) Source { return &brokerRuns{nc: nc} }

type brokerRuns struct {
	nc *nats.Conn

	mu   sync.Mutex // guards at and list; one list at a time
	at   time.Time
	list []Run

	reading sync.Mutex // guards read; one history at a time
	read    map[string]*past
}

// A past is what was read of a run's history: only the end of it is asked for again.
type past struct {
	points []history.Point
	marks  []history.Mark
}

// mostPasts bounds the histories that a broker's source remembers, and mostLater how many records
// after a round devices may still evaluate its state.
const (
	mostPasts = 16
	mostLater = 200
)

// brokerEvery is how old a broker's list may be: several pages share one.
const brokerEvery = 2 * time.Second

// List implements [Source].
func (b *brokerRuns) List(ctx context.Context) []Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.list != nil && time.Since(b.at) < brokerEvery {
		return b.list
	}
	list := []Run{}
	for _, name := range b.names() {
		if r, ok := b.describe(ctx, name); ok {
			list = append(list, r)
		}
	}
	b.list, b.at = list, time.Now()
	return list
}

// names asks which coordinators are there.
func (b *brokerRuns) names() (names []string) {
	subject, err := micro.ControlSubject(micro.PingVerb, "", "")
	if err != nil || !b.nc.IsConnected() {
		return nil
	}
	inbox := b.nc.NewInbox()
	answers, err := b.nc.SubscribeSync(inbox)
	if err != nil {
		return nil
	}
	defer func() { _ = answers.Unsubscribe() }() // the connection may be gone
	if b.nc.PublishRequest(subject, inbox, nil) != nil {
		return nil
	}
	for wait := firstWithin; ; wait = nextWithin {
		m, err := answers.NextMsg(wait)
		if err != nil {
			slices.Sort(names)
			return slices.Compact(names)
		}
		var p micro.Ping
		if json.Unmarshal(m.Data, &p) != nil {
			continue
		}
		run, ours := strings.CutPrefix(p.Name, operate.ServiceName(""))
		if ours && run != "" && len(names) < mostListed {
			names = append(names, run)
		}
	}
}

func (b *brokerRuns) describe(ctx context.Context, name string) (Run, bool) {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	s, err := operate.Ask(ctx, b.nc, name, operate.VerbStatus, operate.Request{})
	if err != nil {
		return Run{}, false
	}
	r := Run{Key: brokerPrefix + name, Name: name, State: s.State, Round: s.Rounds, Tags: s.Tags,
		Live: true}
	if s.End != "" {
		r.State += ": " + s.End
	}
	if loss := float64(s.Loss); s.Rounds > 0 && !math.IsNaN(loss) && !math.IsInf(loss, 0) {
		r.Loss = &loss
	}
	return r, true
}

// History implements [Source].
func (b *brokerRuns) History(ctx context.Context, key string) ([]history.Point,
	[]history.Mark, bool) {
	name, ours := strings.CutPrefix(key, brokerPrefix)
	if !ours {
		return nil, nil, false
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	p := b.read[name]
	if p == nil {
		if b.read == nil || len(b.read) >= mostPasts {
			b.read = map[string]*past{}
		}
		p = &past{}
		b.read[name] = p
	}
	if err := p.more(ctx, b.nc, name); err != nil {
		delete(b.read, name)
		return nil, nil, false
	}
	return slices.Clone(p.points), slices.Clone(p.marks), true
}

// more reads what is new. If another log took the place of the run's, more reads all.
func (p *past) more(ctx context.Context, nc *nats.Conn, name string) error {
	from := uint64(0)
	if i := len(p.points) - mostLater; i > 0 {
		from = p.points[i].N
	}
	points, marks, err := operate.NewHistory(ctx, nc, name, from, 0)
	if err != nil {
		return err
	}
	if from > 0 && (len(points) == 0 || points[len(points)-1].N < p.points[len(p.points)-1].N) {
		p.points = nil
		return p.more(ctx, nc, name)
	}
	i, _ := slices.BinarySearchFunc(p.points, from, func(q history.Point, n uint64) int {
		return cmp.Compare(q.N, n)
	})
	p.points, p.marks = append(p.points[:i:i], points...), marks
	return nil
}
