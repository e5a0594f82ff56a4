package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zofl/zofl/plan"
)

// check fills in the settings that the system knows, and checks fields against each other.
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
	if err := plan.CheckName(c.Run); err != nil {
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
	if err := plan.CheckName(c.ID); err != nil {
		return &FieldError{"id", c.ID, "set id to a name that no other device has: " + err.Error()}
	}
	return nil
}

// checkEnrolled uses the settings from the enrollment where the file has none. The permissions of
// the enrollment hold for its run and its device name alone.
func (c *Config) checkEnrolled() error {
	c.URL = cmp.Or(c.URL, c.Enrolled.URL, "nats://127.0.0.1:4222")
	for _, f := range []struct {
		name     string
		at       *string
		enrolled string
	}{{"run", &c.Run, c.Enrolled.Run}, {"id", &c.ID, c.Enrolled.ID}} {
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
		return &FieldError{"model", "period=" + c.Period.String(),
			"give one that divides a day, such as " +
				"1m, 5m or 1h: it must be a part of a day to compare with yesterday"}
	}
	if time.Duration(c.Ahead)*c.Period > day {
		return &FieldError{"model", fmt.Sprint("ahead=", c.Ahead),
			"that is more than a day: give fewer periods"}
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

// checkSecurity refuses to send a password or the losses over a network in the clear.
func (c *Config) checkSecurity() error {
	for _, server := range strings.Split(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil || u.Hostname() == "" || !schemes[u.Scheme] {
			return &FieldError{"url", Redact(c.URL),
				"write it as tls://HOST:PORT, or nats://127.0.0.1:4222 for a broker on this machine"}
		}
		if u.Scheme != "tls" && u.Scheme != "wss" && !c.Enrolled.trusts() && !c.Plaintext &&
			!loopback(u.Hostname()) {
			return &FieldError{"url", Redact(c.URL), inClear}
		}
	}
	return nil
}

const inClear = "the broker is on another machine and the connection is not encrypted: write it " +
	"with TLS, as tls:// or mqtts://, or add plaintext=yes if the network is yours alone"

// schemes are the URL schemes that NATS knows. NATS would treat any other scheme as one of these,
// without TLS.
var schemes = map[string]bool{"nats": true, "tls": true, "ws": true, "wss": true}

// Redact removes passwords and tokens, for the journal.
func Redact(servers string) string {
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
