package mobile

import (
	"time"

	"github.com/nats-io/nats.go"
)

// SetNetwork reports the device's network: whether it is connected, and whether it is
// metered. Call it whenever that changes. A change to another network triggers a
// [Client.Reconnect].
func (c *Client) SetNetwork(connected, metered bool) {
	defer contain()
	if c.isMade() && c.policy.setNetwork(connected, metered) {
		c.Reconnect()
	}
}

// SetPower reports whether the device is charging, and how full its battery is in percent;
// negative means unknown. Call it whenever that changes.
func (c *Client) SetPower(charging bool, percent int) {
	defer contain()
	if c.isMade() {
		c.policy.setPower(charging, percent)
	}
}

// Reconnect opens a new connection at once, because the present one may be dead unnoticed. Call it
// when the device wakes up.
func (c *Client) Reconnect() {
	defer contain()
	if !c.isMade() {
		return
	}
	select {
	case c.wake <- struct{}{}: // RunFor's time may be over
	default:
	}
	c.mu.Lock()
	nc, d, online := c.nc, c.dialer, c.status.online
	c.mu.Unlock()
	if d != nil && !online {
		d.hangUp() // end an attempt on the previous network
	}
	if nc == nil || !c.reconnectBusy.CompareAndSwap(false, true) {
		return
	}
	stuck := func() {}
	if online {
		stuck = d.hangUp
	}
	go c.reconnect(nc, stuck) // ForceReconnect waits for that attempt
}

// flushWithin is how long Reconnect lets the old connection finish its writes. Without a network
// NATS would try for a minute.
const flushWithin = time.Second

// reconnect opens a new connection, and calls stuck if that takes longer than flushWithin.
func (c *Client) reconnect(nc *nats.Conn, stuck func()) {
	defer contain()
	defer c.reconnectBusy.Store(false)
	defer time.AfterFunc(flushWithin, stuck).Stop()
	_ = nc.ForceReconnect() // fails on a closed connection only
}
