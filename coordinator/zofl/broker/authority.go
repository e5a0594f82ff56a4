package broker

import (
	"cmp"
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

// certified is how long a certificate is valid by default.
const certified = 24 * time.Hour

// An Authority signs certificates for servers on this machine, for tests of TLS.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes an authority with a new key.
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

// sign makes a certificate for a public key. The first certificate that sign makes is the
// authority's own.
func (a *Authority) sign(c *x509.Certificate, public any) (*x509.Certificate, error) {
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore = time.Now().Add(-time.Hour)
	parent := cmp.Or(a.cert, c)
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("broker: certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// Server returns the TLS configuration, for [Config].TLS, of a server at 127.0.0.1 or ::1, which
// tests of proxies call broker.invalid. Its certificate is valid until the given time. The zero
// time means a day from now.
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
		DNSNames:    []string{"broker.invalid"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key.Public())
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.Raw},
		PrivateKey: key}}}, nil
}

// PEM returns the authority's certificate. Clients that have this certificate trust the authority's
// servers.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Trust is the option with which a NATS client trusts only servers whose certificates this
// authority signed.
func (a *Authority) Trust() nats.Option {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return nats.Secure(&tls.Config{RootCAs: roots})
}
