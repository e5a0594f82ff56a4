package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// configured starts a nats-server with a configuration, whose DIR is a directory of the test.
func configured(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "server.conf")
	text = strings.ReplaceAll(text, "DIR", dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return brokerOf(t, opts)
}

// kitchenPlan writes a plan, and returns its file.
func kitchenPlan(t *testing.T, more ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	args := append([]string{"plan", "--run", "kitchen", "--preset", "decomfl", "--dim", "10",
		"--set", "members=1", "--set", "target=1", "--set", "quorum=1", "--set", "rounds=5",
		"--write", file}, more...)
	if _, err := zofl(t, args...); err != nil {
		t.Fatal(err)
	}
	return file
}

// account is a configuration with one user, a, whose account has some limits in JetStream.
func account(limits string) string {
	return fmt.Sprintf(`jetstream { store_dir: "DIR", max_file_store: 100MB }
accounts { A { users: [{user: a, password: a}], jetstream: %s } }`, limits)
}

// inJetStream starts serve with its log in the JetStream of a broker with a user.
func inJetStream(t *testing.T, url, plan string, more ...string) *process {
	t.Helper()
	args := []string{"serve", plan, "--jetstream", "--allow-unsynced", "--url",
		strings.Replace(url, "nats://", "nats://a:a@", 1)}
	return start(t, append(args, more...)...)
}

// The broker's refusals that waiting does not cure, and that a person can: serve ends at once and
// says what to do. docs/recover.md lists them.
var refusals = []struct {
	name, conf string
	more       []string
	want       []string
}{
	{"an account wants max_bytes",
		account("{max_file: 10MB, max_memory: 0, max_streams: 9, max_bytes_required: true}"),
		nil, []string{"--max-bytes 64MiB"}},
	{"a stream is longer than the account lets it be",
		account("{max_file: 90MB, max_memory: 0, store_max_stream_bytes: 2MB}"),
		[]string{"--max-bytes", "3MiB"}, []string{"--max-bytes", "at most"}},
	{"streams are longer than the account",
		account("{max_file: 3MB, max_memory: 0}"),
		[]string{"--max-bytes", "1MiB"}, []string{"raise the storage", "--max-bytes"}},
	{"the account has too few streams",
		account("{max_file: 90MB, max_memory: 0, max_streams: 2}"),
		nil, []string{"raise max_streams", "needs 5"}},
	{"the account is full",
		account("{max_file: 100, max_memory: 0}"),
		nil, []string{"resource limits exceeded", "raise max_file"}},
	{"the server has a limit that no flag of zofl changes",
		`jetstream { store_dir: "DIR", limits: {duplicate_window: "1s"} }
accounts { A { users: [{user: a, password: a}], jetstream: enabled } }`,
		nil, []string{"duplicates window", "raise duplicate_window", "to 2m"}},
	{"one server, three replicas",
		account("enabled"), []string{"--replicas", "3"}, []string{"--replicas 1", "cluster"}},
	{"the account has no JetStream",
		account("disabled"), nil, []string{"account", "no JetStream", "enable"}},
	{"the broker has no JetStream",
		`accounts { A { users: [{user: a, password: a}] } }`,
		nil, []string{"no JetStream", "store_dir"}},
	{"the user may not publish to JetStream",
		`jetstream { store_dir: "DIR" }
accounts { A { jetstream: enabled, users: [{user: a, password: a, permissions: {
  publish: {deny: ["$JS.>"]}}}] } }`,
		nil, []string{"denied", "$JS.API", "zofl permissions --role coordinator"}},
	{"the user gets no answers",
		`jetstream { store_dir: "DIR" }
accounts { A { jetstream: enabled, users: [{user: a, password: a, permissions: {
  subscribe: {deny: ["_INBOX.>", "_INBOX_zofl.>"]}}}] } }`,
		nil, []string{"denied", "_INBOX", "zofl permissions --role coordinator"}},
}

func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := inJetStream(t, configured(t, tt.conf), kitchenPlan(t), tt.more...)
			select {
			case <-p.done:
			case <-time.After(soon):
				t.Fatalf("serve has not ended in %v, want %q:\n%s", soon, tt.want, p.stderr.String())
			}
			said := p.stderr.String()
			if code := p.exited(); code == 0 || !hasAll(said, tt.want) {
				t.Errorf("exit code %d, want %q:\n%s", code, tt.want, said)
			}
			if strings.Contains(said, "does not answer") {
				t.Errorf("serve says that the broker does not answer:\n%s", said)
			}
		})
	}
}

// TestRefusedAnnouncements: if the broker lets nobody publish announcements, serve ends once it has
// tried, and names the subject.
func TestRefusedAnnouncements(t *testing.T) {
	url := strings.Replace(configured(t, `accounts { A { users: [{user: a, password: a, permissions: {
  publish: {deny: ["zo.kitchen.a.>"]}}}] } }`), "//", "//a:a@", 1)
	p := start(t, "serve", kitchenPlan(t, "--set", "reannounce=1000"), "--store",
		filepath.Join(t.TempDir(), "log"), "--url", url)
	p.says(&p.stderr, "leading")
	start(t, "client", "--url", url, "--run", "kitchen", "--id", "d", "--objective", "bowl", "--dim",
		"10", "--quiet")
	want := []string{"denied", "zo.kitchen.a.0", "zofl permissions --role coordinator"}
	if code, said := p.exited(), p.stderr.String(); code == 0 || !hasAll(said, want) {
		t.Errorf("exit code %d, want %q:\n%s", code, want, said)
	}
}

// TestRefusedSubscriptions: if the broker refuses a coordinator's subscriptions, serve ends, and
// says how many subscriptions it needs, or which one the broker refused.
func TestRefusedSubscriptions(t *testing.T) {
	for limit, want := range map[string][]string{
		"max_subscriptions: 3": {"max_subscriptions", "needs"},
		`accounts { A { users: [{user: a, password: a, permissions: {
  subscribe: {deny: ["zo.kitchen.j.*"]}}}] } }`: {"denied", "zo.kitchen.j.*", "zofl permissions"},
		`accounts { A { users: [{user: a, password: a, permissions: {
  subscribe: {deny: ["zo.kitchen.p.>"]}}}] } }`: {"denied", "zo.kitchen.p", "zofl permissions"},
	} {
		p := start(t, "serve", kitchenPlan(t), "--store", filepath.Join(t.TempDir(), "log"), "--url",
			strings.Replace(configured(t, limit), "//", "//a:a@", 1))
		if code, said := p.exited(), p.stderr.String(); code == 0 || !hasAll(said, want) {
			t.Errorf("%s: exit code %d, want %q:\n%s", limit, code, want, said)
		}
	}
}

// TestNarrowJetStream: a broker that accepts only short messages can store a log, including the
// vectors of a dense run.
func TestNarrowJetStream(t *testing.T) {
	for preset, most := range map[string]string{"decomfl": "4000", "fedzo-dense": "20000"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			url := configured(t, "max_payload: "+most+"\n"+account("enabled"))
			plan := kitchenPlan(t, "--preset", preset, "--dim", "10000")
			p := inJetStream(t, url, plan)
			p.says(&p.stderr, "leading")
			code, _, said := runs(t, "client", "--url", strings.Replace(url, "//", "//a:a@", 1), "--run",
				"kitchen", "--id", "d", "--objective", "bowl", "--dim", "10000", "--quiet")
			if code != 0 {
				t.Errorf("exit code %d: %s\nserve:\n%s", code, said, p.stderr.String())
			}
		})
	}
}

// TestMaxBytes: if an account demands a size limit of each stream, every stream of a run has one,
// even streams that a later serve makes.
func TestMaxBytes(t *testing.T) {
	url := configured(t, account("{max_file: 10MB, max_memory: 0, max_streams: 9, "+
		"max_bytes_required: true}"))
	plan := kitchenPlan(t)
	p := inJetStream(t, url, plan, "--max-bytes", "1MiB", "--linger", "1ms")
	p.says(&p.stderr, "leading")
	if code, _, said := runs(t, "client", "--url", strings.Replace(url, "//", "//a:a@", 1), "--run",
		"kitchen", "--id", "d", "--objective", "bowl", "--dim", "10", "--quiet"); code != 0 {
		t.Errorf("device: exit code %d: %s", code, said)
	}
	if code := p.exited(); code != 0 || strings.Contains(p.stderr.String(), "max bytes") {
		t.Errorf("exit code %d:\n%s", code, p.stderr.String())
	}
	nc, err := nats.Connect(url, nats.UserInfo("a", "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for info := range js.ListStreams(t.Context()).Info() {
		if found++; info.Config.MaxBytes != 1<<20 {
			t.Errorf("%s has max_bytes %d", info.Config.Name, info.Config.MaxBytes)
		}
	}
	if found != 5 {
		t.Errorf("%d streams, want 5", found)
	}
}
