package serve

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire/signed"
)

// keyBlock is the type of the PEM block of a private key.
const keyBlock = "PRIVATE KEY"

// loadKey reads the coordinator's private key with read. If the file does not exist, loadKey makes
// one with a new Ed25519 key (PKCS #8, PEM), and only its owner can read that file.
func loadKey(file string, read func(string) ([]byte, error)) (ed25519.PrivateKey, error) {
	content, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(file)
	}
	if err != nil {
		return nil, cli.CauseOf(err)
	}
	private, err := keyIn(content)
	if err == nil && private == nil {
		err = errors.New("no private key in PEM: give the file that zofl serve made, or a new name " +
			"for a new key")
	}
	return private, err
}

// keyIn returns the private key among the PEM blocks of a file. keyIn returns nil if the file has
// no private key.
func keyIn(content []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(content)
	for block != nil && block.Type != keyBlock {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a %T: give an Ed25519 key", key)
	}
	return private, nil
}

// makeKey makes a key and stores it before anybody uses it.
func makeKey(file string) (ed25519.PrivateKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	err = disk.Replace(disk.OS, file, func(w io.Writer) error {
		return pem.Encode(w, &pem.Block{Type: keyBlock, Bytes: encoded})
	})
	return private, err
}

// publicOf returns the public half of a key.
func publicOf(private ed25519.PrivateKey) signed.Keys {
	return signed.Keys{signed.Key(private.Public().(ed25519.PublicKey))}
}

// speaker reads the key of --key, or otherwise the key in the creds file of a coordinator. speaker
// returns an error if the creds file names another public key to devices.
func (f *serveFlags) speaker() (err error) {
	if f.private != nil {
		return nil
	}
	if f.keyFile != "" {
		if f.private, err = loadKey(f.keyFile, f.ReadPrivate); err != nil {
			return cli.Usage(fmt.Errorf("--key %s: %w", f.keyFile, err))
		}
	}
	if f.Creds == "" {
		return nil
	}
	content, err := f.ReadPrivate(f.Creds)
	if err == nil && f.private == nil {
		f.private, err = keyIn(content)
	}
	var known signed.Keys
	if err == nil {
		known, err = f.Coordinator("")
	}
	if err != nil {
		return cli.Usage(fmt.Errorf("--creds %s: %w", f.Creds, cli.CauseOf(err)))
	}
	if known != nil && (f.private == nil || !slices.Contains(known, publicOf(f.private)[0])) {
		return cli.Usage(fmt.Errorf("--creds %s: devices of this run take only what is signed with "+
			"%v: give the file of that key with --key", f.Creds, known))
	}
	return nil
}
