package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/zofl/zofl/wire"
)

// secretLen is the bytes of a run key.
const secretLen = 32

// keepSecret makes p the plan of a private run: its directions derive from the
// 32 bytes of the file name, which devices have and the plan has not. A file that
// does not exist is made, of random bytes, readable by its owner; but not for a
// plan that has its secret already: that one it must be.
func keepSecret(p *wire.Plan, name string) error {
	key, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !p.Private():
		key, err = makeSecret(name)
	case err == nil && len(key) != secretLen:
		err = usageError{fmt.Errorf("%s has %d bytes: a run key is %d random bytes, never a password; name a file that does not exist to have it made",
			name, len(key), secretLen)}
	}
	if err != nil {
		return err
	}
	if p.Private() {
		if _, err := p.Key(key); err != nil {
			return usageError{fmt.Errorf("%s: %w: give the file that the plan was made with", name, err)}
		}
		return nil
	}
	p.RunKey, p.KeyCheck = nil, wire.KeyCheck(key)
	return nil
}

// makeSecret writes a new key and never overwrites one.
func makeSecret(name string) ([]byte, error) {
	key := make([]byte, secretLen)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(key)
	return key, errors.Join(err, file.Sync(), file.Close())
}
