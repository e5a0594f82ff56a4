package creds

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// Keys of the seed of bytes 0, 1, ... 31, as github.com/nats-io/nkeys makes them.
const (
	userSeed     = "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y"
	accountSeed  = "SAAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4HYMHI"
	operatorSeed = "SOAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H2AJA"
	userKey      = "UAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3RLKK"
	nonce        = "a nonce of the server"
	signature    = "84ada1d5ba3001ead61161fa1f3a4b0e9582746fef2d8697a5ba3ec74d54bdbf" +
		"a6b7041e3dbe5efbd14540f7a434a5b923ca56feef4da13148cf2e5e9e353c00"
	token = "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJVQSJ9.c2lnbmF0dXJl"
)

// credsFile returns a credentials file as nsc writes it.
func credsFile(jwt, seed string) string {
	return "-----BEGIN NATS USER JWT-----\n" + jwt + "\n------END NATS USER JWT------\n\n" +
		"************************* IMPORTANT *************************\n" +
		"NKEY Seed printed below can be used to sign and prove identity.\n" +
		"NKEYs are sensitive and should be treated as secrets.\n\n" +
		"-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n\n" +
		"*************************************************************\n"
}

// Usable credentials sign a nonce, and name the key or carry the token.
func TestCredentials(t *testing.T) {
	for name, tt := range map[string]struct{ text, key, jwt string }{
		"a seed":              {userSeed, userKey, ""},
		"a seed in a file":    {"\n  " + userSeed + "\r\n", userKey, ""},
		"a seed after a mark": {"\ufeff" + userSeed, userKey, ""},
		"a creds file":        {credsFile(token, userSeed), "", token},
		"one without its end": {strings.TrimSpace(credsFile(token, userSeed)), "", token},
		"one from Windows":    {strings.ReplaceAll(credsFile(token, userSeed), "\n", "\r\n"), "", token},
	} {
		t.Run(name, func(t *testing.T) {
			option, err := Option(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var o nats.Options
			if err := option(&o); err != nil {
				t.Fatal(err)
			}
			jwt := ""
			if o.UserJWT != nil {
				jwt, err = o.UserJWT()
			}
			if o.Nkey != tt.key || jwt != tt.jwt || err != nil {
				t.Errorf("key %q, token %q, %v, want %q and %q", o.Nkey, jwt, err, tt.key, tt.jwt)
			}
			signed, err := o.SignatureCB([]byte(nonce))
			if got := hex.EncodeToString(signed); got != signature || err != nil {
				t.Errorf("signed %s, %v, want %s", got, err, signature)
			}
		})
	}
}

// Option refuses a text that is not a user's credentials, and the error never contains the text. An
// unknown text may be a secret, so Option must not send it to a server as a token either.
func TestBadCredentials(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"white space":            " \n\t",
		"garbage":                "correct horse battery staple",
		"a public key":           userKey,
		"an account's seed":      accountSeed,
		"an operator's seed":     operatorSeed,
		"a damaged seed":         userSeed[:20] + "B" + userSeed[21:],
		"half a seed":            userSeed[:30],
		"a seed and more":        userSeed + "AAAA",
		"no base32":              userSeed[:50] + "0189!!!!",
		"lower case":             strings.ToLower(userSeed),
		"SU alone":               "SU",
		"a token alone":          token,
		"creds without a seed":   credsFile(token, ""),
		"creds without a token":  credsFile("", userSeed),
		"creds of an account":    credsFile(token, accountSeed),
		"creds with damage":      credsFile(token, userSeed[:20]+"B"+userSeed[21:]),
		"a seed with words":      "my seed is\n" + accountSeed + "\n",
		"a token that is no JWT": credsFile("correct horse", userSeed),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Option(text)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, secret := range strings.Fields(text) {
				if len(secret) > 8 && !strings.HasPrefix(secret, "-") &&
					strings.Contains(strings.ToUpper(err.Error()), strings.ToUpper(secret)) {
					t.Errorf("%q shows %q of the text", err, secret)
				}
			}
			if !strings.Contains(err.Error(), "give") {
				t.Errorf("%q does not say what to give", err)
			}
		})
	}
}
