package enrol

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// TestMissedRevocation: a broker that loads an account misses a revocation that comes meanwhile.
// After a call of Bar, also of one that bars nobody, the broker keeps the revoked user out.
func TestMissedRevocation(t *testing.T) {
	d, b := guarded(t)
	user := enrolled(t, d, grant.Device, "pi")
	dial(t, d, user...).Close() // the broker has loaded the account
	if err := d.Revoke("pi", func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect("tls://"+d.Listen, user...)
	if err != nil {
		t.Fatalf("the broker knows of the revocation already: %v", err)
	}
	nc.Close()
	_, account, err := d.Observer()
	if err == nil {
		err = b.Bar(account, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if nc, err := nats.Connect("tls://"+d.Listen, user...); err == nil {
		nc.Close()
		t.Error("who was revoked is in")
	}
}
