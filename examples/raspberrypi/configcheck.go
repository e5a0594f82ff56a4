package main

import (
	"bytes"
	"cmp"
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

// check fills in what the system knows, and checks fields against each other.
func (c *Config) check() error {
	for _, step := range []func() error{c.checkCredentials, c.checkNames, c.checkState,
		c.checkSource, c.checkWindow, c.checkSecurity, c.checkMQTT} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// everyHost are names that many hosts have.
var everyHost = map[string]bool{"raspberrypi": true, "localhost": true,
	"raspberry": true, "debian": true}

func (c *Config) checkNames() error {
	if err := c.checkEnrolled(); err != nil {
		return err
	}
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
			return &FieldError{"id", c.ID,
				"many hosts have that name: set id to one that no other device has"}
		}
	}
	if err := wire.CheckName(c.ID); err != nil {
		return &FieldError{"id", c.ID, "set id to a name that no other device has: " + err.Error()}
	}
	return nil
}

// checkEnrolled uses what an enrolled device was told, where the file says nothing. Its permissions
// are for that run and name alone.
func (c *Config) checkEnrolled() error {
	if c.URL == "" {
		c.URL = cmp.Or(c.Enrolled.url, "nats://127.0.0.1:4222")
	}
	for _, f := range []struct {
		name     string
		at       *string
		enrolled string
	}{{"run", &c.Run, c.Enrolled.run}, {"id", &c.ID, c.Enrolled.id}} {
		if *f.at == "" {
			*f.at = f.enrolled
		}
		if f.enrolled != "" && *f.at != f.enrolled {
			return &FieldError{f.name, *f.at, "this device was enrolled as " + f.enrolled +
				": leave the field out, or enroll it anew"}
		}
	}
	c.Run = cmp.Or(c.Run, "rooms")
	return nil
}

func (c *Config) checkState() error {
	if c.State == "" { // systemd may list several, separated by colons
		c.State, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	}
	if c.State == "" {
		return &FieldError{"state", "",
			"name a directory that survives a restart; under systemd StateDirectory= does"}
	}
	return nil
}

func (c *Config) checkSource() error {
	if c.Source.Kind == "" {
		return &FieldError{"source", "", "write csv FILE, replay FILE, sysfs DIR or mqtt"}
	}
	if len(c.Channels) == 0 {
		return &FieldError{"channel", "",
			"write one for each quantity measured, such as channel = temperature center=20 scale=5"}
	}
	if c.Source.Name != "" && c.Source.Kind != "sysfs" {
		return &FieldError{"source", "sensor=" + c.Source.Name,
			"it is for source = sysfs DIR: leave it out"}
	}
	if _, err := filepath.Match(c.Source.Path, ""); c.Source.Name != "" && err != nil {
		return &FieldError{"source", c.Source.Path,
			"with sensor it is a pattern, such as /sys/bus/iio/devices/iio:device*"}
	}
	return nil
}

func (c *Config) checkWindow() error {
	const day = 24 * time.Hour
	if c.Period > day || day%c.Period != 0 {
		return &FieldError{"model", "period=" + c.Period.String(), "give one that divides a day, such as " +
			"1m, 5m or 1h: it must be a part of a day to compare with yesterday"}
	}
	if time.Duration(c.Ahead)*c.Period > day {
		return &FieldError{"model", fmt.Sprint("ahead=", c.Ahead), "that is more than a day: give fewer periods"}
	}
	most := int(float64(c.Window-c.Lags-c.Ahead)*(1-c.HeldOut)) - c.Ahead - 1
	switch {
	case most < 1:
		return &FieldError{"window", fmt.Sprint(c.Window),
			"too few slots to learn from: give several times lags + 2 ahead"}
	case c.Least > most:
		return &FieldError{"window", fmt.Sprint("least=", c.Least),
			fmt.Sprintf("the window has %d examples when it is full: give at most that", most)}
	}
	return nil
}

// checkCredentials uses the files of systemd's LoadCredential= if they exist and are not
// blank, and checks the content that it can judge: if a power cut left a file empty, an
// attempt to connect every few seconds would be useless.
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
		if err != nil {
			return &FieldError{f.name, f.option + *f.at, "name a file that can be read: " + err.Error()}
		}
	}
	return nil
}

// useCreds takes what a device was enrolled with. It never shows a file's content, nor does any
// other of these.
func (c *Config) useCreds(b []byte) (err error) {
	c.Enrolled, err = readCredentials(b)
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

// checkSecurity refuses to send a password or the losses over a network in the clear.
func (c *Config) checkSecurity() error {
	for _, server := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil || u.Hostname() == "" || !schemes[u.Scheme] {
			return &FieldError{"url", redact(c.URL),
				"write it as tls://HOST:PORT, or nats://127.0.0.1:4222 for a broker on this machine"}
		}
		if u.Scheme != "tls" && u.Scheme != "wss" && !c.Enrolled.trusts() && !c.Plaintext &&
			!loopback(u.Hostname()) {
			return &FieldError{"url", redact(c.URL), inClear}
		}
	}
	return nil
}

const inClear = "the broker is on another machine and the connection is not encrypted: write it " +
	"with TLS, as tls:// or mqtts://, or add plaintext=yes if the network is yours alone"

// schemes are those that NATS knows. It would treat any other as one of them, without TLS.
var schemes = map[string]bool{"nats": true, "tls": true, "ws": true, "wss": true}

// redact removes passwords and tokens, for the journal.
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
