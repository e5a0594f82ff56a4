package mobile

import (
	"cmp"
	"math"
	"runtime"

	"github.com/zofl/zofl/client"
)

// collectEvery is the number of contributions after which the client runs the garbage collector. So
// many contributions leave about 200 kB of garbage. By default Go lets garbage grow to the size of
// the live memory, mainly the model. A program would set GOMEMLIMIT, but a library cannot.
const collectEvery = 64

// record takes a report of progress from package client, on the goroutine of Run.
func (c *Client) record(p client.Progress) error {
	c.mu.Lock()
	before, s := c.status, &c.status
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

// tellDecline tells the listener why the device declined a round.
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
	code = cmp.Or(code, CodeFault)
	c.tellFault(code, text)
}

func (c *Client) tellState(reason string) {
	reason = printable(reason)
	c.events.post(aState, func(l Listener) error { return l.OnState(c.State(), reason) })
}

func (c *Client) tellProgress() {
	c.events.post(aProgress, func(l Listener) error {
		s := c.latest()
		return l.OnProgress(int64(s.record), int64(s.last), int64(s.round), s.contributions, s.loss)
	})
}

func (c *Client) tellFault(code, text string) {
	text = printable(text)
	c.events.post(aFault+code, func(l Listener) error { return l.OnFault(code, text) })
}

// latest returns the client's latest progress.
func (c *Client) latest() status {
	if !c.isMade() {
		return status{loss: math.NaN()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// State returns [StateIdle] or another state.
func (c *Client) State() int {
	if !c.isMade() {
		return StateIdle
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.status.state == client.Ended:
		return StateEnded
	case c.stopped:
		return StateStopped
	case c.cancel == nil:
		return StateIdle
	case !c.status.online:
		return StateOffline
	}
	return states[c.status.state]
}

// Ended says whether the run is over.
func (c *Client) Ended() bool { return c.State() == StateEnded }

// Record is the index of the record that the model is at, 0 before the first.
func (c *Client) Record() int64 { return int64(c.latest().record) }

// Last is the index of the run's last record, as far as known.
func (c *Client) Last() int64 { return int64(c.latest().last) }

// Round is the number of the last round in the model.
func (c *Client) Round() int64 { return int64(c.latest().round) }

// Contributions is how many rounds this device contributed to since NewClient.
func (c *Client) Contributions() int64 { return c.latest().contributions }

// Queries is how many losses this device was asked for since NewClient.
func (c *Client) Queries() int64 { return int64(c.latest().queries) }

// Loss is the mean training loss of this device's last contribution, NaN before the first.
func (c *Client) Loss() float64 { return c.latest().loss }

// BytesSent is how many bytes went out of the socket since NewClient, TLS included.
func (c *Client) BytesSent() int64 {
	if c == nil {
		return 0
	}
	return c.traffic.sent.Load()
}

// BytesReceived is how many bytes came into the socket since NewClient, TLS included.
func (c *Client) BytesReceived() int64 {
	if c == nil {
		return 0
	}
	return c.traffic.received.Load()
}
