package mobile

import (
	"strings"
	"testing"
)

// A user's credentials: those of the seed of bytes 0, 1, ... 31.
const (
	userSeed = "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y"
	token    = "eyJ0eXAiOiJKV1QifQ.eyJzdWIiOiJVQSJ9.c2lnbmF0dXJl"
	userFile = "-----BEGIN NATS USER JWT-----\n" + token + "\n" + userSeed + "\n"
)

// For a text that is no credentials the error has a code, and does not contain the text.
func TestBadCredentials(t *testing.T) {
	err := NewConfig().SetCredentials("correct horse battery staple")
	hasCode(t, "SetCredentials", err, CodeCredentials)
	if strings.Contains(err.Error(), "horse") || !strings.Contains(err.Error(), "give the text of") {
		t.Errorf("%v shows the text, or not what to give", err)
	}
}

// Neither a Config nor an option shows a secret.
func TestSecretsAreNotShown(t *testing.T) {
	cfg := config()
	if err := cfg.SetCredentials(userSeed); err != nil {
		t.Fatal(err)
	}
	if err := cfg.SetRunKey([]byte(strings.Repeat("k", 32))); err != nil {
		t.Fatal(err)
	}
	if s := cfg.String(); strings.Contains(s, userSeed) || strings.Contains(s, "kkkk") ||
		!strings.Contains(s, "digits") {
		t.Errorf("String shows %q", s)
	}
}

// TestCredentialsNameTheCoordinator: SetCredentials with a file of zofl device add sets the
// coordinator's key. For a damaged key SetCredentials returns an error.
func TestCredentialsNameTheCoordinator(t *testing.T) {
	key := "ed25519:iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"
	cfg := config()
	if err := cfg.SetCredentials(userFile + "zofl coordinator " + key + "\n"); err !=
		nil || cfg.Coordinator != key {
		t.Errorf("key %q, %v", cfg.Coordinator, err)
	}
	if err := cfg.SetCredentials(userFile); err != nil || cfg.Coordinator != key {
		t.Errorf("credentials without a key: %q, %v", cfg.Coordinator, err)
	}
	err := cfg.SetCredentials(userFile + "zofl coordinator " + key[:30] + "\n")
	if err == nil || ErrorCode(err.Error()) != CodeCredentials {
		t.Errorf("a damaged key: %v", err)
	}
	cfg.Coordinator = "ed25519:x"
	if _, err := NewClient(cfg); err == nil || ErrorCode(err.Error()) != CodeConfig {
		t.Errorf("a Config with a damaged key: %v", err)
	}
}
