package signed_test

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/wire/signed"
)

// TestCreds: a creds file has the keys in one line, wherever it stands.
func TestCreds(t *testing.T) {
	keys := signed.Keys{signer(t, 1).Key(), signer(t, 2).Key()}
	file := "-----BEGIN CERTIFICATE-----\nzofl\n-----END CERTIFICATE-----\n"
	got, err := signed.KeysIn(file + keys.CredsLine() + "\r\nmore\n")
	if err != nil || got.String() != keys.String() {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := signed.KeysIn(file); got != nil || err != nil {
		t.Errorf("without: %v, %v", got, err)
	}
	if _, err := signed.KeysIn(file + keys.CredsLine()[:40]); !errors.Is(err, signed.ErrKey) {
		t.Errorf("a damaged line: %v", err)
	}
}
