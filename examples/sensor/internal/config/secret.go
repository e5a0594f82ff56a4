package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkCredentials uses the files of systemd's LoadCredential= if they exist and are not blank,
// and checks their content as far as it can: with a file that a power cut left empty, the agent
// would try in vain to connect every few seconds.
func (c *Config) checkCredentials() error {
	for _, f := range []struct {
		name, option string // of the field; of the credential, too
		at           *string
		use          func([]byte) error
	}{
		{"creds", "", &c.Creds, c.useCreds},
		{"secret", "", &c.Secret, c.useSecret},
		{"mqtt", "password=", &c.MQTT.Password, usePassword},
	} {
		if *f.at == "" {
			*f.at = credential(f.name)
		}
		if *f.at == "" {
			continue
		}
		b, err := os.ReadFile(*f.at)
		if err == nil {
			err = f.use(b)
		}
		if err == nil && (f.name != "creds" || c.Enrolled.Seed != "") { // certificates are no secret
			err = checkMode(*f.at)
		}
		if err != nil {
			return &FieldError{f.name, f.option + *f.at, "name a file that can be read: " + err.Error()}
		}
	}
	return nil
}

// handed is the directory in which systemd keeps the credentials of units. systemd lets only the
// unit's user read these files, by wider file modes or by access lists.
const handed = "/run/credentials/"

// checkMode returns an error if users other than the owner can use a file that holds a secret.
func checkMode(name string) error {
	clean := filepath.Clean(name)
	if strings.HasPrefix(clean, handed) || filepath.Dir(clean) == os.Getenv("CREDENTIALS_DIRECTORY") {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others can use this secret (mode %04o): chmod 600 %s", mode, name)
	}
	return nil
}

// useCreds uses the credentials of the enrollment. No error of this file's functions contains a
// part of a secret.
func (c *Config) useCreds(b []byte) (err error) {
	c.Enrolled, err = ReadCredentials(b)
	return err
}

func (c *Config) useSecret(b []byte) error {
	if len(b) != runKeyLen {
		return fmt.Errorf("it has %d bytes, but a run key from zofl plan --secret has %d",
			len(b), runKeyLen)
	}
	c.RunKey = b
	return nil
}

func usePassword(b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return errors.New("it is empty")
	}
	return nil
}

// runKeyLen is the number of bytes of a run key.
const runKeyLen = 32

// credential returns the file of a systemd credential, or "" if there is none: the unit
// sets each credential that is not installed to a line feed.
func credential(name string) string {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return ""
	}
	path := filepath.Join(dir, name)
	if b, err := os.ReadFile(path); err != nil || len(bytes.TrimSpace(b)) == 0 {
		return ""
	}
	return path
}
