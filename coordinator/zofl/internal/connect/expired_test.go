package connect

import (
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// TestExpiredCertificate: a connection refuses a broker with an expired certificate, and the error
// has the date and a remedy. A command that keeps trying logs the error once, not at each attempt.
func TestExpiredCertificate(t *testing.T) {
	a, err := broker.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Minute)
	expired, err := a.Server(past)
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Run(broker.Config{TLS: expired})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Connection{URL: b.URL(), ca: ca}
	if nc, err := c.Dial("x", ""); err == nil {
		nc.Close()
		t.Fatal("the broker is trusted")
	} else if text := err.Error(); !strings.Contains(text, "expired on "+
		past.UTC().Format(time.DateOnly)) || !strings.Contains(text, "clock") {
		t.Errorf("%v", err)
	}
	leaf, err := x509.ParseCertificate(expired.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	r, err := newReach(c, time.Second, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []string{"12:00:01", "12:00:02"} {
		r.failed(x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired,
			Detail: "current time " + now})
	}
	if n := strings.Count(said.String(), "level=WARN"); n != 1 {
		t.Errorf("%d lines of one reason:\n%s", n, said.String())
	}
	leaf.NotBefore = time.Now().Add(time.Hour) // as for a machine whose clock is behind
	text := remedied(x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired})
	if !strings.Contains(text, "not valid before "+leaf.NotBefore.UTC().Format(time.DateOnly)) {
		t.Errorf("too early: %s", text)
	}
}
