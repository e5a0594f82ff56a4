package enroll_test

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/enroll"
)

const seed = "SUAMSECRETSECRETSECRET"

// line returns a valid line, edited.
func line(edit func(url.Values)) string {
	q := url.Values{"v": {"1"}, "url": {"tls://broker:4222"}, "run": {"rooms"}, "id": {"kitchen"},
		"ca": {base64.RawURLEncoding.EncodeToString(make([]byte, 32))}, "seed": {seed},
		"jwt": {"eyJ.x"}}
	edit(q)
	return " " + enroll.Start + q.Encode() + "\n"
}

// TestParse: Parse reads a line whole, or its error says what is missing and contains no secret.
func TestParse(t *testing.T) {
	c, err := enroll.Parse(line(func(url.Values) {}))
	want := enroll.Card{URL: "tls://broker:4222", Run: "rooms", ID: "kitchen", JWT: "eyJ.x",
		Seed: seed}
	if err != nil || *c != want {
		t.Errorf("%+v, %v, want %+v", c, err, want)
	}
	for _, name := range []string{"url", "run", "id", "ca", "seed", "jwt"} {
		_, err := enroll.Parse(line(func(q url.Values) { q.Del(name) }))
		if err == nil || !strings.Contains(err.Error(), "no "+name) ||
			strings.Contains(err.Error(), seed) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for _, bad := range []string{"", seed, enroll.Start + "v=1&seed=%zz" + seed,
		line(func(q url.Values) { q.Set("key", "ed25519:x") })} {
		if _, err := enroll.Parse(bad); err == nil || strings.Contains(err.Error(), seed) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_, err = enroll.Parse(line(func(q url.Values) { q.Set("v", "2") }))
	if !errors.Is(err, enroll.ErrVersion) {
		t.Errorf("version 2: %v", err)
	}
}
