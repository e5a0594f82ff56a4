package dashboard

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/plan"
)

// These constants say how often a pump sends changes of a run to pages.
const (
	roundsEvery = 200 * time.Millisecond
	statusEvery = time.Second
	fleetEvery  = 2 * time.Second
	lingerFor   = 30 * time.Second // how long a pump runs without readers, which may reconnect
)

// A message is an encoded server-sent event for pages.
type message struct {
	number uint64
	bytes  []byte
}

// A reader that reconnects gets the messages that it missed, up to mostMessages messages and
// mostBytes bytes. If it missed more, it gets a snapshot.
const (
	mostMessages = 256
	mostBytes    = 4 << 20
)

// A change is the content of a message. A snapshot has all fields.
type change struct {
	Version     string       `json:"version,omitempty"`
	Status      *status      `json:"status,omitempty"`
	Plan        *planView    `json:"plan,omitempty"`
	Rounds      rounds       `json:"rounds,omitempty"`
	Evaluations []evaluation `json:"evaluations,omitempty"`
	Reported    []reported   `json:"reported,omitempty"`
	Marks       []mark       `json:"marks,omitempty"`
	Fleet       *fleet       `json:"fleet,omitempty"`
}

// A status is the coordinator's status, with the survey in words and the refused messages by cause.
type status struct {
	operate.Status
	Asks  string `json:"asks,omitempty"`
	Drops []drop `json:"drops"`
}

type drop struct {
	Cause string `json:"cause"`
	Count uint64 `json:"count"`
}

func statusOf(s operate.Status) *status {
	out := &status{Status: s, Asks: s.Asks(), Drops: []drop{}}
	for _, d := range s.Counters.Drops() {
		if d.Count > 0 {
			out.Drops = append(out.Drops, drop{d.Cause, d.Count})
		}
	}
	return out
}

func newBoot() string {
	b := make([]byte, 6)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// A pump makes messages for the readers of a board.
type pump struct {
	b   *Board
	sub *history.Subscription

	status, plan, fleet    []byte // JSON in the last message
	statusAt, fleetAt      time.Time
	statusStale, planStale bool
}

// pump runs until nobody has read for a while or the server closes.
func (b *Board) pump(sub *history.Subscription) {
	p := &pump{b: b, sub: sub}
	defer p.sub.Close()
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	pause := time.NewTimer(roundsEvery)
	defer pause.Stop()
	for {
		select {
		case <-b.server.ctx.Done():
			return
		case <-p.sub.Ready():
		case <-tick.C:
		}
		if b.abandoned() {
			return
		}
		p.turn()
		pause.Reset(roundsEvery)
		select {
		case <-b.server.ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// abandoned says whether the pump must end because nobody reads.
func (b *Board) abandoned() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.readers) > 0 || time.Since(b.left) < lingerFor {
		return false
	}
	b.pumping, b.messages, b.news = false, nil, nil
	b.last++ // a reader that comes back sees the gap, and gets a snapshot
	return true
}

// turn sends the readers the changes since the last call.
func (p *pump) turn() {
	update, now := p.sub.Take(), time.Now()
	if update.Lost > 0 {
		p.b.publish("snapshot", p.b.snapshot())
		return
	}
	c := &change{}
	c.Rounds, c.Evaluations = split(update.Points)
	c.Reported = reportedOf(update.Points)
	for i := range update.Marks {
		c.Marks = append(c.Marks, marked(&update.Marks[i]))
		p.planStale = true // a change, a rollback or a survey
	}
	c.Marks = append(c.Marks, p.b.takeNews()...)
	run := p.b.leader()
	if now.Sub(p.statusAt) >= statusEvery || len(c.Marks) > 0 {
		p.statusAt = now
		s := statusOf(run.Status())
		if fresh(&p.status, s) {
			c.Status, p.statusStale = s, true
		}
	}
	if p.planStale || p.plan == nil {
		p.planStale = false
		if pl := p.b.planNow(run); fresh(&p.plan, pl) {
			c.Plan = pl
		}
	}
	// Devices change only when rounds close, so send no fleet while nothing happens.
	if p.statusStale && now.Sub(p.fleetAt) >= fleetEvery {
		p.fleetAt, p.statusStale = now, false
		pln := run.Plan()
		f := p.b.list.summary(run, pln.Roster == plan.OpenRoster)
		c.Fleet = &f
	}
	if c.Rounds != nil || c.Evaluations != nil || c.Marks != nil || c.Status != nil ||
		c.Plan != nil || c.Fleet != nil {
		p.b.publish("change", c)
	}
}

// fresh says whether the JSON of a value differs from last, and stores the JSON in last.
func fresh(last *[]byte, v any) bool {
	b, err := json.Marshal(v)
	if err != nil || bytes.Equal(b, *last) {
		return false
	}
	*last = b
	return true
}

func (b *Board) takeNews() []mark {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.news
	b.news = nil
	return news
}

func (b *Board) planNow(run Run) *planView {
	now := run.Plan()
	b.mu.Lock()
	original := b.original
	b.mu.Unlock()
	p := planOf(&now, original)
	return &p
}

// snapshot returns all data that a page needs to begin.
func (b *Board) snapshot() *change {
	run := b.leader()
	points, marks := b.history.Snapshot(0)
	p := run.Plan()
	f := b.list.summary(run, p.Roster == plan.OpenRoster)
	c := &change{Version: version.String(), Status: statusOf(run.Status()), Plan: b.planNow(run),
		Fleet: &f, Marks: []mark{}}
	c.Rounds, c.Evaluations = split(points)
	c.Reported = reportedOf(points)
	for i := range marks {
		c.Marks = append(c.Marks, marked(&marks[i]))
	}
	b.mu.Lock()
	c.Marks = append(c.Marks, b.happened...)
	b.mu.Unlock()
	slices.SortStableFunc(c.Marks, func(x, y mark) int { return x.Time.Compare(y.Time) })
	if len(c.Marks) > 4*mostHappened {
		c.Marks = c.Marks[len(c.Marks)-4*mostHappened:]
	}
	return c
}

// encode returns the bytes of a server-sent event.
func (b *Board) encode(name string, number uint64, c *change) ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data)+64)
	out = append(out, "event: "+name+"\nid: "+b.boot+"-"...)
	out = strconv.AppendUint(out, number, 10)
	out = append(append(append(out, "\ndata: "...), data...), "\n\n"...)
	return out, nil
}

// publish hands a message to all readers. It drops readers that are mostWaiting messages behind.
func (b *Board) publish(name string, c *change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	encoded, err := b.encode(name, b.last+1, c)
	if err != nil {
		b.server.cfg.Logger.Warn("dashboard", "err", err)
		return
	}
	b.last++
	b.messages = append(b.messages, message{b.last, encoded})
	size := 0
	for i := len(b.messages) - 1; i >= 0; i-- {
		if size += len(b.messages[i].bytes); size > mostBytes || len(b.messages)-i > mostMessages {
			b.messages = append([]message{}, b.messages[i+1:]...)
			break
		}
	}
	for r := range b.readers {
		select {
		case r.messages <- encoded:
		default:
			b.drop(r)
		}
	}
}

// missed returns the messages after the message had that a reader got last. ok says whether the
// board still has all messages that the reader missed. The caller holds mu.
func (b *Board) missed(had string) (list [][]byte, ok bool) {
	boot, text, _ := strings.Cut(had, "-")
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || boot != b.boot || number > b.last {
		return nil, false
	}
	if number+1 < b.last+1-uint64(len(b.messages)) {
		return nil, false
	}
	for _, m := range b.messages {
		if m.number > number {
			list = append(list, m.bytes)
		}
	}
	return list, true
}
