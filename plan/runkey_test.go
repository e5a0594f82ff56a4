package plan_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// privatePlan returns a plan with the keys of a scheme.
func privatePlan(run string, secret []byte, scheme uint8) *plan.Plan {
	p := &plan.Plan{Run: run}
	if scheme == 1 {
		p.SetSecret(secret)
	} else {
		p.KeyCheck = plan.KeyCheck(secret)
	}
	return p
}

// The keys of both schemes equal those of testdata/runkeys.txt. Python computed that file:
//
//	import hashlib, hmac
//	mac = lambda key, text: hmac.new(key, text, hashlib.sha256).digest()
//	def hkdf(secret, purpose, run): # RFC 5869, no salt, one block
//	    return mac(mac(bytes(32), secret), b"zofl/2 " + purpose + b"\0" + run + b"\1")
//	for run in (b"kitchen", b"pantry"):
//	    for secret in (bytes(range(32)), b"\xff" * 32):
//	        for kind, check, key in (
//	            (b"secret", mac(secret, b"zofl/1 run key\0"), secret),
//	            (b"hkdf", hkdf(secret, b"key check", run), hkdf(secret, b"directions", run))):
//	            print(run.decode(), kind.decode(), secret.hex(), check.hex(), key.hex())
func TestKeys(t *testing.T) {
	text, err := os.ReadFile("testdata/runkeys.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		word := strings.Fields(line)
		var b [3][]byte
		for i := range b {
			if b[i], err = hex.DecodeString(word[2+i]); err != nil {
				t.Fatal(err)
			}
		}
		scheme := map[string]uint8{"secret": 0, "hkdf": 1}[word[1]]
		p := privatePlan(word[0], b[0], scheme)
		key, err := p.Key(b[0])
		if !bytes.Equal(p.KeyCheck, b[1]) || !bytes.Equal(key, b[2]) || err != nil {
			t.Errorf("%s: check %x, key %x, %v", line, p.KeyCheck, key, err)
		}
		if scheme == 1 && (seen[word[3]] || seen[word[4]]) {
			t.Errorf("%s: two runs, secrets or purposes share a key", line)
		}
		seen[word[3]], seen[word[4]] = true, true
		for _, other := range []*plan.Plan{privatePlan("other", b[0], 1),
			privatePlan(word[0], []byte("another"), scheme)} {
			other.Run, other.KeyScheme = word[0], scheme
			if _, err := other.Key(b[0]); !errors.Is(err, plan.ErrRunKey) {
				t.Errorf("%s: a check of another run or secret: %v", line, err)
			}
		}
	}
	if len(seen) != 2*2+2*4 {
		t.Errorf("%d keys and checks", len(seen))
	}
}
