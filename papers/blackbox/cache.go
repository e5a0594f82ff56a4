package blackbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/models/train"
)

// A trainer trains models, or reads trained models from its cache.
type trainer struct {
	dir  string // empty: zofl/blackbox in the user's cache directory
	logf func(format string, args ...any)
}

// train returns the parameters of m trained by cfg, or the parameters that an earlier call with the
// same name saved. The name must identify everything that the training depends on.
func (t trainer) train(ctx context.Context, name string, m models.Differentiable,
	cfg train.Config) ([]float32, error) {
	dir := t.dir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("blackbox: %w: set Cache to a directory for trained models", err)
		}
		dir = filepath.Join(cache, "zofl", "blackbox")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("blackbox: %w: set Cache to a directory for trained models", err)
	}
	path := filepath.Join(dir, name)
	params, err := train.Load(path, m.Dim())
	if !errors.Is(err, fs.ErrNotExist) {
		return params, err
	}
	cfg.Progress = func(p train.Progress) error {
		t.say("%s: step %d of %d, loss %.4f", name, p.Step, p.Steps, p.Loss)
		return nil
	}
	if params, err = train.Train(ctx, m, cfg); err != nil {
		return nil, err
	}
	return params, train.Save(path, params)
}

func (t trainer) say(format string, args ...any) {
	if t.logf != nil {
		t.logf(format, args...)
	}
}

// fingerprint names data by a part of its hash.
func fingerprint(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprint(h, len(p), " ")
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
