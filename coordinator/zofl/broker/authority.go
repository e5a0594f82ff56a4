package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/nats-io/nats.go"
)

// certified is how long certificates are valid that nobody says more of.
const certified = 24 * time.Hour

// An Authority signs certificates for servers of this machine, as that of somebody who
// runs one does.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority draws an authority.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("broker: authority: %w", err)
	}
	a := &Authority{key: key}
	a.cert, err = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(certified),
	}, key.Public())
	return a, err
}

// sign makes a certificate of a public key: the authority's own is its first.
func (a *Authority) sign(c *x509.Certificate, public any) (*x509.Certificate, error) {
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore = time.Now().Add(-time.Hour)
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("broker: certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// Server returns what a server at 127.0.0.1 or ::1 proves itself with, as [Config].TLS
// takes it, until then; the zero time is a day from now.
func (a *Authority) Server(until time.Time) (*tls.Config, error) {
	if until.IsZero() {
		until = time.Now().Add(certified)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("broker: certificate: %w", err)
	}
	leaf, err := a.sign(&x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key.Public())
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}}}, nil
}

// PEM is the authority's certificate, as clients have it.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Trust is the option of a client that believes servers of the authority, and no other.
func (a *Authority) Trust() nats.Option {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return nats.Secure(&tls.Config{RootCAs: roots})
}
