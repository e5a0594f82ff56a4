package main

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zofl/zofl/wire"
)

// check completes a configuration by what the system says, and looks at what one field
// has to do with another.
func (c *Config) check() error {
	for _, step := range []func() error{c.checkNames, c.checkState, c.checkSource, c.checkWindow, c.checkCredentials, c.checkSecurity} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// everyHost are names that more than one host has.
var everyHost = map[string]bool{"raspberrypi": true, "localhost": true, "raspberry": true, "debian": true}

func (c *Config) checkNames() error {
	if err := wire.CheckName(c.Run); err != nil {
		return &FieldError{"run", c.Run, "name the coordinator's run: " + err.Error()}
	}
	if c.ID == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("id: it is missing, and the host has no name: %w", err)
		}
		c.ID, _, _ = strings.Cut(host, ".")
		if everyHost[c.ID] {
			return &FieldError{"id", c.ID, "that is the name of many hosts: set id to one that no other device has"}
		}
	}
	if err := wire.CheckName(c.ID); err != nil {
		return &FieldError{"id", c.ID, "set id to a name that no other device has: " + err.Error()}
	}
	return nil
}

func (c *Config) checkState() error {
	if c.State == "" { // systemd may name several, with colons
		c.State, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	}
	if c.State == "" {
		return &FieldError{"state", "", "name a directory that survives a restart; under systemd StateDirectory= does"}
	}
	return nil
}

func (c *Config) checkSource() error {
	if c.Source.Kind == "" {
		return &FieldError{"source", "", "write csv FILE, replay FILE or sysfs DIR"}
	}
	if len(c.Channels) == 0 {
		return &FieldError{"channel", "", "write one for each thing that is measured, such as channel = temperature center=20 scale=5"}
	}
	if c.Name != "" && c.Source.Kind != "sysfs" {
		return &FieldError{"sensor", c.Name, "it is for source = sysfs DIR: leave it out"}
	}
	if _, err := filepath.Match(c.Source.Path, ""); c.Name != "" && err != nil {
		return &FieldError{"source", c.Source.Path, "with sensor it is a pattern, such as /sys/bus/iio/devices/iio:device*"}
	}
	return nil
}

func (c *Config) checkWindow() error {
	const day = 24 * time.Hour
	if c.Period > day || day%c.Period != 0 {
		return &FieldError{"period", c.Period.String(), "give a part of a day, such as 1m, 5m or 1h: the network compares with yesterday"}
	}
	if time.Duration(c.Ahead)*c.Period > day {
		return &FieldError{"ahead", fmt.Sprint(c.Ahead), "that is more than a day: give fewer periods"}
	}
	most := int(float64(c.Window-c.Lags-c.Ahead)*(1-c.HeldOut)) - c.Ahead - 1
	switch {
	case most < 1:
		return &FieldError{"window", fmt.Sprint(c.Window), "too few to learn from: give several times lags + 2 ahead"}
	case c.Least > most:
		return &FieldError{"least", fmt.Sprint(c.Least), fmt.Sprintf("the window has %d to train on when it is full: give that or fewer", most)}
	}
	return nil
}

// checkCredentials takes the files that systemd's LoadCredential= has, if they are there
// and not blank, and looks into those that it can judge: a file that a power cut left
// empty is not worth an attempt every few seconds.
func (c *Config) checkCredentials() error {
	names := [...]string{"ca", "creds", "secret"}
	for i, at := range [...]*string{&c.CA, &c.Creds, &c.Secret} {
		if *at == "" {
			*at = credential(names[i])
		}
		if *at == "" {
			continue
		}
		b, err := os.ReadFile(*at)
		if err == nil {
			err = c.checkCredential(names[i], b)
		}
		if err != nil {
			return &FieldError{names[i], *at, "name a file that can be read: " + err.Error()}
		}
	}
	return nil
}

// checkCredential looks into a file, of which it never says what it has, and takes the
// run key of one.
func (c *Config) checkCredential(name string, b []byte) error {
	switch {
	case name == "secret" && len(b) != runKeyLen:
		return fmt.Errorf("it has %d bytes, and the run key that zofl plan --secret makes %d", len(b), runKeyLen)
	case name == "secret":
		c.RunKey = b
	case len(bytes.TrimSpace(b)) == 0:
		return errors.New("it is empty")
	case name == "ca" && !x509.NewCertPool().AppendCertsFromPEM(b):
		return errors.New("it has no certificate in PEM")
	}
	return nil
}

// runKeyLen is the bytes of a run key.
const runKeyLen = 32

// credential returns the file of one of systemd's credentials, "" if there is none: the
// unit has a line's end in the place of each that was not installed.
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

// checkSecurity refuses to show a password or readings' losses to a network.
func (c *Config) checkSecurity() error {
	for _, server := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil || u.Hostname() == "" || !schemes[u.Scheme] {
			return &FieldError{"url", redact(c.URL), "write it as tls://HOST:PORT, or nats://127.0.0.1:4222 for a broker on this machine"}
		}
		if u.Scheme != "tls" && u.Scheme != "wss" && c.CA == "" && !c.Plaintext && !loopback(u.Hostname()) {
			return &FieldError{"url", redact(c.URL), "the broker is elsewhere and nothing is encrypted: write tls://, or set plaintext = yes where the network is yours alone"}
		}
	}
	return nil
}

// schemes are those that NATS has: it takes any other for one of them, without TLS.
var schemes = map[string]bool{"nats": true, "tls": true, "ws": true, "wss": true}

// redact keeps passwords and tokens from the journal.
func redact(servers string) string {
	list := strings.Split(servers, ",")
	for i, s := range list {
		if at := strings.LastIndexByte(s, '@'); at >= 0 {
			list[i] = "xxxxx" + s[at:]
		}
	}
	return strings.Join(list, ",")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
