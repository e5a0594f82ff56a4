//go:build linux

package scaling

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// stop ends the run of the page's plan.
const stop = "zofl stop --url nats://coordinator:change-me-2@127.0.0.1:4222 --run field"

// TestLaptop checks that the page's commands for a laptop make rounds.
func TestLaptop(t *testing.T) {
	t.Parallel()
	s := begin(t, "A laptop")
	s.until("rounds", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := s.command(ctx, s.local("zofl status --url nats://127.0.0.1:4222 --run desk --json"))
		out, err := cmd.Output()
		return err == nil && rounds(out) > 3
	})
}

// TestServer checks that a killed and restarted server costs the run nothing.
func TestServer(t *testing.T) {
	t.Parallel()
	s := begin(t, "A server")
	f := s.devices(20, func(int) []string { return []string{"4222"} })
	f.more("rounds", f.devices, 10)
	f.more("200 rounds", f.devices, 200)
	s.processes["server"].kill()
	s.processes["server"].start()
	f.more("rounds after the server was killed", f.devices, 10)
	f.agree(stop)
}

// TestCluster kills the server that leads the log's stream. The other servers continue, and all
// devices of the killed server with them.
func TestCluster(t *testing.T) {
	t.Parallel()
	s := begin(t, "A cluster of three")
	ports := []string{"4222", "4223", "4224"}
	f := s.devices(20, func(i int) []string {
		return []string{ports[i%3], ports[(i+1)%3], ports[(i+2)%3]}
	})
	f.more("rounds", f.devices, 10)
	f.more("200 rounds", f.devices, 200)
	leader := s.processes[s.leader("ZO_field_LOG", ports)]
	leader.kill()
	f.more("rounds after the leader was killed", f.devices, 10)
	leader.start()
	f.more("rounds after it came back", f.devices, 10)
	f.agree("at=nats://coordinator:change-me-2@127.0.0.1\n" +
		"zofl stop --run field --url $at:4222,$at:4223,$at:4224")
}

// leader returns the name of the server that leads a stream.
func (s *site) leader(stream string, ports []string) (name string) {
	s.t.Helper()
	nc := s.connect("test", "coordinator:change-me-2", ports)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		s.t.Fatal(err)
	}
	s.until("a leader of "+stream, func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		defer cancel()
		got, err := js.Stream(ctx, stream)
		if err != nil || got.CachedInfo().Cluster == nil {
			return false
		}
		name = got.CachedInfo().Cluster.Leader
		return s.processes[name] != nil
	})
	return name
}

// TestLeaves kills a leaf server. The run continues with the devices of the other leaf. The devices
// of the killed leaf return when the leaf returns. An announcement crosses the link to a leaf once
// for all of the leaf's devices.
func TestLeaves(t *testing.T) {
	t.Parallel()
	s := begin(t, "A hub with leaves")
	ports := []string{"4223", "4224"}
	f := s.devices(20, func(i int) []string { return ports[i/10 : i/10+1] })
	here, there := f.devices[10:], f.devices[:10]
	f.more("rounds", f.devices, 10)
	before, from := s.link("leaf-b"), f.last()
	f.more("200 rounds", here, 200)
	after, rounds := s.link("leaf-b"), f.last()-from
	down, up := after.down-before.down, after.up-before.up
	t.Logf("%d rounds: %d messages to a leaf of 10 devices, %d from it", rounds, down, up)
	if down > 2*rounds || up < rounds {
		t.Errorf("%d messages to a leaf in %d rounds, want one a round; %d from it", down, rounds, up)
	}
	s.processes["leaf-a"].kill()
	f.gone(there)
	f.more("rounds with one leaf", here, 30)
	s.processes["leaf-a"].start()
	f.more("rounds with the leaf that came back", f.devices, 10)
	f.agree(stop)
}

// TestMillion checks that serve accepts the plan of a million devices.
func TestMillion(t *testing.T) {
	t.Parallel()
	s := begin(t, "A million devices")
	if out := s.run("zofl plan crowd.json --json"); !strings.Contains(out, "open") {
		t.Errorf("the plan has no open roster:\n%s", out)
	}
}

// traffic is the messages that a link to a leaf has carried.
type traffic struct{ down, up uint64 }

// link asks the hub for the traffic of its link to a leaf.
func (s *site) link(leaf string) (sum traffic) {
	s.t.Helper()
	nc := s.connect("system", "system:change-me-1", []string{"4222"})
	defer nc.Close()
	m, err := nc.Request("$SYS.REQ.SERVER.PING.LEAFZ", nil, patience)
	if err != nil {
		s.t.Fatal(err)
	}
	var answer struct {
		Data struct {
			Leafs []struct {
				Name    string `json:"name"`
				OutMsgs uint64 `json:"out_msgs"`
				InMsgs  uint64 `json:"in_msgs"`
			} `json:"leafs"`
		} `json:"data"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		s.t.Fatal(err)
	}
	for _, l := range answer.Data.Leafs {
		if l.Name == leaf {
			return traffic{l.OutMsgs, l.InMsgs}
		}
	}
	s.t.Fatalf("the hub has no link to %s: %s", leaf, m.Data)
	return sum
}

// rounds is the number of rounds in the answer of zofl status --json; 0 if it is none.
func rounds(out []byte) uint64 {
	var v struct{ Rounds uint64 }
	if json.Unmarshal(out, &v) != nil {
		return 0
	}
	return v.Rounds
}
