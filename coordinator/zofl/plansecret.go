package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
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
	case err == nil:
		err = checkSecret(name, key)
	}
	if errors.As(err, new(*fs.PathError)) {
		err = usageError{fmt.Errorf("--secret: %w", err)}
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

// canBePrivate refuses what goes with a public run key only.
func canBePrivate(p *wire.Plan) error {
	private := *p
	private.RunKey, private.KeyCheck = nil, make(wire.Bytes, len(wire.KeyCheck(nil)))
	return plancheck.Validate(&private)
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

// secretFlag adds the flag of a command that needs the run's key.
func secretFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "secret", "", "file of the run key, of a private run (zofl plan --secret)")
}

// readSecret reads a run key; "" is none.
func readSecret(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	key, err := os.ReadFile(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("--secret: %w", err)}
	}
	return key, checkSecret(name, key)
}

func checkSecret(name string, key []byte) error {
	if len(key) == secretLen {
		return nil
	}
	return usageError{fmt.Errorf("%s has %d bytes: a run key is %d random bytes, never a password; zofl plan --secret with the name of a file that does not exist makes one",
		name, len(key), secretLen)}
}
