package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// TestRefusedDevices: a device whose subscription or message the broker refuses ends, and says
// which, and what to do.
func TestRefusedDevices(t *testing.T) {
	plan := kitchenPlan(t)
	for denied, want := range map[string]string{
		`subscribe: {deny: ["zo.kitchen.a.>"]}`: `Subscription to "zo.kitchen.a.0"`,
		`subscribe: {deny: ["_INBOX_d.>"]}`:     `Subscription to "_INBOX_d.`,
		`subscribe: {deny: [">"]}`:              `Subscription to "_INBOX_d.`,
		`publish: {deny: ["zo.kitchen.j.d"]}`:   `Publish to "zo.kitchen.j.d"`,
		`publish: {deny: ["zo.kitchen.p.>"]}`:   `Publish to "zo.kitchen.p.`,
	} {
		url := configured(t, `accounts { A { users: [{user: a, password: a},
  {user: d, password: d, permissions: {`+denied+`}}] } }`)
		serve := start(t, "serve", plan, "--store", filepath.Join(t.TempDir(), "log"), "--url",
			strings.Replace(url, "//", "//a:a@", 1))
		serve.says(&serve.stderr, "leading")
		device := start(t, "client", "--url", strings.Replace(url, "//", "//d:d@", 1), "--run",
			"kitchen", "--id", "d", "--objective", "bowl", "--dim", "10")
		defer func() { // all wait at the same time
			if code := device.exited(); code != cli.ExitUsage || !hasAll(device.stderr.String(),
				[]string{"denied", want, "zofl permissions", "kitchen"}) {
				t.Errorf("%s: exit code %d, want %q:\n%s", denied, code, want, device.stderr.String())
			}
		}()
	}
}

// TestDenialOfLongAgo: a request whose answers the broker refuses fails with that reason, whatever
// the broker said since.
func TestDenialOfLongAgo(t *testing.T) {
	url := configured(t, `accounts { A { users: [{user: d, password: d, permissions: {
  subscribe: {deny: ["_INBOX.>", "other"]}}}] } }`)
	nc, err := nats.Connect(strings.Replace(url, "//", "//d:d@", 1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	b := bus.NATS(nc)
	heard, err := b.Subscribe("question", func(bus.Message) {})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Unsubscribe()
	for range 2 { // the first request subscribes for its answers
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := b.Request(ctx, "question", nil); !errors.Is(err, bus.ErrPermission) ||
			!strings.Contains(err.Error(), "_INBOX.") {
			t.Errorf("%v, want a denial that names the subject for answers", err)
		}
		if _, err := nc.SubscribeSync("other"); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil || !strings.Contains(nc.LastError().Error(), "other") {
			t.Fatalf("%v, last %v", err, nc.LastError())
		}
	}
}
