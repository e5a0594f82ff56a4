package mobile

import (
	"math"
	"runtime"

	"github.com/zofl/zofl/client"
)

// collectEvery is how many contributions a phone's garbage is left for: some 200 kB.
// Go by itself leaves as much as lives, which is the model: a program sets GOMEMLIMIT
// against that, and a library of an app cannot be told one.
const collectEvery = 64

// record takes the runtime's progress, on the goroutine of Run.
func (c *Client) record(p client.Progress) error {
	c.mu.Lock()
	before, s := c.seen, &c.seen
	s.state, s.record, s.last, s.round, s.queries = p.State, p.N, p.Last, p.Round, p.Queries
	if p.Contributed {
		s.contributions++
		s.loss = p.Loss
	}
	collect := p.Contributed && s.contributions%collectEvery == 0
	c.mu.Unlock()
	if collect {
		runtime.GC()
	}
	if before.state != p.State {
		c.tellState(p.Reason)
	}
	c.tellProgress()
	switch {
	case p.Declined == 0 && p.Err != nil:
		c.tellFault(codeOf(p.Err), message(p.Err))
	case p.Declined != 0:
		c.tellDecline(p)
	}
	return nil
}

// tellDecline tells why a round was sat out.
func (c *Client) tellDecline(p client.Progress) {
	code, text := declines[p.Declined], ""
	switch {
	case code == CodePolicy && c.policy.blocked() != "":
		text = c.policy.blocked()
	case p.Err != nil:
		text = message(p.Err)
	default:
		text = p.Declined.String()
	}
	if code == "" {
		code = CodeFault
	}
	c.tellFault(code, text)
}

func (c *Client) tellState(reason string) {
	reason = printable(reason)
	c.events.post(aState, func(l Listener) error { return l.OnState(c.State(), reason) })
}

func (c *Client) tellProgress() {
	c.events.post(aProgress, func(l Listener) error {
		s := c.look()
		return l.OnProgress(int64(s.record), int64(s.last), int64(s.round), s.contributions, s.loss)
	})
}

func (c *Client) tellFault(code, text string) {
	text = printable(text)
	c.events.post(aFault+code, func(l Listener) error { return l.OnFault(code, text) })
}

// look returns what the client came to.
func (c *Client) look() seen {
	if !c.made() {
		return seen{loss: math.NaN()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// State is one of [StateIdle] and the others.
func (c *Client) State() int {
	if !c.made() {
		return StateIdle
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.seen.state == client.Ended:
		return StateEnded
	case c.stopped:
		return StateStopped
	case c.cancel == nil:
		return StateIdle
	case !c.seen.online:
		return StateOffline
	}
	return states[c.seen.state]
}

// Ended says whether the run is over.
func (c *Client) Ended() bool { return c.State() == StateEnded }

// Record is the index of the record that the model is after, 0 before the first.
func (c *Client) Record() int64 { return int64(c.look().record) }

// Last is the run's last record, as far as known.
func (c *Client) Last() int64 { return int64(c.look().last) }

// Round is the number of the last round that the model has.
func (c *Client) Round() int64 { return int64(c.look().round) }

// Contributions is how many rounds this device contributed to since NewClient.
func (c *Client) Contributions() int64 { return c.look().contributions }

// Queries is how many losses it was asked for since NewClient.
func (c *Client) Queries() int64 { return int64(c.look().queries) }

// Loss is the mean training loss of its last contribution, NaN before the first.
func (c *Client) Loss() float64 { return c.look().loss }

// BytesSent is what went out of the socket since NewClient, TLS included.
func (c *Client) BytesSent() int64 {
	if c == nil {
		return 0
	}
	return c.traffic.sent.Load()
}

// BytesReceived is what came into the socket since NewClient, TLS included.
func (c *Client) BytesReceived() int64 {
	if c == nil {
		return 0
	}
	return c.traffic.received.Load()
}
