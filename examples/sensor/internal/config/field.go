package config

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A field is one field of the configuration: a value, and options NAME=VALUE after it.
type field struct {
	name     string
	fallback string // if the file does not set it; empty: zero, or what meaning says
	meaning  string
	set      func(c *Config, value string) error
	options  []option
}

// An option is a word NAME=VALUE at the end of a field's line.
type option struct {
	name string
	set  func(c *Config, value string) error
}

// fields lists all fields. The fields marked (run) determine the model, so all devices of a run
// must have the same values there.
var fields = []field{
	{"url", "", "broker of the run; for a cluster all, separated by commas; " +
		"plaintext=yes connects to another machine without TLS; default: the one that the " +
		"device was enrolled at, or nats://127.0.0.1:4222",
		text(func(c *Config) *string { return &c.URL }),
		[]option{{"plaintext", yes(func(c *Config) *bool { return &c.Plaintext })}}},
	{"run", "", "name of the run (run); default: the one that it was enrolled in, or rooms",
		text(func(c *Config) *string { return &c.Run }), nil},
	{"id", "", "name of this device, unlike any other's, for the whole run; default: the name it " +
		"was enrolled with, or the host's", text(func(c *Config) *string { return &c.ID }), nil},
	{"creds", "", "file that zofl-sensor enroll wrote, or of zofl device add; or PEM certificates " +
		"of the authorities that sign the broker's; default: the service's",
		text(func(c *Config) *string { return &c.Creds }), nil},
	{"secret", "", "file with the run key of a private run: the 32 bytes that zofl plan " +
		"--secret made; default: the run is not private",
		text(func(c *Config) *string { return &c.Secret }), nil},
	{"state", "", "directory for the state that survives a power cut; default: systemd's " +
		"STATE_DIRECTORY", text(func(c *Config) *string { return &c.State }), nil},
	{"source", "", "csv FILE, which may grow; replay FILE, once to its end, speed=N times as fast " +
		"as it was, at once without; sysfs DIR, of iio or hwmon, or a pattern of which " +
		"sensor=NAME chooses; mqtt. time=COLUMN of a CSV (time) has times as " +
		"2026-01-31T12:00:00Z, 2026-01-31 12:00:00 (UTC), or Unix seconds", setSource,
		sourceOptions},
	{"channel", "", "NAME and options, one line for each channel, in the same order on all " +
		"devices (run)", addChannel, nil},
	{"model", "period=5m lags=12 ahead=6 hidden=16", "(run) period: readings are averaged for " +
		"it, and it divides a day; lags: past periods that a forecast uses; ahead: periods from " +
		"the last reading to its forecast; hidden: units of the hidden layer",
		nothing("period, lags, ahead or hidden"), modelOptions},
	{"window", "4032 least=288", "periods whose readings are kept: two weeks of 5 min; least: " +
		"examples needed before the device joins",
		number(8, 1<<20, func(c *Config) *int { return &c.Window }),
		[]option{{"least", number(1, 1<<20, func(c *Config) *int { return &c.Least })}}},
	{"pace", "0s", "pause before the work of a round, to keep a device mostly idle; less than " +
		"the plan's deadline", duration(0, func(c *Config) *time.Duration { return &c.Pace }), nil},
	{"anomaly", "8", "an error is an anomaly from this many standard deviations of recent errors",
		real(1, 1e6, func(c *Config) *float64 { return &c.Anomaly }), nil},
	{"output", "", "json FILE, or json - for standard output: a line for each forecast and " +
		"anomaly; page HOST:PORT: a page, and metrics for Prometheus; one line for each output",
		addOutput, nil},
	{"mqtt", "", "mqtt://HOST or mqtts://HOST, with user=NAME, password=FILE, ca=FILE, " +
		"plaintext=yes, prefix=TOPIC (zofl), discovery=TOPIC (homeassistant) or no: the broker " +
		"that forecasts go to, and that source = mqtt reads",
		text(func(c *Config) *string { return &c.MQTT.URL }), mqttOptions},
}

var sourceOptions = []option{
	{"speed", real(0, 1e9, func(c *Config) *float64 { return &c.Source.Speed })},
	{"time", text(func(c *Config) *string { return &c.Source.Time })},
	{"sensor", text(func(c *Config) *string { return &c.Source.Name })},
}

var modelOptions = []option{
	{"period", duration(time.Second, func(c *Config) *time.Duration { return &c.Period })},
	{"lags", number(1, 1000, func(c *Config) *int { return &c.Lags })},
	{"ahead", number(1, 1000, func(c *Config) *int { return &c.Ahead })},
	{"hidden", number(1, 1000, func(c *Config) *int { return &c.Hidden })},
}

var mqttOptions = []option{
	{"user", text(func(c *Config) *string { return &c.MQTT.User })},
	{"password", text(func(c *Config) *string { return &c.MQTT.Password })},
	{"ca", text(func(c *Config) *string { return &c.MQTT.CA })},
	{"plaintext", yes(func(c *Config) *bool { return &c.MQTT.Plaintext })},
	{"prefix", text(func(c *Config) *string { return &c.MQTT.Prefix })},
	{"discovery", text(func(c *Config) *string { return &c.MQTT.Discovery })},
}

// read applies the value of a line: the options at its end, then what is before them.
func (f *field) read(c *Config, value string) error {
	optional := false
	for f.options != nil {
		value = strings.TrimSpace(value)
		i := strings.LastIndexAny(value, " \t") + 1
		o, v := f.option(value[i:])
		if o == nil {
			break
		}
		if err := o.set(c, v); err != nil {
			return &FieldError{f.name, value[i:], err.Error()}
		}
		value, optional = value[:i], true
	}
	if optional && value == "" { // options alone change nothing else
		return nil
	}
	return f.set(c, strings.TrimSpace(value))
}

// option returns the option that a word sets, and its value.
func (f *field) option(word string) (*option, string) {
	name, value, ok := strings.Cut(word, "=")
	for i := range f.options {
		if o := &f.options[i]; ok && o.name == name {
			return o, value
		}
	}
	return nil, ""
}

// Print lists the fields of a configuration.
func Print(out io.Writer) error {
	for _, f := range fields {
		if _, err := fmt.Fprintf(out, "%-8s %-34s %s\n", f.name, f.fallback, f.meaning); err != nil {
			return err
		}
	}
	return nil
}
