package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/client/enroll"
	"github.com/zofl/zofl/internal/textfile"
	"github.com/zofl/zofl/wire/signed"
)

// Credentials are the secrets that a device shows to the run's broker, and the authorities that it
// trusts there.
type Credentials struct {
	URL, Run, ID string // of a line
	Card         *enroll.Card
	JWT, Seed    string         // "": none
	Roots        *x509.CertPool // nil: the system's
	Keys         signed.Keys    // the coordinator's
}

// ReadCredentials reads the line of zofl device add --qr, the file of zofl device add, or
// certificates alone. Errors do not contain any part of the secrets.
func ReadCredentials(b []byte) (c Credentials, err error) {
	b = textfile.UTF8(b)
	text := strings.TrimSpace(string(b))
	if text == "" {
		return c, errors.New("it is empty")
	}
	if strings.HasPrefix(text, enroll.Start) {
		return readLine(text)
	}
	if c.Keys, err = signed.KeysIn(text); err != nil {
		return c, err
	}
	roots := x509.NewCertPool()
	if roots.AppendCertsFromPEM(b) {
		c.Roots = roots
	}
	if !bytes.Contains(b, []byte("USER JWT")) {
		if c.Roots == nil {
			return c, errors.New("it has neither a user's credentials nor certificates in PEM")
		}
		return c, nil
	}
	if c.JWT, err = nkeys.ParseDecoratedJWT(b); err != nil {
		return c, errors.New("its JWT cannot be read")
	}
	pair, err := nkeys.ParseDecoratedUserNKey(b)
	if err != nil {
		return c, errors.New("its seed cannot be read: " + err.Error())
	}
	seed, err := pair.Seed()
	c.Seed = string(seed)
	return c, err
}

func readLine(text string) (c Credentials, err error) {
	if c.Card, err = enroll.Parse(text); err != nil {
		return c, err
	}
	if _, err := nkeys.FromSeed([]byte(c.Card.Seed)); err != nil {
		return c, errors.New("the line's seed cannot be read: take the line again")
	}
	c.URL, c.Run, c.ID = c.Card.URL, c.Card.Run, c.Card.ID
	c.JWT, c.Seed = c.Card.JWT, c.Card.Seed
	c.Keys, err = signed.ParseKeys(c.Card.Key)
	return c, err
}

// trusts reports whether the credentials name the authority that must have signed the broker's
// certificate.
func (c *Credentials) trusts() bool { return c.Roots != nil || c.Card != nil }

// Options returns the options of a connection to these servers.
func (c *Credentials) Options(servers string) (opts []nats.Option) {
	switch {
	case c.Card != nil:
		opts = append(opts, nats.Secure(enroll.TLS(c.Card.Authority, hosts(servers)...)))
	case c.Roots != nil || strings.HasPrefix(servers, "tls://"):
		opts = append(opts, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots}))
	}
	if c.JWT != "" {
		opts = append(opts, nats.UserJWTAndSeed(c.JWT, c.Seed))
	}
	return opts
}

// hosts returns the names of servers.
func hosts(servers string) (names []string) {
	for s := range strings.SplitSeq(servers, ",") {
		if u, err := url.Parse(strings.TrimSpace(s)); err == nil {
			names = append(names, u.Hostname())
		}
	}
	return names
}

// EnrolledTo is the file to which enroll writes the credentials, and from which the service reads
// them.
const EnrolledTo = "/etc/zofl-sensor/user.creds"

// Enroll writes the line or the file of zofl device add to a file of mode 0600. If Enroll fails,
// an existing file is unchanged.
func Enroll(given, to string, out io.Writer) error {
	text, from, err := takeGiven(given)
	if err != nil {
		return &FieldError{"enroll", "", "give the line of zofl device add NAME --qr, in quotes, or " +
			"its file, or - and the line on standard input: " + err.Error()}
	}
	c, err := ReadCredentials(text)
	if err == nil && c.JWT == "" {
		err = errors.New("it has certificates alone")
	}
	if err != nil {
		return &FieldError{"enroll", "", from + " is not what zofl device add made: " + err.Error()}
	}
	if err := writeSecret(to, append(bytes.TrimSpace(text), '\n')); err != nil {
		return err
	}
	who := "this device"
	if c.Card != nil {
		who = fmt.Sprintf("this device, as %s, in run %s at %s,", c.ID, c.Run, Redact(c.URL))
	}
	_, err = fmt.Fprintf(out, "%s may take part with %s\n", who, to)
	return err
}

// takeGiven returns the text given to enroll, and its kind.
func takeGiven(given string) (text []byte, from string, err error) {
	switch {
	case strings.HasPrefix(strings.TrimSpace(given), enroll.Start):
		return []byte(given), "the line", nil
	case given == "-":
		text, err = io.ReadAll(io.LimitReader(os.Stdin, 1<<16))
		return text, "standard input", err
	}
	text, err = os.ReadFile(given)
	return text, given, err
}

// writeSecret replaces a file, which its owner alone can read.
func writeSecret(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".user.creds-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // which fails once it is renamed
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
