package mobile

import (
	"time"

	"github.com/nats-io/nats.go"
)

// SetNetwork says what network the device has: whether there is any, and whether its
// bytes cost. Call it whenever that changes; another network than before begins with
// a [Client.Reconnect].
func (c *Client) SetNetwork(connected, metered bool) {
	defer contain()
	if c.made() && c.policy.setNetwork(connected, metered) {
		c.Reconnect()
	}
}

// SetPower says whether the device is charging, and how full its battery is, in
// percent; negative: unknown. Call it whenever that changes.
func (c *Client) SetPower(charging bool, percent int) {
	defer contain()
	if c.made() {
		c.policy.setPower(charging, percent)
	}
}

// Reconnect connects anew, at once: the connection that there is may be dead without
// having noticed. Call it when the device woke up.
func (c *Client) Reconnect() {
	defer contain()
	if !c.made() {
		return
	}
	select {
	case c.wake <- struct{}{}: // RunFor's time may be up
	default:
	}
	c.mu.Lock()
	nc, d, online := c.nc, c.dialer, c.seen.online
	c.mu.Unlock()
	if d != nil && !online {
		d.hangUp() // an attempt on the network that was
	}
	if nc == nil || !c.anew.CompareAndSwap(false, true) {
		return
	}
	stuck := func() {}
	if online {
		stuck = d.hangUp
	}
	go c.reconnect(nc, stuck) // it waits for that attempt
}

// flushWithin is how long a connection that is to be left may take for what it is
// writing. On a network that is gone NATS would write for a minute.
const flushWithin = time.Second

// reconnect connects anew; stuck is called if that has to wait.
func (c *Client) reconnect(nc *nats.Conn, stuck func()) {
	defer contain()
	defer c.anew.Store(false)
	defer time.AfterFunc(flushWithin, stuck).Stop()
	_ = nc.ForceReconnect() // fails on a closed connection only
}
