package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// TestRevokedWhileTheBrokerRestarts: the command revokes a device at any moment of the broker's
// restart. Once the command has succeeded, the broker refuses the device. Until then the command
// says to repeat it.
func TestRevokedWhileTheBrokerRestarts(t *testing.T) {
	k := newEnrolled(t)
	for i := range 4 {
		name := fmt.Sprint("d", i)
		login := k.add(name, "device")
		k.connect(login[3]).Close() // it is in
		if err := k.lead.stop(); err != nil {
			t.Fatal(err)
		}
		k.lead = background(t, "serve", "--store", k.log, "--listen",
			strings.TrimPrefix(k.url, "tls://"), "--tls", "--auth", k.auth, "--json")
		for {
			out, err := zofl(t, "device", "revoke", name, "--auth", k.auth)
			if err == nil {
				break
			}
			if cli.ExitCode(err, false) != cli.ExitAbsent ||
				!strings.Contains(err.Error(), "give the command again") {
				t.Fatalf("revoke: %v: %s", err, out)
			}
		}
		k.shutOut(login)
	}
}

// TestInsider: with a device's creds, a raw client can neither send as another device nor receive
// another's messages. The coordinator counts the client's repeated replies to old and future
// records, and its frames of the largest size. The run goes on, and its model follows from the log.
func TestInsider(t *testing.T) {
	k := newEnrolled(t)
	operator := k.add("alice", "operator")
	login := k.add("b", "device")
	a := k.member("a", k.add("a", "device"))
	b := k.member("b", login)
	n := k.recordsReach(operator, 8).N
	i, err := nats.Connect(k.url, nats.UserCredentials(login[3]), nats.RootCAs(login[3]),
		nats.CustomInboxPrefix(subjects.Inbox("b")))
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	for _, subject := range []string{"zo.kitchen.p.0.a", "zo.kitchen.j.a", "zo.kitchen.c.a",
		"zo.kitchen.a.0", "zo.kitchen.o.stop", "_INBOX_a.x", "_INBOX.x",
		"$SYS.REQ.SERVER.PING", "$JS.API.INFO", "zo.other.p.0.b"} {
		if mayPublish(t, i, subject) {
			t.Errorf("b may publish %s", subject)
		}
	}
	for _, subject := range []string{">", "zo.>", "zo.kitchen.p.>", "zo.kitchen.p.0.a",
		"zo.kitchen.p.0.b", "zo.kitchen.j.*", "_INBOX_a.>", "_INBOX.>", "_INBOX_b*.>", "$SYS.>",
		"zo.kitchen.o.>"} {
		if maySubscribe(t, i, subject) {
			t.Errorf("b may subscribe %s", subject)
		}
	}
	log := source.Live(i, "kitchen", "b", nil)
	var frames [][]byte
	if err := log.Read(t.Context(), 1, func(at uint64, record []byte) bool {
		r := wire.Reply{Kind: wire.Contribution, N: at + 1, Tip: wire.HashRecord(record).Tip(),
			Weight: 1, Values: wire.AppendScalars(nil, make([]float32, 4)...)}
		frames = append(frames, r.Append(nil)) // its own of an old record
		r.N += 1000
		frames = append(frames, r.Append(nil)) // of one that is not asked for
		return at < n
	}); err != nil {
		t.Fatal(err)
	}
	frames = append(frames, bytes.Repeat([]byte{0xdd}, int(i.MaxPayload())), []byte{})
	for range 20 {
		for _, frame := range frames {
			if err := i.Publish(subjects.Reply("kitchen", 0, "b"), frame); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := i.Publish(subjects.Reply("kitchen", 0, "b"),
		make([]byte, i.MaxPayload()+1)); err == nil {
		t.Error("a frame above the broker's limit was sent")
	}
	if err := i.Flush(); err != nil {
		t.Fatal(err)
	}
	k.recordsReach(operator, k.recordsReach(operator, 0).N+20)
	out, err := zofl(t, append([]string{"status", "--json"}, operator...)...)
	if err != nil {
		t.Fatal(err)
	}
	var s operate.Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	c := s.Counters
	if c.Malformed == 0 || c.OtherRecord == 0 || c.Late == 0 {
		t.Errorf("what the insider sent is not counted: %+v", c)
	}
	if len(s.Offenders) != 1 || s.Offenders[0].ID != "b" {
		t.Errorf("offenders %+v, want b", s.Offenders)
	}
	if _, err := zofl(t, append([]string{"stop"}, operator...)...); err != nil {
		t.Error(err)
	}
	waitFor(t, a, `"event":"stopped"`)
	waitFor(t, b, `"event":"stopped"`)
	if err := k.lead.stop(); err != nil {
		t.Error(err)
	}
	if out, err := zofl(t, "verify", "--store", k.log); err != nil {
		t.Errorf("the log: %v: %s", err, out)
	}
}
