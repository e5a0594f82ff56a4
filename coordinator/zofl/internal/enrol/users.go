package enrol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/plan"
)

// A User is a person or program with credentials.
type User struct {
	Name    string     `json:"name"`
	Role    grant.Role `json:"role"`
	Key     string     `json:"key"` // public: "U..."
	Added   time.Time  `json:"added"`
	Revoked bool       `json:"revoked,omitempty"`
	// Until is when the credentials expire; zero: never.
	Until time.Time `json:"until,omitzero"`
	// Before are the keys of earlier credentials that had not expired when these were made.
	Before []string `json:"before,omitempty"`
	// File is the file to which a command is writing the credentials. It is empty after the command
	// has written them.
	File string `json:"file,omitempty"`
}

// unwritten says whether a command crashed before it wrote the user's credentials, so that nobody
// has them.
func (u *User) unwritten() bool {
	if u.File == "" {
		return false
	}
	info, err := os.Stat(u.File)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// A Card holds what a user needs to take part. Its content is secret.
type Card struct {
	URL, Run, Name string
	JWT            string
	Seed           []byte
	Authority      []byte    // certificate, PEM
	Coordinator    string    // public keys; "": none
	Private        []byte    // of a coordinator: the key with which it signs, PEM; nil: none
	Until          time.Time // when the credentials expire; zero: never
}

func (d *Dir) userFile(name string) string { return filepath.Join("users", name+".json") }

// User returns the user with a name. The error matches [fs.ErrNotExist] if no user has it.
func (d *Dir) User(name string) (u User, err error) {
	if err := plan.CheckName(name); err != nil {
		return u, fmt.Errorf("name: %w", err)
	}
	return u, d.read(d.userFile(name), &u)
}

// Users returns all users, by name.
func (d *Dir) Users() (users []User, err error) {
	files, err := filepath.Glob(d.file("users", "*.json"))
	for _, file := range files {
		var u User
		if err := d.read(filepath.Join("users", filepath.Base(file)), &u); err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	return users, err
}

// Add enrols a user with the permissions of its role. Add can enrol a revoked name again. If the
// user's credentials expire, Add makes new ones, for the same role; those from before stay valid as
// long as they say.
func (d *Dir) Add(role grant.Role, name string) (*Card, error) { return d.AddTo(role, name, "", 0) }

// AddTo enrols a user as Add does, and notes the file for the credentials. Until the caller calls
// Written, AddTo can enrol the name again while the file is missing or empty. The credentials are
// valid for a duration; 0: for ever.
func (d *Dir) AddTo(role grant.Role, name, file string, valid time.Duration) (*Card, error) {
	var until time.Time
	if valid > 0 {
		until = time.Now().Add(valid).UTC().Truncate(time.Second)
	}
	use := grant.Use{Run: d.Run, Dense: d.Dense, Secure: d.Secure, Model: d.Model,
		Recovered: role == grant.Coordinator}
	if role.HasID() {
		use.ID = name
	}
	u, err := d.User(name)
	renewal := err == nil && !u.Revoked && !u.Until.IsZero()
	switch {
	case renewal && u.Role != role:
		return nil, fmt.Errorf("%s has credentials as %s until %s: choose another name, or revoke it "+
			"first", name, u.Role, u.Until.Format(time.DateTime))
	case err == nil && !u.Revoked && !u.unwritten() && !renewal:
		return nil, fmt.Errorf("%s is enrolled since %s, as %s: choose another name, or revoke it "+
			"first", name, u.Added.Format(time.DateOnly), u.Role)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	text, pair, err := d.sign(d.account, role, name, use, until)
	if err != nil {
		return nil, err
	}
	c := &Card{Until: until, URL: d.URL, Run: d.Run, Name: name, JWT: text,
		Coordinator: d.About.Coordinator}
	if c.Authority, err = os.ReadFile(d.file("ca.pem")); err != nil {
		return nil, err
	}
	if c.Seed, err = pair.Seed(); err != nil {
		return nil, err
	}
	if role == grant.Coordinator {
		c.Private, err = os.ReadFile(d.file(KeyFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var before []string
	if renewal && time.Now().Before(u.Until) {
		before = append(u.Before, u.Key)
	}
	u = User{Name: name, Role: role, Added: time.Now().UTC(), File: file, Until: until,
		Before: before}
	if u.Key, err = pair.PublicKey(); err != nil {
		return nil, err
	}
	return c, d.writeJSON(d.userFile(name), u)
}

// Interrupted says whether a command called AddTo for a user and a file, and ended before it wrote
// to the file.
func (d *Dir) Interrupted(name, file string) bool {
	u, err := d.User(name)
	return err == nil && !u.Revoked && u.File == file && u.unwritten()
}

// Written notes that the file of AddTo has the credentials.
func (d *Dir) Written(name string) error {
	u, err := d.User(name)
	if err != nil {
		return err
	}
	u.File = ""
	return d.writeJSON(d.userFile(name), u)
}

// Coordinator returns the NATS option of a new user in the role of coordinator. The directory does
// not store this user, so only this process can use it.
func (d *Dir) Coordinator(use grant.Use) (nats.Option, error) {
	use.Run, use.Dense, use.Secure, use.Model = d.Run, d.Dense, d.Secure, d.Model
	text, pair, err := d.sign(d.account, grant.Coordinator, "zofl serve", use, time.Time{})
	if err != nil {
		return nil, err
	}
	return login(text, pair)
}

// sign makes a key and a signed JWT for a user of an account. The JWT expires at a time; zero:
// never.
func (d *Dir) sign(account nkeys.KeyPair, role grant.Role, name string, use grant.Use,
	until time.Time) (text string, pair nkeys.KeyPair, err error) {
	p, err := grant.For(role, use)
	if err != nil {
		return "", nil, err
	}
	return signUser(account, role, name, p, until)
}

// signUser makes a key and a signed JWT with the limits of a role.
func signUser(account nkeys.KeyPair, role grant.Role, name string, p *jwt.Permissions,
	until time.Time) (text string, pair nkeys.KeyPair, err error) {
	if pair, err = nkeys.CreateUser(); err != nil {
		return "", nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", nil, err
	}
	claims := jwt.NewUserClaims(public)
	claims.Name, claims.Permissions, claims.NatsLimits = name, *p, grant.LimitsOf(role)
	if role.HasID() {
		claims.Tags.Add(limited)
	}
	if !until.IsZero() {
		claims.Expires = until.Unix()
	}
	text, err = claims.Encode(account)
	return text, pair, err
}

// login returns the NATS option with which a connection logs in as a user.
func login(text string, pair nkeys.KeyPair) (nats.Option, error) {
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	return nats.UserJWTAndSeed(text, string(seed)), nil
}

// Revoke withdraws a user's permission. tell sends the account to the running broker, and the
// broker then closes the user's connections. Revoke returns the error of tell. After such an error,
// the revocation takes effect at the broker's next start.
func (d *Dir) Revoke(name string, tell func(account string) error) error {
	u, err := d.User(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: nobody of this name is enrolled", name)
	}
	if err != nil {
		return err
	}
	claims, err := d.accountClaims(d.account)
	if err != nil {
		return err
	}
	for _, key := range append(u.Before, u.Key) {
		claims.RevokeAt(key, forever)
	}
	text, err := claims.Encode(d.operator)
	if err != nil {
		return err
	}
	// The broker stores an account that it receives in the same file. The broker ignores an account
	// that it has already.
	told := tell(text)
	u.Revoked = true
	err = d.write(accountFile(claims.Subject), []byte(text))
	if err == nil {
		err = d.writeJSON(d.userFile(name), u)
	}
	return errors.Join(err, told)
}

// forever is the time of a revocation: it makes all JWTs of a key invalid whose issue time is
// earlier. With the present time instead, a JWT from a machine whose clock ran ahead, such as a
// Raspberry Pi before it has set its clock, would stay valid. Revoking a key forever is safe,
// because no key is ever enrolled twice.
var forever = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// updates is the subject on which a server receives accounts.
const updates = "$SYS.REQ.CLAIMS.UPDATE"

// System returns the options of a connection that may send accounts to the broker, and do nothing
// else.
func (d *Dir) System() ([]nats.Option, error) {
	p := &jwt.Permissions{}
	p.Pub.Allow.Add(updates)
	p.Sub.Allow.Add("_INBOX.>")
	return d.systemUser("zofl device", p)
}

// systemUser returns the options of a connection of a new user of the system account.
func (d *Dir) systemUser(name string, p *jwt.Permissions) ([]nats.Option, error) {
	text, pair, err := signUser(d.system, grant.Operator, name, p, time.Time{})
	if err != nil {
		return nil, err
	}
	user, err := login(text, pair)
	return []nats.Option{user, nats.RootCAs(d.file("ca.pem"))}, err
}

// Tell sends an account to the broker over a connection with the options of [Dir.System].
func Tell(ctx context.Context, nc *nats.Conn, account string) error {
	m, err := nc.RequestWithContext(ctx, updates, []byte(account))
	if err != nil {
		return err
	}
	var answer struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return fmt.Errorf("answer to %s: %w", updates, err)
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Description)
	}
	return nil
}
