package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// An enrolled is a kitchen whose broker zofl serve started with users and TLS.
type enrolled struct {
	*kitchen
	auth string
}

func newEnrolled(t *testing.T, serve ...string) *enrolled {
	t.Helper()
	return newEnrolledFor(t, nil, serve...)
}

// newEnrolledFor is newEnrolled with flags of the plan.
func newEnrolledFor(t *testing.T, plan []string, serve ...string) *enrolled {
	t.Helper()
	address, dir := freeport.Address(t), t.TempDir()
	k := &enrolled{&kitchen{t: t, dir: dir, url: "tls://" + address, log: filepath.Join(dir, "log"),
		plan: filepath.Join(dir, "plan.json")}, filepath.Join(dir, "auth")}
	(&guardedKitchen{kitchen: k.kitchen}).newPlan(plan...)
	k.lead = background(t, append([]string{"serve", k.plan, "--store", k.log, "--listen", address,
		"--tls", "--auth", k.auth, "--witness", "w", "--json"}, serve...)...)
	k.await()
	return k
}

// await waits until the broker has its users.
func (k *enrolled) await() {
	k.t.Helper()
	waitFor(k.t, k.lead, `"event":"waiting"`)
}

// add enrols a user and returns its flags.
func (k *enrolled) add(name, role string) []string {
	k.t.Helper()
	file := filepath.Join(k.t.TempDir(), name+".creds")
	if out, err := zofl(k.t, "device", "add", name, "--auth", k.auth, "--role", role, "--out",
		file); err != nil || !strings.Contains(out, file) || !strings.Contains(out, k.url) {
		k.t.Fatalf("device add %s: %v: %s", name, err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		k.t.Errorf("%s: %v, %v, want it for its owner only", file, info.Mode(), err)
	}
	return []string{"--url", k.url, "--creds", file, "--run", "kitchen"}
}

func (k *enrolled) member(id string, login []string) *service {
	k.t.Helper()
	return background(k.t, append([]string{"client", "--id", id, "--json", "--objective", "bowl",
		"--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, id)}, login...)...)
}

// recordsReach waits until an operator sees record n.
func (k *enrolled) recordsReach(operator []string, n uint64) (s struct{ N, Present uint64 }) {
	k.t.Helper()
	for {
		out, err := zofl(k.t, append([]string{"status", "--json"}, operator...)...)
		if errors.As(err, new(cli.AbsentError)) {
			continue // its coordinator has just begun
		}
		if err != nil {
			k.t.Fatal(err)
		}
		if decode(k.t, out, &s); s.N >= n {
			return s
		}
	}
}

// TestEnrolment: devices, a witness and an operator take part with one creds file each. The broker
// refuses a revoked device while the run goes on, and after the broker's restart.
func TestEnrolment(t *testing.T) {
	k := newEnrolled(t)
	operator := k.add("alice", "operator")
	w := background(t, append([]string{"follow", "--id", "w", "--json"}, k.add("w", "witness")...)...)
	loginB := k.add("b", "device")
	a := k.member("a", k.add("a", "device"))
	b := k.member("b", loginB)
	k.recordsReach(operator, 20)
	thief := k.connect(loginB[3])
	if out, err := zofl(t, "device", "revoke", "b", "--auth", k.auth); err != nil ||
		!strings.Contains(out, "b is shut out") {
		t.Fatalf("revoke: %v: %s", err, out)
	}
	<-thief.closed // by the broker
	k.shutOut(loginB)
	n := k.recordsReach(operator, 0).N
	k.recordsReach(operator, n+8) // with a alone: the quorum is 1

	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, "serve", "--store", k.log, "--listen", strings.TrimPrefix(k.url, "tls://"),
		"--tls", "--auth", k.auth, "--json")
	waitFor(t, k.lead, `"event":"round"`)
	k.shutOut(loginB)
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	again := k.add("b", "device") // under a new key
	k.member("b", again)
	k.recordsReach(operator, n+20)
	if _, err := zofl(t, append([]string{"stop"}, operator...)...); err != nil {
		t.Error(err)
	}
	waitFor(t, a, `"event":"stopped"`)
	waitFor(t, w, `"event":"stopped"`)
}

// TestEnrolmentWithJetStream: with the log in the broker's JetStream, enrolled devices take part
// and evaluate, and an operator retires a device. The run goes on after a restart of the
// coordinator and its broker. A device cannot access JetStream.
func TestEnrolmentWithJetStream(t *testing.T) {
	digits := []string{"--dim", "7850", "--set", `metrics=["loss","accuracy"]`, "--set",
		"eval_every=2", "--set", "eval_count=2", "--set", "deadline=10000"}
	k := newEnrolledFor(t, digits, "--jetstream")
	operator := k.add("alice", "operator")
	device := func(id string) (*service, []string) {
		login := k.add(id, "device")
		return background(t, append([]string{"client", "--id", id, "--json", "--objective", "digits",
			"--store", filepath.Join(k.dir, id)}, login...)...), login
	}
	a, _ := device("a")
	b, login := device("b")
	waitFor(t, k.lead, `"event":"evaluated"`)
	waitFor(t, k.lead, `"names":["loss","accuracy"]`)
	if out, err := zofl(t, append([]string{"status"}, operator...)...); err != nil ||
		!strings.Contains(out, ", accuracy 0.") {
		t.Errorf("status has no metric by its name: %v: %s", err, out)
	}
	thief := k.connect(login[3])
	for _, subject := range []string{"$JS.API.INFO", "$JS.API.STREAM.NAMES", "zo.kitchen.h",
		"$KV.zofl.lease"} {
		if mayPublish(t, thief.Conn, subject) {
			t.Errorf("a device may publish %s", subject)
		}
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if out, err := zofl(t, append([]string{"retire", "b"}, operator...)...); err != nil {
		t.Fatalf("retire: %v: %s", err, out)
	}
	waitFor(t, k.lead, `"event":"retired"`)
	n := k.recordsReach(operator, k.recordsReach(operator, 0).N+6).N
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, "serve", "--run", "kitchen", "--store", k.log, "--jetstream", "--listen",
		strings.TrimPrefix(k.url, "tls://"), "--tls", "--auth", k.auth, "--json")
	waitFor(t, k.lead, `"event":"evaluated"`)
	k.recordsReach(operator, n+6)
	rounds, evaluated := historyOf(t, operator...), 0
	for _, p := range rounds.Points {
		if p.N <= n && p.Evaluation != nil && p.Evaluation.Metrics["accuracy"] != nil {
			evaluated++
		}
	}
	if evaluated == 0 {
		t.Errorf("the history of two coordinators has no accuracy of the first: %+v", rounds)
	}
	if _, err := zofl(t, append([]string{"stop"}, operator...)...); err != nil {
		t.Error(err)
	}
	waitFor(t, a, `"event":"stopped"`)
}

// A session is a connection of a user whom the broker may disconnect.
type session struct {
	*nats.Conn
	closed chan struct{}
}

func (k *enrolled) connect(creds string) *session {
	k.t.Helper()
	s := &session{closed: make(chan struct{})}
	var err error
	s.Conn, err = nats.Connect(k.url, nats.UserCredentials(creds), nats.RootCAs(creds),
		nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(s.closed) }))
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(s.Close)
	return s
}

// shutOut checks that the broker refuses a user.
func (k *enrolled) shutOut(login []string) {
	k.t.Helper()
	_, err := zofl(k.t, append([]string{"log"}, login...)...)
	if cli.ExitCode(err, false) != cli.ExitUsage || !strings.Contains(err.Error(), "--creds") {
		k.t.Errorf("who was revoked got %v", err)
	}
}

// TestStrangersStayOut: a client that does not trust the authority, has no user, or claims another
// device's id receives nothing.
func TestStrangersStayOut(t *testing.T) {
	k := newEnrolled(t)
	login := k.add("a", "device")
	if nc, err := nats.Connect(k.url, nats.UserCredentials(login[3])); err == nil {
		nc.Close()
		t.Error("a certificate of an unknown authority was trusted")
	}
	for name, opts := range map[string][]nats.Option{
		"nobody": nil, "a user of a password": {nats.UserInfo("a", "a")},
	} {
		nc, err := nats.Connect(k.url, append(opts, nats.RootCAs(login[3]))...)
		if err == nil {
			nc.Close()
			t.Errorf("%s got in", name)
		}
	}
	a := k.connect(login[3])
	for subject, may := range map[string]bool{"zo.kitchen.p.0.a": true, "zo.kitchen.p.0.b": false,
		"zo.kitchen.o.stop": false, "$SYS.REQ.CLAIMS.UPDATE": false, "zo.kitchen.u.a": false} {
		if mayPublish(t, a.Conn, subject) != may {
			t.Errorf("a may publish %s: %v, want %v", subject, !may, may)
		}
	}
}

// TestEnrolledConfiguration: a separate nats-server runs with the configuration that serve wrote,
// and has the same users.
func TestEnrolledConfiguration(t *testing.T) {
	k := newEnrolled(t)
	login := k.add("a", "device")
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(filepath.Join(k.auth, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	opts.NoSigs, opts.NoLog = true, true
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	lead := k.add("lead", "coordinator")
	k.lead = background(t, append([]string{"serve", "--store", k.log}, lead[:4]...)...)
	operator := k.add("alice", "operator")
	k.member("b", k.add("b", "device"))
	k.member("c", k.add("c", "device"))
	k.recordsReach(operator, 5)
	a := k.connect(login[3])
	if _, err := zofl(t, "device", "revoke", "a", "--auth", k.auth); err != nil {
		t.Fatal(err)
	}
	<-a.closed
}

// TestRevokeWithoutBroker: a revocation without a running broker takes effect at the broker's next
// start, and the exit code says so.
func TestRevokeWithoutBroker(t *testing.T) {
	k := newEnrolled(t)
	login := k.add("a", "device")
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	_, err := zofl(t, "device", "revoke", "a", "--auth", k.auth)
	if cli.ExitCode(err, false) != cli.ExitAbsent || !strings.Contains(err.Error(), "next start") {
		t.Errorf("without a broker: %v", err)
	}
	b, err := broker.Run(broker.Config{Conf: filepath.Join(k.auth, "nats.conf")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	k.shutOut(login)
}

// TestLineOfAPhone: a phone that has only the line connects to the broker, and trusts no other
// broker.
func TestLineOfAPhone(t *testing.T) {
	k := newEnrolled(t)
	out, err := zofl(t, "device", "add", "phone", "--auth", k.auth, "--qr")
	if err != nil || !strings.Contains(out, "█") {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	u, err := url.Parse(lines[len(lines)-1])
	if err != nil || u.Scheme != "zofl" {
		t.Fatalf("%v in %q", err, lines[len(lines)-1])
	}
	q := u.Query()
	if q.Get("v") != "1" || q.Get("url") != k.url || q.Get("run") != "kitchen" ||
		q.Get("id") != "phone" {
		t.Errorf("line %v", q)
	}
	verify := func(s tls.ConnectionState) error {
		ca := s.PeerCertificates[len(s.PeerCertificates)-1]
		if sum := sha256.Sum256(ca.Raw); base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("ca") {
			return errors.New("another authority")
		}
		roots := x509.NewCertPool()
		roots.AddCert(ca)
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"})
		return err
	}
	trust := &tls.Config{InsecureSkipVerify: true, VerifyConnection: verify}
	nc, err := nats.Connect(q.Get("url"), nats.UserJWTAndSeed(q.Get("jwt"), q.Get("seed")),
		nats.Secure(trust))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if !mayPublish(t, nc, "zo.kitchen.j.phone") || mayPublish(t, nc, "zo.kitchen.j.other") {
		t.Error("the phone may not exactly what it should")
	}
}

func TestEnrolmentRefuses(t *testing.T) {
	k := newEnrolled(t)
	k.add("a", "device")
	dir := t.TempDir()
	file, creds := filepath.Join(dir, "x.creds"), existing(t, "there.creds")
	for _, c := range []struct{ args, want []string }{
		{[]string{"device", "add", "a", "--auth", k.auth, "--out", file}, []string{"enrolled", "revoke"}},
		{[]string{"device", "add", "b", "--auth", k.auth, "--out", creds}, []string{"--out", "new file"}},
		{[]string{"device", "add", "a.b", "--auth", k.auth, "--out", file}, []string{"a.b"}},
		{[]string{"device", "add", "zofl", "--auth", k.auth, "--out", file}, []string{"zofl"}},
		{[]string{"device", "add", "--auth", k.auth}, []string{"0 names"}},
		{[]string{"device", "add", "b"}, []string{"--auth"}},
		{[]string{"device", "add", "b", "--auth", dir, "--out", file}, []string{dir, "zofl serve"}},
		{[]string{"device", "add", "b", "--auth", k.auth, "--qr", "--out", file},
			[]string{"--qr", "--out"}},
		{[]string{"device", "add", "b", "--auth", k.auth, "--role", "king", "--out", file},
			[]string{"king"}},
		{[]string{"device", "revoke", "nobody", "--auth", k.auth}, []string{"nobody"}},
		{[]string{"device", "frob"}, []string{"frob"}},
		{[]string{"serve", k.plan, "--store", dir, "--tls"}, []string{"--tls", "--auth"}},
		{[]string{"serve", k.plan, "--store", dir, "--auth", k.auth}, []string{"--tls", "--auth"}},
		{[]string{"serve", k.plan, "--store", dir, "--host", "x"}, []string{"--host", "--auth"}},
		{[]string{"serve", k.plan, "--store", dir, "--tls", "--auth", k.auth, "--listen", "0.0.0.0:0"},
			[]string{"--listen", "port"}},
		{[]string{"serve", k.plan, "--store", dir, "--tls", "--auth", k.auth, "--url", k.url},
			[]string{"--tls", "--auth", "--url"}},
	} {
		_, err := zofl(t, c.args...)
		t.Run(strings.Join(c.args[:2], " "), func(t *testing.T) { refused(t, err, c.want) })
	}
	if _, err := os.Stat(file); err == nil {
		t.Errorf("%s was made for who was refused", file)
	}
	other := filepath.Join(dir, "other.json")
	if _, err := zofl(t, "plan", "--run", "pantry", "--dim", "3", "--write", other); err != nil {
		t.Fatal(err)
	}
	if _, err := zofl(t, "serve", other, "--store", filepath.Join(dir, "log"), "--tls", "--auth",
		k.auth, "--listen", freeport.Address(t)); err == nil || !strings.Contains(err.Error(),
		"pantry") || !strings.Contains(err.Error(), "kitchen") {
		t.Errorf("the users of another run: %v", err)
	}
}

// A device refuses another device's directory of state.
func TestStoreOfAnotherDevice(t *testing.T) {
	k := newKitchen(t)
	d := k.device("d0")
	k.device("d1")
	k.reach(4)
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	_, err := zofl(t, "client", "--url", k.url, "--run", "kitchen", "--id", "d9", "--objective",
		"bowl", "--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, "d0"))
	refused(t, err, []string{"--store", "device d0, not of d9"})
}
