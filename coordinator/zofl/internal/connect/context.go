package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/textfile"
)

// A natsContext is a file of the nats program with the settings for a broker and a user. The other
// fields of such a file do not concern a connection.
type natsContext struct {
	URL      string `json:"url"`
	Token    string `json:"token"`
	User     string `json:"user"`
	Password string `json:"password"`
	Creds    string `json:"creds"`
	NKey     string `json:"nkey"`
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	CA       string `json:"ca"`
	TLSFirst bool   `json:"tls_first"`

	// The fields of a context that connections of this program do not support.
	NSC       string `json:"nsc"`
	Proxy     string `json:"socks_proxy"`
	Domain    string `json:"jetstream_domain"`
	API       string `json:"jetstream_api_prefix"`
	Inbox     string `json:"inbox_prefix"`
	JWT       string `json:"user_jwt"`
	Seed      string `json:"user_seed"`
	CertStore string `json:"windows_cert_store"`
}

// contextFlag is the value of the flag --context of a connection. Setting it sets the other flags.
type contextFlag struct {
	c    *Connection
	name string
}

func (f *contextFlag) String() string { return f.name }
func (f *contextFlag) Type() string   { return "string" }

// Set reads the context with a name. The error says what is wrong with the context.
func (f *contextFlag) Set(name string) error {
	if f.c.settings() != [6]string{} {
		return errContextToo
	}
	f.name = name
	file, err := contextFile(name)
	if err != nil {
		return err
	}
	n, err := readContext(file)
	if err == nil {
		err = n.fill(f.c)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	filled := f.c.settings()
	f.c.context = &filled
	return nil
}

// contextFlags adds the flag --context, and the flags for the values of a context.
func (c *Connection) contextFlags(cmd *cobra.Command) {
	cmd.Flags().Var(&contextFlag{c: c}, "context", "name of a context of the nats program, in place "+
		"of --url and of all flags that name a user or a certificate")
}

// settings returns the values of the flags that a context can set.
func (c *Connection) settings() [6]string {
	return [6]string{c.URL, c.Creds, c.NKey, c.ca, c.cert, c.key}
}

// errContextToo means that --context and another flag both name a broker or a user.
var errContextToo = errors.New("--context says which broker and user: leave out --url and the " +
	"flags of a user or certificate, or --context")

// contextFile returns the path of a context's file.
func contextFile(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.Contains(name, "..") {
		return "", fmt.Errorf("%q is no name of a context: give one that `nats context ls` lists", name)
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "nats", "context", name+".json"), nil
}

func readContext(file string) (*natsContext, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no such context: `nats context ls` lists those that there are")
	}
	if err != nil {
		return nil, cli.CauseOf(err)
	}
	n := &natsContext{}
	if err := json.Unmarshal(textfile.JSON(b), n); err != nil {
		return nil, fmt.Errorf("no context of the nats program: %w", err)
	}
	if n.Password != "" || n.Token != "" {
		return n, cli.CheckMode(file)
	}
	return n, nil
}

// fill copies the values of a context to a connection. The error names a field of the context that
// connections do not support.
func (n *natsContext) fill(c *Connection) error {
	for _, f := range []struct{ name, value, remedy string }{
		{"nsc", n.NSC, "write the user with `nsc generate creds`, and name that file as creds"},
		{"user_jwt", n.JWT, "name a file with JWT and seed as creds"},
		{"user_seed", n.Seed, "name a file with the seed as nkey"},
		{"socks_proxy", n.Proxy, "set the variable ALL_PROXY to the same value"},
		{"jetstream_domain", n.Domain, "zofl uses the domain of the server that it reaches"},
		{"jetstream_api_prefix", n.API, "zofl uses the account's own JetStream"},
		{"inbox_prefix", n.Inbox, "zofl's permissions say where answers come"},
		{"windows_cert_store", n.CertStore, "name files as cert and key"},
	} {
		if f.value != "" {
			return fmt.Errorf("%s is set: %s, and leave it out of the context", f.name, f.remedy)
		}
	}
	if n.URL == "" {
		return errors.New("url is missing: `nats context edit` adds the address of the broker")
	}
	if n.Token != "" && n.User != "" {
		return errors.New("token and user name two users: leave one out")
	}
	c.URL, c.tlsFirst = n.URL, c.tlsFirst || n.TLSFirst
	c.user, c.password, c.token = n.User, n.Password, n.Token
	for _, f := range []struct {
		to   *string
		file string
	}{{&c.Creds, n.Creds}, {&c.NKey, n.NKey}, {&c.cert, n.Cert}, {&c.key, n.Key}, {&c.ca, n.CA}} {
		*f.to = expand(f.file)
	}
	return nil
}

// expand replaces variables in a path, and ~ by the home directory, as the nats program does.
func expand(path string) string {
	path = os.ExpandEnv(path)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || strings.HasPrefix(rest, "/")) {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
	return path
}

// Choices returns the names of contexts. It is part of [cli.Chooser].
func (f *contextFlag) Choices() []string {
	file, err := contextFile("any")
	if err != nil {
		return nil
	}
	names, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*.json")) // sorted
	for i, name := range names {
		names[i] = strings.TrimSuffix(filepath.Base(name), ".json")
	}
	return names
}
