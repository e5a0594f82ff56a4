package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A guarded is a nats-server that lets in only users with the permissions that `zofl permissions`
// prints, with the limits that it prints, and records what the server denies.
type guarded struct {
	t      *testing.T
	server *server.Server
	url    string              // without a user
	login  map[string][]string // the flags by which a command is a user

	mu    sync.Mutex
	notes []string
}

// A member is a user of a guarded server.
type member struct {
	name  string
	flags []string // of zofl permissions
}

// Noticef and the others implement [server.Logger].
func (g *guarded) Noticef(string, ...any) {}
func (g *guarded) Warnf(string, ...any)   {}
func (g *guarded) Fatalf(string, ...any)  {}
func (g *guarded) Debugf(string, ...any)  {}
func (g *guarded) Tracef(string, ...any)  {}
func (g *guarded) Errorf(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

// denied returns what the server denied.
func (g *guarded) denied() (denials []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, note := range g.notes {
		if strings.Contains(note, "Violation") {
			denials = append(denials, note)
		}
	}
	return denials
}

// setUps are the ways to set up a server with the printed permissions.
var setUps = map[string]func(*guarded, []member) *server.Options{
	"conf": (*guarded).byConf, "jwt": (*guarded).byJWT,
}

// newGuarded starts a server for users.
func newGuarded(t *testing.T, way string, jetStream bool, members ...member) *guarded {
	t.Helper()
	g := &guarded{t: t, login: map[string][]string{}}
	opts := setUps[way](g, members)
	opts.Host, opts.Port = "127.0.0.1", server.RANDOM_PORT
	opts.NoSigs, opts.SyncAlways = true, true
	opts.JetStream, opts.StoreDir = jetStream, t.TempDir()
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.SetLogger(g, false, false)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	g.server, g.url = s, s.ClientURL()
	for name, login := range g.login {
		if way == "conf" {
			g.login[name] = []string{"--url", strings.Replace(g.url, "://", "://"+name+":pw@", 1)}
		} else {
			g.login[name] = append(login, "--url", g.url)
		}
	}
	return g
}

// A spy receives all messages of a guarded server. The server takes a spy for a responder, so with
// a spy, requests without another responder get no error.
type spy struct {
	t    *testing.T
	mu   sync.Mutex
	news *sync.Cond
	seen map[string]bool // subjects
	stop func()
}

// spyAs begins to listen as a user who may do everything.
func (g *guarded) spyAs(name string) *spy {
	g.t.Helper()
	s := &spy{t: g.t, seen: map[string]bool{}}
	s.news = sync.NewCond(&s.mu)
	nc := g.connect(name)
	s.stop = nc.Close
	if _, err := nc.Subscribe(">", func(m *nats.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.seen[m.Subject] {
			s.seen[m.Subject] = true
			s.news.Broadcast()
		}
	}); err != nil {
		g.t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		g.t.Fatal(err)
	}
	return s
}

// saw waits for messages to subjects that match patterns, which shows that a run needs each granted
// subject.
func (s *spy) saw(patterns ...string) {
	s.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.news.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range patterns {
		for !s.matched(p) {
			if late {
				s.t.Fatalf("nothing was sent to %s in %v: who needs it?", p, patience)
			}
			s.news.Wait()
		}
	}
}

// matched says whether the spy has seen a subject that matches a pattern. The caller holds s.mu.
func (s *spy) matched(pattern string) bool {
	for subject := range s.seen {
		if server.SubjectsCollide(pattern, subject) {
			return true
		}
	}
	return false
}

// printed returns the output of `zofl permissions` for a user of run kitchen.
func (g *guarded) printed(m member, format string) string {
	g.t.Helper()
	if m.flags == nil { // may do everything
		return map[string]string{"conf": "", "jwt": "{}"}[format]
	}
	out, err := zofl(g.t, append([]string{"permissions", "--run", "kitchen", "--format", format},
		m.flags...)...)
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// limits returns the limits that `zofl permissions` prints for a run of 4 devices.
func (g *guarded) limits(format string) string {
	g.t.Helper()
	out, err := zofl(g.t, "permissions", "--limits", "4", "--format", format)
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// byConf pastes the permissions into a configuration.
func (g *guarded) byConf(members []member) *server.Options {
	g.t.Helper()
	var conf strings.Builder
	conf.WriteString(g.limits("conf") + "authorization: {\nusers: [\n")
	for _, m := range members {
		g.login[m.name] = nil
		fmt.Fprintf(&conf, "{ user: %q, password: pw\n%s}\n", m.name, g.printed(m, "conf"))
	}
	conf.WriteString("]\n}\n")
	file := filepath.Join(g.t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(conf.String()), 0o600); err != nil {
		g.t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		g.t.Fatalf("%v:\n%s", err, conf.String())
	}
	return opts
}

// byJWT signs the permissions into users' JWTs.
func (g *guarded) byJWT(members []member) *server.Options {
	g.t.Helper()
	operator, account := g.key(nkeys.CreateOperator()), g.key(nkeys.CreateAccount())
	system, accounts := g.key(nkeys.CreateAccount()), &server.MemAccResolver{}
	for _, a := range []nkeys.KeyPair{account, system} {
		claims := jwt.NewAccountClaims(public(g.t, a))
		if a == account {
			if err := json.Unmarshal([]byte(g.limits("jwt")), &claims.Account); err != nil {
				g.t.Fatal(err)
			}
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1,
				Streams: -1, Consumer: -1}
		}
		text, err := claims.Encode(operator)
		if err == nil {
			err = accounts.Store(public(g.t, a), text)
		}
		if err != nil {
			g.t.Fatal(err)
		}
	}
	trusted := jwt.NewOperatorClaims(public(g.t, operator))
	dir := g.t.TempDir()
	for _, m := range members {
		file := filepath.Join(dir, m.name+".creds")
		g.login[m.name] = []string{"--creds", file}
		g.creds(m, account, file)
	}
	return &server.Options{TrustedOperators: []*jwt.OperatorClaims{trusted},
		AccountResolver: accounts, SystemAccount: public(g.t, system), MaxPayload: 65536}
}

func (g *guarded) key(pair nkeys.KeyPair, err error) nkeys.KeyPair {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
	return pair
}

func public(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// creds writes the file of a user.
func (g *guarded) creds(m member, account nkeys.KeyPair, file string) {
	g.t.Helper()
	user := g.key(nkeys.CreateUser())
	claims := jwt.NewUserClaims(public(g.t, user))
	if err := json.Unmarshal([]byte(g.printed(m, "jwt")), &claims.User); err != nil {
		g.t.Fatal(err)
	}
	text, err := claims.Encode(account)
	if err != nil {
		g.t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		g.t.Fatal(err)
	}
	content, err := jwt.FormatUserConfig(text, seed)
	if err == nil {
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}
