package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/textfile"
)

// ReadPrivate reads a secret text that a flag names, with [cli.ReadPrivate].
func (c *Connection) ReadPrivate(name string) ([]byte, error) {
	text, err := cli.ReadPrivate(c.commands(), name)
	return textfile.UTF8(text), err
}

// read reads a text that a flag names, with [cli.ReadFile].
func (c *Connection) read(name string) ([]byte, error) {
	text, err := cli.ReadFile(c.commands(), name)
	return textfile.UTF8(text), err
}

// commands returns the context of the cobra command.
func (c *Connection) commands() context.Context {
	if c.cmd != nil && c.cmd.Context() != nil {
		return c.cmd.Context()
	}
	return context.Background()
}

// login returns the options of a user and of certificates. A connection reads the files each
// time it connects, so that it uses renewed files.
func (c *Connection) login() (opts []nats.Option, err error) {
	if c.Creds != "" {
		opts = append(opts, nats.UserJWT(func() (string, error) {
			content, err := c.read(c.Creds)
			if err != nil {
				return "", err
			}
			return nkeys.ParseDecoratedJWT(content)
		}, c.signer(c.Creds)))
	}
	if c.NKey != "" {
		public, err := c.publicOf(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("--nkey %s: %w", c.NKey, err)
		}
		opts = append(opts, nats.Nkey(public, c.signer(c.NKey)))
	}
	var certificate nats.TLSCertHandler
	if c.cert != "" {
		certificate = c.certificate
	}
	var roots nats.RootCAsHandler
	if ca := c.authority(); ca != "" {
		roots = func() (*x509.CertPool, error) { return c.roots(ca) }
	}
	if certificate != nil || roots != nil {
		opts = append(opts, nats.ClientTLSConfig(certificate, roots))
	}
	return opts, nil
}

// publicOf returns the public key of the user whose seed is in a file.
func (c *Connection) publicOf(file string) (string, error) {
	content, err := c.ReadPrivate(file)
	if err != nil {
		return "", cli.CauseOf(err)
	}
	pair, err := nkeys.ParseDecoratedNKey(content)
	if err != nil {
		return "", fmt.Errorf("%w: give a file with a seed that begins with SU", err)
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err == nil && !nkeys.IsValidPublicUserKey(public) {
		err = errors.New("no seed of a user: give a file with a seed that begins with SU")
	}
	return public, err
}

// signer returns a function that signs the broker's challenges with the seed in a file.
func (c *Connection) signer(file string) nats.SignatureHandler {
	return func(nonce []byte) ([]byte, error) {
		content, err := c.read(file)
		if err != nil {
			return nil, err
		}
		pair, err := nkeys.ParseDecoratedNKey(content)
		if err != nil {
			return nil, err
		}
		defer pair.Wipe()
		return pair.Sign(nonce)
	}
}

// certificate returns this program's certificate.
func (c *Connection) certificate() (tls.Certificate, error) {
	cert, err := c.read(c.cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := c.read(c.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--tls-key %s: %v", c.key, cli.CauseOf(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		err = fmt.Errorf("%w: give a certificate in PEM, and with --tls-key its private key", err)
	}
	return pair, err
}

// roots returns the certificate authorities in a file.
func (c *Connection) roots(file string) (*x509.CertPool, error) {
	content, err := c.read(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s: no certificate in PEM", file)
	}
	return pool, nil
}

// authority returns the file with the certificate authorities to trust. authority returns "" for
// the system's authorities. A creds file of zofl device add also holds the certificate of its
// broker.
func (c *Connection) authority() string {
	if c.ca != "" || c.Creds == "" {
		return c.ca
	}
	if content, err := c.ReadPrivate(c.Creds); err == nil && hasAuthority(content) {
		return c.Creds
	}
	return ""
}

// checkFiles returns an error unless each file has the content that its flag needs.
func (c *Connection) checkFiles() error {
	if c.key != "" {
		if err := cli.CheckMode(c.key); err != nil && !errors.As(err, new(*fs.PathError)) {
			return fmt.Errorf("--tls-key %s: %w", c.key, cli.CauseOf(err))
		}
	}
	for _, f := range []struct {
		name, file string
		read       func(string) ([]byte, error)
		check      func([]byte) error
	}{
		{"creds", c.Creds, c.ReadPrivate, checkCreds},
		{"nkey", c.NKey, c.ReadPrivate, func([]byte) error { return nil }}, // login checks it
		{"tls-ca", c.ca, c.read, checkAuthorities},
		{"tls-cert", c.cert, c.read, func([]byte) error {
			_, err := c.certificate()
			return err
		}},
	} {
		if f.file == "" {
			continue
		}
		content, err := f.read(f.file)
		if err == nil {
			err = f.check(content)
		}
		if err != nil {
			return fmt.Errorf("--%s %s: %w", f.name, f.file, cli.CauseOf(err))
		}
	}
	return nil
}

// checkCreds returns an error unless a file holds a user's JWT and nkey seed.
func checkCreds(content []byte) error {
	_, err := nkeys.ParseDecoratedJWT(content)
	if err == nil {
		_, err = nkeys.ParseDecoratedNKey(content)
	}
	if err != nil {
		return fmt.Errorf("no credentials of a user: %w: give the file that zofl device add or nsc made",
			err)
	}
	return nil
}

func checkAuthorities(content []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(content) {
		return errors.New("no certificate in PEM: give the certificates of the authorities")
	}
	return nil
}
