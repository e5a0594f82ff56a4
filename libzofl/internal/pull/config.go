package pull

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/enroll"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/signed"
)

// Config has the fields of zofl_config in libzofl.h, which says what they mean.
type Config struct {
	URL, Creds, CA, Enroll string
	Coordinator            string
	Run, ID                string
	Store                  string
	Program                string
	Secret                 []byte
	Dim                    uint64
	Initial                []float32
	Weight, MaxBatch       uint32
	Workers                uint32
	MemoryLimit            uint64
	Passive                bool
	Plaintext              bool
	HeldOut                bool

	card  *enroll.Card // of Enroll; nil: none
	creds []byte       // the text of Creds, also where Creds names a file; nil: none
	roots []byte       // certificates in PEM; nil: the system's
}

func badConfig(format string, args ...any) error { return faultf(BadConfig, format, args...) }

// settle fills in what Enroll and the texts of files say, and refuses what package client cannot
// know to be wrong.
func (c *Config) settle() error {
	if err := c.enroll(); err != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	switch about := (deviceinfo.Device{Program: c.Program}); {
	case c.URL == "":
		return badConfig("url: give the address of the broker, such as tls://zofl.example.org:4222")
	case !c.Passive && c.Dim < 1:
		return badConfig("dim = 0: give the model's number of parameters")
	case c.Dim > min(plan.MaxDim, math.MaxInt/4):
		return badConfig("dim = %d: give at most %d parameters", c.Dim,
			uint64(min(plan.MaxDim, math.MaxInt/4)))
	case c.Weight > math.MaxInt32 || c.MaxBatch > math.MaxInt32 || c.Workers > math.MaxInt32:
		return badConfig("weight = %d, max_batch = %d, workers = %d: give at most %d each", c.Weight,
			c.MaxBatch, c.Workers, math.MaxInt32)
	case about.Check() != nil:
		return badConfig("program: %v", about.Check())
	}
	for address := range strings.SplitSeq(c.URL, ",") {
		if err := c.checkAddress(strings.TrimSpace(address)); err != nil {
			return err
		}
	}
	return nil
}

// enroll takes the device's place in a run from the line of `zofl device add --qr`.
func (c *Config) enroll() error {
	if c.Enroll == "" {
		return nil
	}
	if c.URL != "" || c.Creds != "" || c.CA != "" || c.Run != "" || c.ID != "" {
		return badConfig("enroll: the line says url, creds, ca, run and id: leave these NULL")
	}
	card, err := enroll.Parse(c.Enroll)
	switch {
	case errors.Is(err, enroll.ErrVersion):
		return &fault{Upgrade, fmt.Errorf("enroll: %w", err)}
	case err != nil:
		return badConfig("enroll: %w", err)
	}
	c.card, c.URL, c.Run, c.ID = card, card.URL, card.Run, card.ID
	if c.Coordinator == "" {
		c.Coordinator = card.Key
	}
	return nil
}

// read reads the texts that Creds and CA name, or are.
func (c *Config) read() (err error) {
	if c.creds, err = textOf("creds", c.Creds); err != nil {
		return err
	}
	if c.roots, err = textOf("ca", c.CA); err != nil {
		return err
	}
	if c.creds == nil {
		return nil
	}
	for _, part := range []string{"-----BEGIN NATS USER JWT-----", "-----BEGIN USER NKEY SEED-----"} {
		if !bytes.Contains(c.creds, []byte(part)) {
			return badConfig("creds: no %q: give the file that `zofl device add` writes", part)
		}
	}
	keys, err := signed.KeysIn(string(c.creds))
	if err != nil {
		return badConfig("creds: the coordinator's key is damaged: %v", err)
	}
	if keys != nil && c.Coordinator == "" {
		c.Coordinator = keys.String()
	}
	if c.roots == nil && bytes.Contains(c.creds, []byte(certificate)) {
		c.roots = c.creds // of `zofl device add`, for a broker with its own authority
	}
	return nil
}

const certificate = "-----BEGIN CERTIFICATE-----"

// textOf returns a text that a field holds, or whose file it names. "" is no text.
func textOf(field, value string) ([]byte, error) {
	switch {
	case value == "":
		return nil, nil
	case strings.Contains(value, "-----BEGIN"):
		return []byte(value), nil
	}
	text, err := os.ReadFile(value)
	if err != nil {
		return nil, badConfig("%s: %w: name a file, or give its text", field, err)
	}
	return text, nil
}

// checkAddress refuses an address that NATS cannot connect to, and one of another machine without
// TLS.
func (c *Config) checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return badConfig("url: no address: write it as tls://host:4222") // it may have a password
	}
	if !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
		return badConfig("url: %s begins with none of tls://, wss://, nats:// and ws://", u.Redacted())
	}
	secure := u.Scheme == "tls" || u.Scheme == "wss" || u.Scheme == "nats" && c.tls() != nil
	ip := net.ParseIP(u.Hostname())
	if loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(); !secure &&
		!loopback && !c.Plaintext {
		return badConfig("url: %s is another machine, and no TLS: whoever is on the way could play the "+
			"coordinator: write tls://%s, or set plaintext", u.Redacted(), u.Host)
	}
	return nil
}

// client returns the settings for package client.
func (c *Config) client(d *Device) client.Config {
	config := client.Config{
		Run: c.Run, ID: c.ID, Initial: c.Initial, RunKey: c.Secret, Coordinator: c.Coordinator,
		Workers: int(c.Workers), MemoryLimit: c.MemoryLimit, MaxBatch: int(c.MaxBatch),
		Recorder: client.RecorderFunc(d.record), Accept: d.accept,
		NotStrict: true, // the app sees itself what its losses come to
	}
	switch {
	case c.Passive:
		config.Passive = &client.Passive{}
	case c.HeldOut:
		config.Objective = measured{losses{d}}
	default:
		config.Objective = losses{d}
	}
	if c.Program != "" {
		config.About = func() deviceinfo.Device { return deviceinfo.Device{Program: c.Program} }
	}
	return config
}
