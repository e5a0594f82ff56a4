package mqtttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority signed a certificate for 127.0.0.1: itself.
type Authority struct {
	CA         string // file with its certificate, in PEM
	Chain, Key string // files of a server
	Pool       *x509.CertPool
	pair       tls.Certificate
}

// NewAuthority makes one, with files for a test.
func NewAuthority(t *testing.T) *Authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true,
		BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &Authority{CA: filepath.Join(dir, "ca.pem"), Key: filepath.Join(dir, "key.pem"),
		Pool: x509.NewCertPool()}
	a.Chain = a.CA
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	own := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for name, text := range map[string][]byte{a.CA: chain, a.Key: own} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.Pool.AppendCertsFromPEM(chain)
	if a.pair, err = tls.X509KeyPair(chain, own); err != nil {
		t.Fatal(err)
	}
	return a
}
