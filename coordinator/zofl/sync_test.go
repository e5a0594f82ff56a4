package main

import (
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"

	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// syncing runs a server with a system account, whose JetStream syncs always or as it
// does by default.
func syncing(t *testing.T, always bool) (url, system string) {
	t.Helper()
	interval := "2m"
	if always {
		interval = "always"
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "server.conf")
	text := fmt.Sprintf(`listen: "127.0.0.1:-1"
jetstream { store_dir: %q, sync_interval: %s }
accounts {
  $SYS { users: [{user: system, password: system}] }
  APP { jetstream: enabled, users: [{user: app, password: app}] }
}
no_auth_user: app
`, filepath.Join(dir, "store"), interval)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	opts.NoSigs, opts.NoLog = true, true
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	url = s.ClientURL()
	return url, strings.Replace(url, "nats://", "nats://system:system@", 1)
}

// TestServeRefusesUnsyncedServers: a log in a JetStream needs servers that write what
// they acknowledge, unless the operator says otherwise.
func TestServeRefusesUnsyncedServers(t *testing.T) {
	for _, test := range []struct {
		name    string
		always  bool
		args    func(url, system string) []string
		refused string // part of the error; "": it serves
	}{
		{"unsynced", false, func(_, system string) []string {
			return []string{"--system-url",
				system}
		}, "sync_interval: always"},
		{"unsynced, allowed", false, func(string,
			string) []string {
			return []string{"--allow-unsynced"}
		}, ""},
		{"synced", true, func(_, system string) []string {
			return []string{"--system-url",
				system}
		}, ""},
		{"nobody can tell", true, func(url, _ string) []string {
			return []string{"--system-url",
				url}
		}, "system account"},
		{"nobody is asked", true, func(string, string) []string { return nil }, "--system-creds"},
	} {
		t.Run(test.name, func(t *testing.T) {
			url, system := syncing(t, test.always)
			k := &kitchen{t: t, dir: t.TempDir(), url: url}
			k.plan = filepath.Join(k.dir, "plan.json")
			if _, err := zofl(t, "plan", "--run", "kitchen", "--dim", "3", "--write",
				k.plan); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"serve", k.plan, "--jetstream", "--url", url},
				test.args(url, system)...)
			if test.refused == "" {
				k.lead = background(t, args...)
				if s := k.reach(1); s.State != "waiting" {
					t.Errorf("status %+v, want it to wait for devices", s)
				}
				return
			}
			_, err := zofl(t, args...)
			if err == nil || !strings.Contains(err.Error(), test.refused) ||
				!strings.Contains(err.Error(), "--allow-unsynced") {
				t.Errorf("got %v, want an error with %q that names --allow-unsynced", err,
					test.refused)
			}
			if _, err := zofl(t, "log", "--jetstream", "--url", url, "--run",
				"kitchen"); !errors.As(err, new(cli.AbsentError)) {
				t.Errorf("after that there is a log: %v", err)
			}
		})
	}
}
