package mobile

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/client/mobile"
)

// An operator signs the account that a server in operator mode trusts. The account signs its users.
type operator struct {
	t       *testing.T
	pair    nkeys.KeyPair
	account nkeys.KeyPair
	claims  *jwt.AccountClaims
	server  *server.Server
}

// newOperatorSite starts a server in operator mode, where users have credentials files.
func newOperatorSite(t *testing.T) (*site, *operator) {
	t.Helper()
	s := &site{t: t, authority: newAuthority(t)}
	o := &operator{t: t, pair: must(nkeys.CreateOperator())(t),
		account: must(nkeys.CreateAccount())(t)}
	o.claims = jwt.NewAccountClaims(public(t, o.account))
	accounts := &server.MemAccResolver{}
	if err := accounts.Store(public(t, o.account), o.signed()); err != nil {
		t.Fatal(err)
	}
	o.server = serve(t, &server.Options{
		TLS: true, TLSConfig: s.authority.server(), TLSTimeout: patience.Seconds(),
		TrustedKeys: []string{public(t, o.pair)}, AccountResolver: accounts,
	})
	s.url = o.server.ClientURL()
	ours, seed, _ := o.user(func(*jwt.UserClaims) {})
	s.ours.key = nats.UserJWTAndSeed(ours, seed)
	return s, o
}

// must fails the test on an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func public(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	return must(pair.PublicKey())(t)
}

// signed returns the account's token.
func (o *operator) signed() string {
	o.t.Helper()
	return must(o.claims.Encode(o.pair))(o.t)
}

// user makes a user with edited claims, and returns its token, seed and name.
func (o *operator) user(edit func(*jwt.UserClaims)) (token, seed, name string) {
	o.t.Helper()
	pair := must(nkeys.CreateUser())(o.t)
	claims := jwt.NewUserClaims(public(o.t, pair))
	edit(claims)
	token = must(claims.Encode(o.account))(o.t)
	return token, string(must(pair.Seed())(o.t)), claims.Subject
}

// file returns the credentials file of a user, as nsc writes it.
func (o *operator) file(token, seed string) string {
	o.t.Helper()
	return string(must(jwt.FormatUserConfig(token, []byte(seed)))(o.t))
}

// revoke revokes a user's token on the server.
func (o *operator) revoke(name string) {
	o.t.Helper()
	o.claims.Revoke(name)
	account := must(o.server.LookupAccount(o.claims.Subject))(o.t)
	o.server.UpdateAccountClaims(account, must(jwt.DecodeAccountClaims(o.signed()))(o.t))
}

// TestLiveCredentials runs a client with the text of a credentials file. Only the token and a
// signature leave the device.
func TestLiveCredentials(t *testing.T) {
	t.Parallel()
	s, o := newOperatorSite(t)
	l := s.lead(testPlan(t, "creds", 100, 2, 2, 10))
	token, seed, _ := o.user(func(*jwt.UserClaims) {})
	phones := []*phone{}
	for id, text := range map[string]string{
		"unix":    o.file(token, seed),
		"windows": strings.ReplaceAll(o.file(token, seed), "\n", "\r\n"),
	} {
		s.app.seed = text
		phones = append(phones, s.phone("creds", id, 100))
	}
	for _, p := range phones {
		p.returned("")
		l.agrees(p.Client, p.id)
		p.alone()
	}
}

// TestLiveCredentialsLost checks that the client reports an expired or revoked user as a fault,
// before and during a run. Run continues, because somebody may correct the user. With other
// credentials the app continues where it stopped.
func TestLiveCredentialsLost(t *testing.T) {
	t.Parallel()
	s, o := newOperatorSite(t)
	fresh, freshSeed, _ := o.user(func(*jwt.UserClaims) {})
	for name, tt := range map[string]struct {
		edit   func(*jwt.UserClaims)
		life   time.Duration // until it expires; longer if that is too short to take part
		revoke bool          // after it took part
		before bool          // before it takes part
	}{
		"expires": {life: 4 * time.Second},
		"revoked": {edit: func(*jwt.UserClaims) {}, revoke: true},
		"expired": {edit: func(c *jwt.UserClaims) {
			c.Expires = time.Now().Add(-time.Minute).Unix()
		}, before: true},
		"others' user": {edit: func(c *jwt.UserClaims) {
			c.IssuerAccount = public(t, must(nkeys.CreateAccount())(t))
		}, before: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := *s
			at.t = t
			run := strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "'", "")
			at.lead(testPlan(t, run, 100, 1, 1, 1_000_000))
			dir := t.TempDir()
			stored := func(c *mobile.Config) { c.StateDir = dir }
			var p *phone
			var token, seed, user string
			for life := tt.life; ; life *= 2 {
				edit := tt.edit
				if tt.life > 0 {
					edit = func(c *jwt.UserClaims) { c.Expires = time.Now().Add(life).Unix() }
				}
				token, seed, user = o.user(edit)
				at.app.seed = o.file(token, seed)
				p = at.phone(run, "phone", 100, stored)
				if tt.before {
					break
				}
				p.until("some rounds", func() bool {
					return p.Contributions() > 5 || tt.life > 0 && len(p.ear.said(mobile.CodeUnauthorized)) > 0
				})
				if p.Contributions() > 5 {
					break
				}
				p.stopped() // this machine was too slow for that lifetime
				if life > patience {
					t.Fatalf("no part in rounds in %v of life, but told %q", life, p.ear.all())
				}
			}
			if tt.revoke {
				o.revoke(user)
			}
			p.faulted(mobile.CodeUnauthorized)
			p.until("offline", func() bool { return p.State() == mobile.StateOffline })
			p.stopped()
			p.alone()
			for _, f := range p.ear.all() {
				if strings.Contains(f, seed) || strings.Contains(f, token) {
					t.Errorf("told %q, which contains a secret", f)
				}
			}
			at.app.seed = o.file(fresh, freshSeed)
			next := at.phone(run, "phone", 100, stored)
			next.until("some rounds", func() bool { return next.Contributions() > 5 })
			if next.Record() < p.Record() {
				t.Errorf("continues at record %d, want %d or later", next.Record(), p.Record())
			}
			next.stopped()
		})
	}
}
