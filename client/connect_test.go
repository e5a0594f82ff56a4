package client_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
)

// connectOptions applies the options as nats.Connect does.
func connectOptions(t *testing.T, id string) nats.Options {
	t.Helper()
	o := nats.GetDefaultOptions()
	for _, option := range client.ConnectOptions(id) {
		if err := option(&o); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestConnectOptions(t *testing.T) {
	o := connectOptions(t, "phone-1")
	if o.Name != "phone-1" || o.InboxPrefix != "_INBOX_phone-1" {
		t.Errorf("got name %q, inbox %q", o.Name, o.InboxPrefix)
	}
	if !o.AllowReconnect || o.MaxReconnect != -1 || !o.RetryOnFailedConnect ||
		!o.IgnoreAuthErrorAbort {
		t.Errorf("got reconnects %v, %d times, after a failed first attempt %v, "+
			"after a refusal %v, want them for ever",
			o.AllowReconnect, o.MaxReconnect, o.RetryOnFailedConnect, o.IgnoreAuthErrorAbort)
	}
	if o.ReconnectBufSize != -1 || o.Timeout != 20*time.Second || o.PingInterval != 4*time.Minute ||
		o.MaxPingsOut != 2 {
		t.Errorf("got buffer %d, timeout %v, ping %v x %d",
			o.ReconnectBufSize, o.Timeout, o.PingInterval, o.MaxPingsOut)
	}
}

// Pauses stay within 1 s and 5 min, and grow. Pauses start over after each loss of the connection,
// and differ between devices.
func TestReconnectDelay(t *testing.T) {
	const attempts, losses = 40, 200
	delay := connectOptions(t, "phone-1").CustomReconnectDelayCB
	var first, middle, late []time.Duration
	for range losses {
		for i := range attempts {
			d := delay(i + 1)
			if d < time.Second || d > 5*time.Minute {
				t.Fatalf("attempt %d: got pause %v, want 1 s to 5 min", i+1, d)
			}
			switch {
			case i == 0:
				first = append(first, d)
			case i == 14:
				middle = append(middle, d)
			case i > 20:
				late = append(late, d)
			}
		}
	}
	if most := slices.Max(first); most > 6*time.Second || slices.Min(first) > 2*time.Second ||
		most < 5*time.Second {
		t.Errorf("first pauses %v..%v, want 1 to 6 s", slices.Min(first), most)
	}
	if median(middle) < time.Minute || median(late) < 2*time.Minute {
		t.Errorf("medians: first %v, middle %v, late %v, want them to grow",
			median(first), median(middle), median(late))
	}
	slices.Sort(late)
	if same := len(late) - len(slices.Compact(late)); same > 1 {
		t.Errorf("got %d equal late pauses, want them drawn", same)
	}
	other := connectOptions(t, "phone-2").CustomReconnectDelayCB
	if a, b := delay(1), other(1); a == b {
		t.Errorf("two devices: got the same pauses %v, want different ones", a)
	}
}

// When a server was away for some seconds, as in a restart, its devices do not stay away for long:
// nearly all of a thousand are connected 6 s after its return, and all but a few after 20 s. Pauses
// are drawn: after 20 s, about one device of 5,000 has come so often that its pauses grow.
func TestFleetReconnects(t *testing.T) {
	const devices, few = 1000, 5
	for _, away := range []time.Duration{2 * time.Second, 5 * time.Second, 10 * time.Second,
		20 * time.Second} {
		soon, late := 0, 0
		for i := range devices {
			delay := connectOptions(t, fmt.Sprint("d", i)).CustomReconnectDelayCB
			at := time.Duration(0)
			for attempt := 1; at < away; attempt++ {
				at += delay(attempt)
			}
			if at > away+20*time.Second {
				late++
			}
			if at <= away+6*time.Second {
				soon++
			}
		}
		if soon < devices*95/100 {
			t.Errorf("away for %v: %d of %d devices are back after 6 s", away, soon, devices)
		}
		if late > few {
			t.Errorf("away for %v: %d devices are not back after 20 s, want %d at most", away, late, few)
		}
	}
}

// The same device under the same clock draws the same pauses, so a simulation gives the same result
// each time.
func TestReconnectDelayRepeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := connectOptions(t, "x").CustomReconnectDelayCB,
			connectOptions(t, "x").CustomReconnectDelayCB
		for i := range 20 {
			if a, b := a(i+1), b(i+1); a != b {
				t.Fatalf("attempt %d: got %v and %v, want the same", i+1, a, b)
			}
		}
	})
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}
