package main

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
	"github.com/zofl/zofl/wire/signed"
)

// Credentials are what a device shows to the run's broker, and whom it trusts there.
type credentials struct {
	url, run, id string // of a line
	card         *enroll.Card
	jwt, seed    string         // "": none
	roots        *x509.CertPool // nil: the system's
	keys         signed.Keys    // the coordinator's
}

// readCredentials reads the line of zofl device add --qr, the file of zofl device add, or
// certificates alone. Errors show nothing of it.
func readCredentials(b []byte) (c credentials, err error) {
	text := strings.TrimSpace(string(b))
	if text == "" {
		return c, errors.New("it is empty")
	}
	if strings.HasPrefix(text, enroll.Start) {
		return readLine(text)
	}
	if c.keys, err = signed.KeysIn(text); err != nil {
		return c, err
	}
	roots := x509.NewCertPool()
	if roots.AppendCertsFromPEM(b) {
		c.roots = roots
	}
	if !bytes.Contains(b, []byte("USER JWT")) {
		if c.roots == nil {
			return c, errors.New("it has neither a user's credentials nor certificates in PEM")
		}
		return c, nil
	}
	if c.jwt, err = nkeys.ParseDecoratedJWT(b); err != nil {
		return c, errors.New("its JWT cannot be read")
	}
	pair, err := nkeys.ParseDecoratedUserNKey(b)
	if err != nil {
		return c, errors.New("its seed cannot be read: " + err.Error())
	}
	seed, err := pair.Seed()
	c.seed = string(seed)
	return c, err
}

func readLine(text string) (c credentials, err error) {
	if c.card, err = enroll.Parse(text); err != nil {
		return c, err
	}
	if _, err := nkeys.FromSeed([]byte(c.card.Seed)); err != nil {
		return c, errors.New("the line's seed cannot be read: take the line again")
	}
	c.url, c.run, c.id = c.card.URL, c.card.Run, c.card.ID
	c.jwt, c.seed = c.card.JWT, c.card.Seed
	c.keys, err = signed.ParseKeys(c.card.Key)
	return c, err
}

// trusts says whether the broker's certificate has to be of a certain authority.
func (c *credentials) trusts() bool { return c.roots != nil || c.card != nil }

// options are those of a connection to these servers.
func (c *credentials) options(servers string) (opts []nats.Option) {
	switch {
	case c.card != nil:
		opts = append(opts, nats.Secure(enroll.TLS(c.card.Authority, hosts(servers)...)))
	case c.roots != nil || strings.HasPrefix(servers, "tls://"):
		opts = append(opts, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots}))
	}
	if c.jwt != "" {
		opts = append(opts, nats.UserJWTAndSeed(c.jwt, c.seed))
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

// enrolledTo is where enroll writes, and where the service takes it from.
const enrolledTo = "/etc/zofl-sensor/user.creds"

// enrol writes what zofl device add gave, its line or its file, to a file of mode 0600, whole or
// not at all.
func enrol(given, to string, out io.Writer) error {
	text, from, err := takeGiven(given)
	if err != nil {
		return &FieldError{"enroll", "", "give the line of zofl device add NAME --qr, in quotes, or " +
			"its file, or - and the line on standard input: " + err.Error()}
	}
	c, err := readCredentials(text)
	if err == nil && c.jwt == "" {
		err = errors.New("it has certificates alone")
	}
	if err != nil {
		return &FieldError{"enroll", "", from + " is not what zofl device add made: " + err.Error()}
	}
	if err := writeSecret(to, append(bytes.TrimSpace(text), '\n')); err != nil {
		return err
	}
	who := "this device"
	if c.card != nil {
		who = fmt.Sprintf("this device, as %s, in run %s at %s,", c.id, c.run, redact(c.url))
	}
	_, err = fmt.Fprintf(out, "%s may take part with %s\n", who, to)
	return err
}

// takeGiven returns what was given to enroll, and what that is.
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
