package enrol

import (
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"
)

// Conf writes the configuration of a nats-server for the directory's users and returns its name.
// jetStream is the directory of its JetStream; empty means none. maxPayload is in bytes.
func (d *Dir) Conf(jetStream string, maxPayload int) (file string, err error) {
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
	fmt.Fprintf(&b, "server_name: zofl\nlisten: %q\nmax_payload: %d\n", d.Listen, maxPayload)
	fmt.Fprintf(&b, "operator: %s\nsystem_account: %s\n", text, system)
	fmt.Fprintf(&b, "resolver: { type: full, dir: %q }\n", d.file("accounts"))
	fmt.Fprintf(&b, "tls: { cert_file: %q, key_file: %q, timeout: 60 }\n", d.file("server.pem"),
		d.file("server.key"))
	if jetStream != "" {
		fmt.Fprintf(&b, "jetstream: { store_dir: %q, sync_interval: always }\n", jetStream)
	}
	return d.file("nats.conf"), d.write("nats.conf", []byte(b.String()))
}

// Authority returns the name of the file with the certificate that signed the broker's.
func (d *Dir) Authority() string { return d.file("ca.pem") }
