package jetlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
)

// The tests with real servers are in testing/jetstream.

func TestJetStreamConfig(t *testing.T) {
	nc := &nats.Conn{} // only compared with nil
	good := Config{Conn: nc, Run: "r"}
	got, err := good.withDefaults()
	if err != nil || got.Replicas != 1 || got.LeaseTTL != 10*time.Second ||
		got.Timeout != 5*time.Second {
		t.Errorf("got %+v, %v; want the defaults", got, err)
	}
	for field, spoil := range map[string]func(c *Config){
		"Conn":     func(c *Config) { c.Conn = nil },
		"Run":      func(c *Config) { c.Run = "a.b" },
		"Replicas": func(c *Config) { c.Replicas = -1 },
		"LeaseTTL": func(c *Config) { c.LeaseTTL = time.Millisecond },
		"Timeout":  func(c *Config) { c.Timeout = -1 },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := Open(t.Context(), cfg); !errors.Is(err, runlog.ErrConfig) ||
			!strings.Contains(err.Error(), field) {
			t.Errorf("%s: got %v, want ErrConfig and the field", field, err)
		}
	}
}

// The kind of a broker's error decides whether the log repeats the request.
func TestBrokerErrors(t *testing.T) {
	api := func(http int, code jetstream.ErrorCode) error {
		return fmt.Errorf("nats: %w", &jetstream.APIError{Code: http, ErrorCode: code})
	}
	for name, tt := range map[string]struct {
		err                              error
		hopeless, transient, isWrongLast bool
	}{
		"full":             {err: api(503, 10077), hopeless: true, transient: true},
		"account full":     {err: api(400, 10002), hopeless: true},
		"server full":      {err: api(503, 10023), hopeless: true, transient: true},
		"too large":        {err: nats.ErrMaxPayload, hopeless: true},
		"closed":           {err: nats.ErrConnectionClosed, hopeless: true},
		"no leader":        {err: api(503, 10008), transient: true},
		"no answer":        {err: context.DeadlineExceeded, transient: true},
		"no stream answer": {err: jetstream.ErrNoStreamResponse, transient: true},
		"disconnected":     {err: nats.ErrReconnectBufExceeded, transient: true},
		"wrong last":       {err: api(400, 10071), isWrongLast: true},
		"wrong last, R3":   {err: api(400, 10164), isWrongLast: true},
		"no JetStream":     {err: api(503, 10076)},
		"not for us":       {err: api(503, 10039)},
		"no stream":        {err: api(404, 10059)},
	} {
		if got := hopeless(tt.err); got != tt.hopeless {
			t.Errorf("%s: hopeless is %t", name, got)
		}
		if got := transient(tt.err); got != tt.transient {
			t.Errorf("%s: transient is %t", name, got)
		}
		if got := wrongLast(tt.err); got != tt.isWrongLast {
			t.Errorf("%s: wrongLast is %t", name, got)
		}
	}
}

// Resume works from any record on.
func TestResume(t *testing.T) {
	records := chaintest.Records(t, 6)
	for from := 1; from <= len(records); from++ {
		at := runlog.Chain{N: uint64(from) - 1}
		for _, r := range records[from-1:] {
			if err := at.Resume(r, uint64(from)); err != nil {
				t.Fatalf("from %d: %v", from, err)
			}
		}
		for _, bad := range [][]byte{nil, {0xc1}, records[0]} {
			broken := runlog.Chain{N: uint64(from) - 1}
			if err := broken.Resume(bad, uint64(from)); from > 1 &&
				!errors.Is(err, runlog.ErrCorrupt) {
				t.Errorf("from %d: %x: got %v, want ErrCorrupt", from, bad, err)
			}
		}
	}
	swapped := runlog.Chain{N: 1}
	if err := errors.Join(swapped.Resume(records[1], 2),
		swapped.Resume(records[3], 2)); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("record 4 after 2: got %v, want ErrCorrupt", err)
	}
}

// sleep returns false when its context ends.
func TestBackoff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var b backoff
	if !b.sleep(ctx) || b != backoff(20*time.Millisecond) {
		t.Errorf("the first wait is %v", time.Duration(b))
	}
	cancel()
	for range 10 {
		if b.sleep(ctx) {
			t.Error("waited beyond the context")
		}
	}
	if b != backoff(time.Second) {
		t.Errorf("waits grow to %v", time.Duration(b))
	}
}

// A server certainly leads a stream if it has heard lately from so many others that the rest cannot
// have elected another leader.
func TestLeads(t *testing.T) {
	for name, tt := range map[string]struct {
		replicas int
		heard    []time.Duration // ago; negative: offline
		want     bool
	}{
		"one server":      {1, nil, true},
		"all":             {3, []time.Duration{time.Second, time.Second}, true},
		"one of two":      {3, []time.Duration{time.Second, time.Hour}, true},
		"was stopped":     {3, []time.Duration{5 * time.Second, 5 * time.Second}, false},
		"heard nobody":    {3, []time.Duration{0, 0}, false},
		"others are gone": {3, []time.Duration{-time.Second, -time.Second}, false},
		"one of four": {5, []time.Duration{time.Second, time.Hour, time.Hour, time.Hour},
			false},
		"two of four": {5, []time.Duration{time.Second, time.Second, time.Hour, time.Hour},
			true},
	} {
		info := &jetstream.StreamInfo{Config: jetstream.StreamConfig{Replicas: tt.replicas},
			Cluster: &jetstream.ClusterInfo{}}
		for _, ago := range tt.heard {
			info.Cluster.Replicas = append(info.Cluster.Replicas,
				&jetstream.PeerInfo{Active: max(ago, -ago), Offline: ago < 0})
		}
		if got := leads(info); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if !leads(&jetstream.StreamInfo{Config: jetstream.StreamConfig{Replicas: 1}}) {
		t.Error("a server without a cluster does not lead")
	}
}
