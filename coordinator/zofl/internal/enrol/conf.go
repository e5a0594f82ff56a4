package enrol

import (
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"
)

// A Server holds the parts of a nats-server configuration other than users.
type Server struct {
	JetStream  string // directory; empty: none
	MaxPayload int    // bytes
	WebSocket  string // address for browsers, host:port; empty: none
	Origins    []string
}

// The limits of the broker that zofl serve starts. Without them one device could fill the memory of
// the process that leads the run.
const (
	// mostSubscriptions is for a connection of any role: a coordinator has the most, below 32.
	mostSubscriptions = 256
	// deviceSubscriptions is for a connection of a device or witness, which has fewer than 8.
	deviceSubscriptions = 32
	// mostPending is how many bytes the server keeps for a connection that does not read. A busy
	// coordinator has up to a piece of a vector, 64 KiB, from each device of a dense run.
	mostPending = 16 << 20
	// handshake is how long, in seconds, a connection may take for TLS, and then to log in.
	handshake = 5
)

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
	fmt.Fprintf(&b, "server_name: zofl\nlisten: %q\nmax_payload: %d\n", d.Listen,
		about.MaxPayload)
	fmt.Fprintf(&b, "operator: %s\nsystem_account: %s\n", text, system)
	fmt.Fprintf(&b, "resolver: { type: full, dir: %q }\n", d.file("accounts"))
	fmt.Fprintf(&b, "max_subscriptions: %d\nmax_pending: %d\n", mostSubscriptions, mostPending)
	fmt.Fprintf(&b, "authorization: { timeout: %d }\n", handshake)
	tls := fmt.Sprintf("tls: { cert_file: %q, key_file: %q, timeout: %d }", d.file("server.pem"),
		d.file("server.key"), handshake)
	fmt.Fprintln(&b, tls)
	if about.JetStream != "" {
		fmt.Fprintf(&b, "jetstream: { store_dir: %q, sync_interval: always }\n", about.JetStream)
	}
	if about.WebSocket != "" {
		fmt.Fprintf(&b, "websocket {\n  listen: %q\n  %s\n  allowed_origins: %s\n}\n",
			about.WebSocket, tls, quoted(about.Origins))
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
