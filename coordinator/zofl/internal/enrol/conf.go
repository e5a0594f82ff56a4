package enrol

import (
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// A Server holds the parts of a nats-server configuration other than users.
type Server struct {
	JetStream   string // directory; empty: none
	Connections int    // the most at once
	WebSocket   string // address for browsers, host:port; empty: none
	Origins     []string
}

// handshake is how long, in seconds, a connection may take for TLS, and then to log in.
const handshake = 5

// Conf writes the configuration of a nats-server for the directory's users and returns its name.
func (d *Dir) Conf(about Server) (file string, err error) {
	operator, err := d.operator.PublicKey()
	if err != nil {
		return "", err
	}
	system, err := d.system.PublicKey()
	if err != nil {
		return "", err
	}
	trusted := jwt.NewOperatorClaims(operator)
	trusted.Name, trusted.SystemAccount = "zofl", system
	text, err := trusted.Encode(d.operator)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Made by zofl serve at each start.\n")
	fmt.Fprintf(&b, "server_name: zofl\nlisten: %q\n", d.Listen)
	fmt.Fprintf(&b, "operator: %s\nsystem_account: %s\n", text, system)
	fmt.Fprintf(&b, "resolver: { type: full, dir: %q }\n", d.file("accounts"))
	fmt.Fprintf(&b, "max_connections: %d\n%s", about.Connections, grant.ServerLimits())
	fmt.Fprintf(&b, "authorization: { timeout: %d }\n", handshake)
	tls := fmt.Sprintf("tls: { cert_file: %q, key_file: %q, timeout: %d }", d.file("server.pem"),
		d.file("server.key"), handshake)
	fmt.Fprintln(&b, tls)
	if about.JetStream != "" {
		fmt.Fprintf(&b, "jetstream: { store_dir: %q, sync_interval: always }\n", about.JetStream)
	}
	if about.WebSocket != "" {
		fmt.Fprintf(&b, "websocket {\n  listen: %q\n  %s\n  handshake_timeout: \"%ds\"\n"+
			"  allowed_origins: %s\n}\n", about.WebSocket, tls, handshake, quoted(about.Origins))
	}
	return d.file("nats.conf"), d.write("nats.conf", []byte(b.String()))
}

// quoted returns a list of texts in the syntax of a configuration.
func quoted(texts []string) string {
	var list []string
	for _, t := range texts {
		list = append(list, fmt.Sprintf("%q", t))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// Authority returns the name of the file with the certificate that signed the broker's.
func (d *Dir) Authority() string { return d.file("ca.pem") }
