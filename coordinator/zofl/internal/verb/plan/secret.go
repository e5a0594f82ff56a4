package plan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
)

// keepSecret makes p the plan of a private run: directions derive from the 32 bytes in the file.
// Devices have these bytes, and the plan does not. If the file does not exist, keepSecret makes it
// from random bytes, and only its owner can read it. If p is private already, the file must hold
// the key of p.
func keepSecret(ctx context.Context, p *plan.Plan, name string) error {
	key, err := cli.ReadPrivate(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !p.Private():
		key, err = makeSecret(name)
	case err == nil:
		if err := cli.CheckSecret(name, key); err != nil {
			return err
		}
	}
	if err != nil {
		return cli.NewFileFault("--secret", name, err)
	}
	if p.Private() {
		if _, err := p.Key(key); err != nil {
			return cli.Usage(fmt.Errorf("%s: %w: give the key file that the plan was made with",
				name, err))
		}
		return nil
	}
	p.SetSecret(key)
	return nil
}

// asPrivate returns a copy of the plan in which a placeholder for the check of a secret replaces
// the public run key.
func asPrivate(p *plan.Plan) *plan.Plan {
	private := *p
	private.RunKey, private.KeyCheck = nil, make(plan.Bytes, len(plan.KeyCheck(nil)))
	return &private
}

// makeSecret writes a new key to a new file.
func makeSecret(name string) ([]byte, error) {
	key := make([]byte, cli.SecretLen)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return key, cli.WriteNew(name, 0o600, func(w io.Writer) error {
		_, err := w.Write(key)
		return err
	})
}
