package enrol

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

func make1(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Make(path, About{Run: "r", Listen: "127.0.0.1:1", URL: "tls://127.0.0.1:1"})
	if err == nil {
		err = d.Certify([]string{"127.0.0.1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// accountOf reads the account of the run.
func accountOf(t *testing.T, d *Dir) *jwt.AccountClaims {
	t.Helper()
	public, err := d.account.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(d.file(accountFile(public)))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := jwt.DecodeAccountClaims(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// TestMadeOnce: a second start keeps the keys, the authority and the revocations. Other users
// cannot read these files.
func TestMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "auth")
	d := make1(t, path)
	if _, err := d.Add(grant.Device, "pi"); err != nil {
		t.Fatal(err)
	}
	if err := d.Revoke("pi", func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for _, name := range []string{"operator.seed", "account.seed", "system.seed", "ca.pem", "ca.key",
		"server.pem"} {
		b, err := os.ReadFile(d.file(name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(b)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = make1(t, path)
	defer d.Close()
	for name, was := range before {
		if b, err := os.ReadFile(d.file(name)); err != nil || string(b) != was {
			t.Errorf("%s has changed, or %v", name, err)
		}
	}
	if n := len(accountOf(t, d).Revocations); n != 1 {
		t.Errorf("%d revocations, want 1", n)
	}
	err := filepath.Walk(path, func(name string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCertificateFollowsNames: for a new name, Certify makes a new certificate of the same
// authority.
func TestCertificateFollowsNames(t *testing.T) {
	d := make1(t, t.TempDir())
	defer d.Close()
	leaf := func() tls.Certificate {
		c, err := tls.LoadX509KeyPair(d.file("server.pem"), d.file("server.key"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := leaf()
	if err := d.Certify([]string{"broker.example", "127.0.0.1", "::1"}); err != nil {
		t.Fatal(err)
	}
	after := leaf()
	if err := after.Leaf.VerifyHostname("broker.example"); err != nil {
		t.Error(err)
	}
	if len(after.Certificate) != 2 || string(after.Certificate[1]) != string(before.Certificate[1]) {
		t.Error("the authority does not follow the certificate, or it is another one")
	}
	// Certify replaces an expired certificate.
	ca, err := d.authority()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.issue("server", &x509.Certificate{NotAfter: time.Now().Add(-time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, ca); err != nil {
		t.Fatal(err)
	}
	if err := d.Certify([]string{"127.0.0.1"}); err != nil {
		t.Error(err)
	}
	if until := leaf().Leaf.NotAfter; time.Until(until) < renewBefore {
		t.Errorf("the broker's certificate ends on %v", until)
	}
	// A crash between the writes of the two files leaves a key that does not fit the certificate. The
	// next start makes both anew.
	if err := d.write("server.key", []byte("-")); err != nil {
		t.Fatal(err)
	}
	if err := d.Certify([]string{"127.0.0.1"}); err != nil {
		t.Error(err)
	}
	leaf()
}

// TestCommandsWait: commands that run at the same time lose no revocation.
func TestCommandsWait(t *testing.T) {
	path := t.TempDir()
	d := make1(t, path)
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		if _, err := d.Add(grant.Device, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			d, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			err = d.Revoke(name, func(string) error { return nil })
			if err := errors.Join(err, d.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d = make1(t, path)
	defer d.Close()
	if n := len(accountOf(t, d).Revocations); n != len(names) {
		t.Errorf("%d revocations, want %d", n, len(names))
	}
}

// TestRevokedThoughMadeTomorrow: a revocation holds even if the machine's clock was ahead when the
// user was added.
func TestRevokedThoughMadeTomorrow(t *testing.T) {
	d := make1(t, t.TempDir())
	defer d.Close()
	card, err := d.Add(grant.Device, "pi")
	if err != nil {
		t.Fatal(err)
	}
	user, err := jwt.DecodeUserClaims(card.JWT)
	if err != nil {
		t.Fatal(err)
	}
	user.IssuedAt += 24 * 60 * 60
	if accountOf(t, d).IsClaimRevoked(user) {
		t.Fatal("the user is out before anybody revoked it")
	}
	if err := d.Revoke("pi", func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !accountOf(t, d).IsClaimRevoked(user) {
		t.Error("the user is still in")
	}
}

// TestRevokedThoughNobodyHears: if tell fails, Revoke returns the error, and the revocation holds.
func TestRevokedThoughNobodyHears(t *testing.T) {
	d := make1(t, t.TempDir())
	defer d.Close()
	if _, err := d.Add(grant.Operator, "alice"); err != nil {
		t.Fatal(err)
	}
	deaf := errors.New("deaf")
	if err := d.Revoke("alice", func(string) error { return deaf }); !errors.Is(err, deaf) {
		t.Errorf("got %v", err)
	}
	if n := len(accountOf(t, d).Revocations); n != 1 {
		t.Errorf("%d revocations, want 1", n)
	}
	if _, err := d.Add(grant.Device, "alice"); err != nil {
		t.Errorf("the name cannot be used again: %v", err)
	}
}

// TestOpenToOthers: Open refuses a directory whose secrets other users can read, or whose files
// they can replace. The error names a command, and after that command Open succeeds.
func TestOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	path := filepath.Join(t.TempDir(), "auth")
	if err := make1(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for name, modes := range map[string][2]os.FileMode{
		".": {0o770, 0o700}, "operator.seed": {0o640, 0o600}, "account.seed": {0o604, 0o600},
		"system.seed": {0o644, 0o600}, "ca.key": {0o644, 0o600}, "server.key": {0o644, 0o600},
	} {
		file := filepath.Join(path, name)
		if err := os.Chmod(file, modes[0]); err != nil {
			t.Fatal(err)
		}
		for what, open := range map[string]func() (*Dir, error){
			"open": func() (*Dir, error) { return Open(path) },
			"make": func() (*Dir, error) { return Make(path, About{Run: "r"}) },
		} {
			d, err := open()
			if err == nil {
				_ = d.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "chmod") ||
				!strings.Contains(err.Error(), file) {
				t.Errorf("%s, with %s of mode %04o: %v", what, name, modes[0], err)
			}
		}
		if err := os.Chmod(file, modes[1]); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestFaultyDirectories(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty directory: %v", err)
	}
	path := t.TempDir()
	if err := make1(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"account.seed", "about.json"} {
		was, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, name), []byte("junk"), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := Open(path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a damaged %s: %v, %v", name, d, err)
		}
		if err := os.WriteFile(filepath.Join(path, name), was, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
