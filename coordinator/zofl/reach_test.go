package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// soon is much less than the 45 s after which nobody had said anything. The promise is 5 s; a busy
// machine takes some of the rest.
const soon = 30 * time.Second

// natsServer starts a nats-server with a user and password, or without if the user is empty.
func natsServer(t *testing.T, address, user, password string) *server.Server {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{Host: host, Port: n, NoSigs: true, NoLog: true,
		Username: user, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	return s
}

// lasting returns the command lines of the commands that run for long, at a broker.
func lasting(t *testing.T, url string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--run", "kitchen", "--dim", "3", "--write", plan); err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"serve": {"serve", plan, "--store", filepath.Join(dir, "log"), "--url", url},
		"client": {"client", "--url", url, "--run", "kitchen", "--id", "a", "--objective", "bowl",
			"--dim", "3"},
		"follow": {"follow", "--url", url, "--run", "kitchen", "--id", "w"},
	}
}

// TestUnreachableBroker: commands that run for long say soon, and once, that the broker is not
// there. They say so too when it is, and then that no coordinator is.
func TestUnreachableBroker(t *testing.T) {
	address := freeport.Address(t)
	url := "nats://" + address
	began := time.Now()
	processes := map[string]*process{}
	commands := lasting(t, url)
	commands["serve --jetstream"] = []string{"serve", "--jetstream", "--allow-unsynced", "--run",
		"kitchen", "--url", url}
	for name, args := range commands {
		processes[name] = start(t, args...)
	}
	for name, p := range processes {
		p.says(&p.stderr, "no connection to the broker", address, "connection refused")
		if took := time.Since(began); took > soon {
			t.Errorf("%s said nothing of its broker for %v", name, took)
		}
		if text := p.stderr.String(); strings.Contains(text, "coordinator") {
			t.Errorf("%s speaks of a coordinator without a broker:\n%s", name, text)
		}
	}
	for _, name := range []string{"serve", "serve --jetstream"} {
		if code := processes[name].interrupt(); code != 0 {
			t.Errorf("%s was interrupted: exit code %d", name, code)
		}
	}
	natsServer(t, address, "", "")
	for _, name := range []string{"client", "follow"} {
		p := processes[name]
		p.says(&p.stderr, "connected to the broker", address)
		p.says(&p.stderr, "no coordinator answers", "kitchen", address)
		if n := lines(p.stderr.String(), "connection refused"); n != 1 {
			t.Errorf("%s says %d times why there is no connection:\n%s", name, n, p.stderr.String())
		}
		if code := p.interrupt(); code != 0 {
			t.Errorf("%s was interrupted: exit code %d", name, code)
		}
	}
	code, _, text := runs(t, "status", "--url", url, "--run", "kitchen")
	if code != cli.ExitAbsent ||
		!hasAll(text, []string{"no coordinator answers", "kitchen", address}) {
		t.Errorf("status without a coordinator: exit code %d, %s", code, text)
	}
}

// TestWrongPassword: with a wrong password, an operator's command ends. Commands that run for long
// log that the broker refuses them until it accepts them. No command prints the password.
func TestWrongPassword(t *testing.T) {
	address := freeport.Address(t)
	s := natsServer(t, address, "pi", "strawberry")
	url := "nats://pi:raspberry@" + address
	for _, args := range [][]string{
		{"status"}, {"pause"}, {"resume"}, {"stop"}, {"rollback", "2"}, {"change", "step=1"}, {"log"},
		{"verify"}, {"export", "--out", filepath.Join(t.TempDir(), "x.npy")},
	} {
		args = append(args, "--url", url, "--run", "kitchen")
		_, err := zofl(t, args...)
		refused(t, err, []string{"authorization violation", address, "--creds", "--url"})
		if err != nil && strings.Contains(err.Error(), "raspberry") {
			t.Errorf("%v prints the password: %v", args[0], err)
		}
	}
	processes := map[string]*process{}
	for name, args := range lasting(t, url) {
		processes[name] = start(t, args...)
	}
	began := time.Now()
	for name, p := range processes {
		line := p.says(&p.stderr, "authorization violation", "does not let this user in")
		if took := time.Since(began); took > soon {
			t.Errorf("%s said nothing of its password for %v", name, took)
		}
		if strings.Contains(line, "raspberry") {
			t.Errorf("%s prints its password: %s", name, line)
		}
	}
	s.Shutdown()
	s.WaitForShutdown()
	natsServer(t, address, "pi", "raspberry")
	for name, p := range processes {
		p.says(&p.stderr, "connected to the broker")
		if n := lines(p.stderr.String(), "authorization violation"); n != 1 {
			t.Errorf("%s says %d times that it was not let in:\n%s", name, n, p.stderr.String())
		}
		if code := p.interrupt(); code != 0 {
			t.Errorf("%s was interrupted: exit code %d", name, code)
		}
	}
}

// TestBadAddresses: every command that connects refuses an invalid address at once.
func TestBadAddresses(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://broker:4222", "nats://"}, {"nats://", "host"}, {"nats://:4222", "host"},
		{"nats://a,ftp://b", "ftp://b"}, {"nats://u:p/w%zz@host", "%2F"},
	} {
		for name, args := range lasting(t, c.url) {
			_, err := zofl(t, args...)
			t.Run(name, func(t *testing.T) { refused(t, err, []string{"--url", c.want}) })
		}
		_, err := zofl(t, "status", "--url", c.url, "--run", "kitchen")
		refused(t, err, []string{"--url", c.want})
	}
}

// TestHostNotFound: a name that the network does not know is said as such.
func TestHostNotFound(t *testing.T) {
	code, _, text := runs(t, "status", "--url", "tls://broker.invalid:4222", "--run", "kitchen")
	if code != cli.ExitAbsent || !hasAll(text, []string{"broker.invalid", "not found", "--url"}) {
		t.Errorf("exit code %d, %s", code, text)
	}
}

// TestSilentBroker: a command reports a port that accepts connections and sends nothing as no
// broker.
func TestSilentBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	p := start(t, lasting(t, "nats://"+l.Addr().String())["client"]...)
	p.says(&p.stderr, "no connection to the broker", "timeout", "firewalls")
	if took := time.Since(began); took > soon {
		t.Errorf("nothing was said for %v", took)
	}
}

// TestFilesOfAConnection: a command refuses at once a file without the content that its flag needs.
func TestFilesOfAConnection(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{
		{"--creds", none}, {"--nkey", none}, {"--tls-ca", none}, {"--tls-cert", none, "--tls-key", none},
		{"--creds", "reach_test.go"}, {"--nkey", "reach_test.go"}, {"--tls-ca", "reach_test.go"},
		{"--tls-key", "reach_test.go", "--tls-cert", "reach_test.go"}, // others can read it
		{"--tls-key", none, "--tls-cert", "reach_test.go"},
	} {
		command := []string{"status", "--url", "nats://127.0.0.1:1", "--run", "r"}
		_, err := zofl(t, append(command, args...)...)
		refused(t, err, args[:2])
	}
	_, err := zofl(t, "status", "--url", "nats://127.0.0.1:1", "--run", "r", "--creds", none, "--nkey",
		none)
	refused(t, err, []string{"--creds", "--nkey", "only one"})
}
