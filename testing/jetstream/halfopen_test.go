//go:build unix

package jetstream

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/plan"
)

// TestStandbyHalfOpen checks a coordinator on standby whose connection dies without closing. The
// coordinator notices that while it waits for the lease, and leads when the lease is free.
func TestStandbyHalfOpen(t *testing.T) {
	t.Parallel()
	p := places["server"](t)
	leader := p.openFor(t, "standby", leaseTTL)
	begin(t, leader)
	newChain(t, "standby").appendTo(leader, 1)

	proxy := bustest.NewProxy(t, strings.TrimPrefix(p.cluster.Servers[0].URL, "nats://"))
	far := place{url: "nats://" + proxy.Address(), replicas: 1}
	nc := far.connect(t, nats.PingInterval(nats.DefaultPingInterval), nats.IgnoreDiscoveredServers())
	log, err := far.tryOpen(t, jetlog.Config{Conn: nc, Run: "standby", LeaseTTL: leaseTTL})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	leads := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		_, err := coordinator.New(ctx, coordinator.Config{Conn: nc, Log: log})
		leads <- err
	}()
	for sent := nc.Stats().OutMsgs; nc.Stats().OutMsgs < sent+3; {
		time.Sleep(time.Millisecond) // it asks for the lease
	}
	proxy.Swallow(false)
	since := time.Now()
	closeLog(t, leader)
	if err := <-leads; err != nil {
		t.Fatal(err)
	}
	took := time.Since(since)
	t.Logf("the standby leads %v after its connection died", took)
	if most := 3*plan.DefaultReannounce + leaseTTL; took > most {
		t.Errorf("the standby leads after %v, want at most %v", took, most)
	}
}
