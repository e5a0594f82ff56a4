package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
)

// connection holds the flags that say how to reach a broker.
type connection struct {
	url, creds, nkey, ca, cert, key string
}

func (c *connection) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.url, "url", "",
		"address of the broker, such as nats://127.0.0.1:4222; several, separated by commas")
	f.StringVar(&c.creds, "creds", "", "file with the user's JWT and nkey seed")
	f.StringVar(&c.nkey, "nkey", "", "file with the user's nkey seed")
	f.StringVar(&c.ca, "tls-ca", "",
		"file with the certificates of the authorities that signed the broker's (PEM)")
	f.StringVar(&c.cert, "tls-cert", "", "file with this program's certificate (PEM)")
	f.StringVar(&c.key, "tls-key", "", "file with the key of --tls-cert (PEM)")
}

func (c *connection) options(name string) ([]nats.Option, error) {
	opts := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
	}
	if c.creds != "" {
		opts = append(opts, nats.UserCredentials(c.creds))
	}
	if c.nkey != "" {
		o, err := nats.NkeyOptionFromSeed(c.nkey)
		if err != nil {
			return nil, usageError{fmt.Errorf("--nkey %s: %w", c.nkey, err)}
		}
		opts = append(opts, o)
	}
	if c.ca != "" {
		opts = append(opts, nats.RootCAs(c.ca))
	}
	switch {
	case c.cert != "" && c.key != "":
		opts = append(opts, nats.ClientCert(c.cert, c.key))
	case c.cert != "" || c.key != "":
		return nil, usageError{errors.New("--tls-cert and --tls-key belong together: give both")}
	}
	return opts, nil
}

// dial connects once. It fails if the broker does not answer within five seconds.
func (c *connection) dial(name string) (*nats.Conn, error) {
	return c.connect(name, nats.Timeout(5*time.Second))
}

// await connects now, or as soon as the broker answers. It is for commands that run for long:
// they survive an absence of the broker.
func (c *connection) await(name string, more ...nats.Option) (*nats.Conn, error) {
	return c.connect(name, append(more, nats.RetryOnFailedConnect(true))...)
}

func (c *connection) connect(name string, more ...nats.Option) (*nats.Conn, error) {
	if c.url == "" {
		return nil, usageError{errors.New("--url is missing: give the address of the broker")}
	}
	opts, err := c.options(name)
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(c.url, append(opts, more...)...)
	if err != nil {
		return nil, absentError{fmt.Errorf("broker %s: %w", c.url, err)}
	}
	return nc, nil
}
