package enrol

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// authorityFor and serverFor are how long certificates are valid. renewBefore is how long before
// its certificate expires a broker that starts gets a new one.
const (
	authorityFor = 20 * 365 * 24 * time.Hour
	serverFor    = 2 * 365 * 24 * time.Hour
	renewBefore  = 90 * 24 * time.Hour
)

// Certify makes a certificate of the broker for names and IP addresses, signed by the directory's
// authority. It makes none if the broker has such a certificate that does not expire soon.
func (d *Dir) Certify(names []string) error {
	ca, err := d.authority()
	if err != nil {
		return err
	}
	now, err := tls.LoadX509KeyPair(ServerFiles(d.path))
	if err == nil && covers(now.Leaf, names) {
		return nil
	}
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "zofl broker of run " + d.Run},
		NotAfter:    time.Now().Add(serverFor),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	return d.issue("server", leaf, ca)
}

// ServerFiles are the certificate and the key of the broker in a directory.
func ServerFiles(dir string) (certificate, key string) {
	return filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
}

// covers says whether a certificate is valid for names, and does not expire within renewBefore.
func covers(c *x509.Certificate, names []string) bool {
	return time.Until(c.NotAfter) > renewBefore && !slices.ContainsFunc(names, func(n string) bool {
		return c.VerifyHostname(n) != nil
	})
}

// authority returns the directory's certificate authority. The first call in a directory makes the
// authority.
func (d *Dir) authority() (*tls.Certificate, error) {
	_, err := os.Stat(d.file("ca.pem"))
	if errors.Is(err, fs.ErrNotExist) {
		err = d.issue("ca", &x509.Certificate{
			Subject: pkix.Name{CommonName: "zofl authority of run " + d.Run},
			IsCA:    true, BasicConstraintsValid: true, MaxPathLenZero: true,
			KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(authorityFor),
		}, nil)
	}
	if err != nil {
		return nil, err
	}
	ca, err := tls.LoadX509KeyPair(d.file("ca.pem"), d.file("ca.key"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.file("ca.pem"), err)
	}
	return &ca, nil
}

// issue makes a new key and a certificate, and writes both to files. Without a parent, the
// certificate is self-signed. With a parent, the parent signs, and the parent's certificate follows
// in the file.
func (d *Dir) issue(name string, c *x509.Certificate, parent *tls.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return err
	}
	c.NotBefore = time.Now().Add(-24 * time.Hour) // clocks of devices may be behind
	signer, with := c, any(key)
	if parent != nil {
		signer, with = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, signer, key.Public(), with)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	var chain bytes.Buffer
	chain.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	if parent != nil {
		chain.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: parent.Certificate[0]}))
	}
	if err := d.write(name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY",
		Bytes: private})); err != nil {
		return err
	}
	return d.write(name+".pem", chain.Bytes())
}
