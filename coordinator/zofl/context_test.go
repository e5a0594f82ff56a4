package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// writeContext writes a context as the nats program does, in the directory where zofl looks for
// contexts.
func writeContext(t *testing.T, name string, fields map[string]any) {
	t.Helper()
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "nats", "context")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fields["description"], fields["color_scheme"] = "of a test", "green"
	b, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestContext: a context of the nats program gives zofl the broker's URL and the user's creds, over
// TLS.
func TestContext(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	k := newEnrolled(t)
	login := k.add("alice", "operator")
	k.recordsReach(login, 0)
	t.Setenv("ZOFL_CREDS", filepath.Dir(login[3]))
	writeContext(t, "kitchen", map[string]any{"url": k.url,
		"creds": "$ZOFL_CREDS/" + filepath.Base(login[3])})
	k.recordsReach([]string{"--context", "kitchen", "--run", "kitchen"}, 0)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--context", "kitchen", "--url", k.url + "0"}, "leave out --url"},
		{[]string{"--url", k.url, "--context", "kitchen"}, "leave out --url"},
		{[]string{"--context", "kitchen", "--creds", filepath.Dir(k.log)}, "leave out --url"},
		{[]string{"--context", "kitchn"}, "nats context ls"},
		{[]string{"--context", "../kitchen"}, "no name of a context"},
	} {
		_, err := zofl(t, append([]string{"status", "--run", "kitchen"}, c.args...)...)
		if cli.ExitCode(err, false) != cli.ExitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want a usage error that says %q", c.args, err, c.says)
		}
	}
}

// TestContextOfAPassword: a context with a user and a password works too.
func TestContextOfAPassword(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	g := newGuarded(t, "conf", false, theRoles...)
	login := g.login["operator"]
	u, err := url.Parse(login[len(login)-1])
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	fields := map[string]any{"url": "nats://" + u.Host, "user": u.User.Username(),
		"password": password}
	for _, c := range []struct {
		password string
		code     int
	}{{password, cli.ExitAbsent}, {"another", cli.ExitUsage}} { // nobody coordinates
		fields["password"] = c.password
		writeContext(t, "kitchen", fields)
		_, err := zofl(t, "status", "--run", "kitchen", "--context", "kitchen")
		if cli.ExitCode(err, false) != c.code || strings.Contains(err.Error(), password) {
			t.Errorf("with the password %s: %v", c.password, err)
		}
	}
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "nats", "context", "kitchen.json")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := zofl(t, "status", "--run", "kitchen", "--context", "kitchen"); err == nil ||
		!strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a password that all can read: %v", err)
	}
}
