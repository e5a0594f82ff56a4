package mobile

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/zofl/zofl/wire/signed"
)

// lineStart is what the line of `zofl device add --qr` begins with.
const lineStart = "zofl:?"

// Enroll sets the run, the device, the server, the authority of its certificate, the
// credentials and the coordinator's key, if it has one, from the line that `zofl device add NAME
// --qr` prints, also as a QR code. Only the model, the objective and what the app likes are left
// to set. The line is a secret: keep it as you would a password, and call Enroll with it at each
// start. It replaces what AddServer, SetCA, SetTrust and SetCredentials have
// set; if it fails, nothing changes.
func (c *Config) Enroll(line string) (err error) {
	defer guard(&err)
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), lineStart)
	if !ok {
		return faultf(CodeConfig, "Enroll: the line does not begin with %q: give the one that "+
			"`zofl device add NAME --qr` prints", lineStart)
	}
	parts, err := url.ParseQuery(rest)
	if err != nil { // its text has a part of the line
		return faultf(CodeConfig, "Enroll: the line is damaged: scan it again")
	}
	if v := parts.Get("v"); v != "1" {
		return faultf(CodeUpgrade, "Enroll: the line has version %.10q, and this library reads 1: "+
			"use a later one", v)
	}
	for _, name := range []string{"url", "run", "id", "ca", "seed", "jwt"} {
		if parts.Get(name) == "" {
			return faultf(CodeConfig, "Enroll: the line has no %s: scan it again", name)
		}
	}
	return c.enroll(parts)
}

// enroll sets what a line's parts say.
func (c *Config) enroll(parts url.Values) error {
	pin, err := base64.RawURLEncoding.DecodeString(parts.Get("ca"))
	if err != nil || len(pin) != sha256.Size {
		return faultf(CodeConfig, "Enroll: ca is no fingerprint of %d bytes in base64url: scan "+
			"the line again", sha256.Size)
	}
	key := parts.Get("key")
	if _, err := signed.ParseKeys(key); err != nil {
		return faultf(CodeConfig, "Enroll: key is no key of a coordinator: scan the line again")
	}
	var next Config
	if err := next.AddServer(parts.Get("url")); err != nil {
		return err
	}
	if !strings.HasPrefix(parts.Get("jwt"), "eyJ") { // else the seed alone would do
		return badCredentials("the line has no JWT")
	}
	if err := next.SetCredentials(parts.Get("jwt") + "\n" + parts.Get("seed")); err != nil {
		return err
	}
	c.Run, c.Device = parts.Get("run"), parts.Get("id")
	if key != "" {
		c.Coordinator = key
	}
	c.servers, c.credentials = next.servers, next.credentials
	c.SetTrust(nil)
	c.pin = pin
	return nil
}
