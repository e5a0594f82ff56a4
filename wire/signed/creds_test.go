package signed_test

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// TestCreds: KeysIn finds the line with the keys anywhere in a creds file.
func TestCreds(t *testing.T) {
	keys := signed.Keys{signer(t, 1).Key(), signer(t, 2).Key()}
	file := "-----BEGIN CERTIFICATE-----\nzofl\n-----END CERTIFICATE-----\n"
	for _, text := range []string{file + keys.CredsLine() + "\r\nmore\n",
		"\ufeff" + keys.CredsLine(), keys.CredsLine() + " # of May\n" + file} {
		if got, err := signed.KeysIn(text); err != nil || got.String() != keys.String() {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := signed.KeysIn(file); got != nil || err != nil {
		t.Errorf("without: %v, %v", got, err)
	}
	if _, err := signed.KeysIn(file + keys.CredsLine()[:40]); !errors.Is(err, signed.ErrKey) {
		t.Errorf("a damaged line: %v", err)
	}
}

// FuzzCreds: KeysIn of any text returns at most [signed.MaxKeys] keys, and KeysIn of their
// CredsLine returns the same keys.
func FuzzCreds(f *testing.F) {
	keys := signed.Keys{signer(f, 1).Key(), signer(f, 2).Key()}
	f.Add(keys.CredsLine())
	f.Add("more\n" + keys[:1].CredsLine() + " \r\n" + keys.CredsLine())
	f.Add(signed.Keys{}.CredsLine())
	f.Add(keys.String())
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := signed.ParseKeys(text); err != nil && !errors.Is(err, signed.ErrKey) {
			t.Errorf("ParseKeys: %v", err)
		}
		got, err := signed.KeysIn(text)
		if err != nil {
			if !errors.Is(err, signed.ErrKey) || got != nil {
				t.Errorf("KeysIn: %v, %v", got, err)
			}
			return
		}
		if len(got) > signed.MaxKeys {
			t.Fatalf("%d keys", len(got))
		}
		if again, err := signed.ParseKeys(got.String()); err != nil || again.String() != got.String() {
			t.Errorf("%v reads as %v, %v", got, again, err)
		}
	})
}

// FuzzVouched: for any rest of a catch-up reply Vouched finds a reference or none. If Vouched finds
// a reference, it finds the same reference after Vouch has appended it to a reply.
func FuzzVouched(f *testing.F) {
	f.Add([]byte{})
	f.Add(signed.Vouch(nil, wire.Reference{N: 64, Tip: wire.Tip{1}, Digest: [8]byte{2}}))
	f.Add(signed.Vouch([]byte{0x90}, wire.Reference{N: 1}))
	f.Fuzz(func(t *testing.T, rest []byte) {
		r, ok := signed.Vouched(&wire.CatchUpReply{Rest: rest})
		if !ok {
			return
		}
		again, ok := signed.Vouched(&wire.CatchUpReply{Rest: signed.Vouch(nil, r)})
		if !ok || again != r {
			t.Errorf("%+v reads as %+v, %v", r, again, ok)
		}
	})
}
