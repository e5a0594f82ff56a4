package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// TestClearIsRefused: a command refuses a connection without TLS to another machine, and says so.
func TestClearIsRefused(t *testing.T) {
	_, err := zofl(t, "status", "--run", "r", "--url", "nats://broker.invalid")
	refused(t, err, []string{"nats://broker.invalid", "--plaintext"})
}

// TestTrustDemandsTLS: with an authority, nats:// means TLS too, and a command refuses a server
// without TLS.
func TestTrustDemandsTLS(t *testing.T) {
	k := newEnrolled(t)
	login := k.add("alice", "operator")
	login[1] = strings.Replace(k.url, "tls://", "nats://", 1)
	if _, err := zofl(t, append([]string{"status"}, login...)...); err != nil {
		t.Errorf("nats:// with an authority: %v", err)
	}
	g := newGuarded(t, "conf", false, theRoles...)
	login[1] = g.url
	if _, err := zofl(t, append([]string{"status"}, login...)...); err == nil ||
		!strings.Contains(err.Error(), "secure connection") {
		t.Errorf("a server without TLS: %v", err)
	}
}

// TestSecretsOfOthers: commands refuse a secret file that other users can read, and name the
// remedy.
func TestSecretsOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // file modes have no meaning on this system
	}
	k := newEnrolled(t)
	login := k.add("alice", "operator")
	secret := filepath.Join(t.TempDir(), "run.key")
	if _, err := zofl(t, "plan", "--dim", "3", "--secret", secret); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(t.TempDir(), "user.seed")
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err == nil {
		err = os.WriteFile(user, seed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		args []string
		flag string
	}{
		{login[3], append([]string{"status"}, login...), "--creds"},
		{user, []string{"status", "--run", "r", "--url", k.url, "--nkey", user}, "--nkey"},
		{filepath.Join(k.auth, "server.key"), []string{"status", "--run", "r", "--url", k.url,
			"--tls-cert", filepath.Join(k.auth, "server.pem"), "--tls-key",
			filepath.Join(k.auth, "server.key")}, "--tls-key"},
		{secret, []string{"plan", "--dim", "3", "--secret", secret}, "--secret"},
		{secret, append([]string{"export", "--out", "x.npy", "--secret", secret}, login...), "--secret"},
	} {
		for _, mode := range []os.FileMode{0o640, 0o604, 0o622} {
			if err := os.Chmod(c.file, mode); err != nil {
				t.Fatal(err)
			}
			_, err := zofl(t, c.args...)
			refused(t, err, []string{c.flag, "chmod 600 " + c.file})
		}
		if err := os.Chmod(c.file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := zofl(t, append([]string{"status"}, login...)...); err != nil {
		t.Errorf("after the remedy: %v", err)
	}
}
