package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
)

func TestConfigFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.conf")
	text := "\ufeffid = kitchen # the one above\n# a comment\n\nstate=/var/x\n source = sysfs " +
		"/sys/bus/iio/devices/iio:device0\n" +
		"channel = temperature center=20 scale=5 from=in_temp factor=0.001\nmodel = ahead=3 lags=9\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Read(path, []string{"model=ahead=4", "pace=2s"})
	if err != nil {
		t.Fatal(err)
	}
	ch := Channel{Name: "temperature", Center: 20, Scale: 5, Change: 0.5, Noise: 0.05,
		From: "in_temp", Factor: 0.001, Unit: "°C"}
	if cfg.ID != "kitchen" || cfg.Ahead != 4 || cfg.Lags != 9 || cfg.Pace != 2*time.Second ||
		cfg.Period != 5*time.Minute ||
		cfg.Source != (Source{Kind: "sysfs", Path: "/sys/bus/iio/devices/iio:device0", Time: "time"}) ||
		len(cfg.Channels) != 1 || cfg.Channels[0] != ch {
		t.Errorf("read %+v", cfg)
	}
}

// Each error names the field, its value and the remedy.
func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ line, field, remedy string }{
		{"nonsense", "line", "field = value"},
		{"colour = red", "colour", "choose one of url"},
		{"run = a b", "run", "name the coordinator's run"},
		{"id = ä", "id", "no other device"},
		{"creds = /nowhere", "creds", "can be read"},
		{"secret = /nowhere", "secret", "can be read"},
		{"secret = " + configtest.File(t, "too short"), "secret", "9 bytes"},
		{"creds = " + configtest.File(t, "not PEM"), "creds", "certificates in PEM"},
		{"creds = " + configtest.File(t, "zofl:?v=2"), "creds", "version"},
		{"creds = " + configtest.File(t, "\n"), "creds", "is empty"},
		{"url = http://127.0.0.1:4222", "url", "tls://"},
		{"url = nats://x plaintext=maybe", "url", "yes or no"},
		{"url = nats://broker:4222", "url", "tls://"},
		{"url = nats://127.0.0.1:1,nats://10.0.0.1:1", "url", "plaintext=yes"},
		{"url = ::", "url", "tls://HOST"},
		{"source = file", "source", "sysfs DIR"},
		{"source =", "source", "sysfs DIR"},
		{"source = mqtt there", "source", "or mqtt"},
		{"source = mqtt", "mqtt", "name it"},
		{"source = csv f sensor=x", "source", "leave it out"},
		{"channel =", "channel", "begin with"},
		{"channel = temperature", "channel", "name each once"},
		{"channel = kitchen/door", "channel", "name it otherwise"},
		{"channel = x scale=0", "channel", "not above 0"},
		{"channel = x scale=abc", "channel", "no number"},
		{"channel = x scala=1", "channel", "no option"},
		{"channel = x center=NaN", "channel", "no number"},
		{"model = period=7m", "model", "part of a day"},
		{"model = period=0s", "model", "1s or more"},
		{"model = period=five", "model", "5m"},
		{"model = lags=0", "model", "1 to 1000"},
		{"model = ahead=1.5", "model", "whole number"},
		{"model = ahead=289", "model", "more than a day"},
		{"model = 5m", "model", "lags, ahead or hidden"},
		{"window = 20", "window", "too few"},
		{"window = least=4000", "window", "when it is full"},
		{"pace = -1s", "pace", "0s or more"},
		{"anomaly = x", "anomaly", "number from"},
		{"source = replay f speed=-1", "source", "number from 0"},
		{"output = json", "output", "page HOST:PORT"},
		{"output = fax 1", "output", "page HOST:PORT"},
		{"mqtt = http://x", "mqtt", "mqtts://HOST"},
		{"mqtt = mqtt://ha.local", "mqtt", "plaintext=yes"},
		{"mqtt = mqtts://x prefix=a/#", "mqtt", "name one"},
		{"mqtt = mqtts://x password=/nowhere", "mqtt", "can be read"},
		{"mqtt = mqtts://x password=" + configtest.File(t, "\n"), "mqtt", "is empty"},
		{"mqtt = mqtts://x ca=" + configtest.File(t, "not PEM"), "mqtt", "in PEM"},
	} {
		_, err := Parse([]string{"id = a", "state = b", "source = csv f",
			"channel = temperature", c.line})
		var bad *FieldError
		_, value, _ := strings.Cut(c.line, "=")
		if i := strings.LastIndexByte(value, ' '); c.field == "mqtt" || strings.Contains(value, "=") {
			value = value[i+1:] // an option
		}
		if !errors.As(err, &bad) || bad.Field != c.field ||
			!strings.Contains(bad.Remedy, c.remedy) ||
			!strings.Contains(err.Error(), strings.TrimSpace(value)) {
			t.Errorf("%s: %v, want field %s, the value, and %q", c.line, err, c.field, c.remedy)
		}
	}
}

func TestConfigMissing(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "")
	all := []string{"id = a", "state = b", "source = csv f", "channel = x"}
	for i, field := range []string{"", "state", "source", "channel"} {
		if field == "" {
			continue
		}
		lines := append(append([]string{}, all[:i]...), all[i+1:]...)
		var bad *FieldError
		if _, err := Parse(lines); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("without %s: %v", field, err)
		}
	}
}

// Read refuses a file that is too long. It does not leave out the end of the file.
func TestConfigTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.conf")
	text := strings.Repeat("# a comment\n", mostConfig/12+1) + "id = a\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, nil); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v, want an error", err)
	}
}

// What systemd provides is used where the file does not set it.
func TestConfigOfSystemd(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("STATE_DIRECTORY", "/var/lib/one:/var/lib/two")
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	key := strings.Repeat("k", runKeyLen)
	line := "zofl:?v=1&url=tls://broker:4222&run=hall&id=pi&jwt=eyJ&seed=" +
		configtest.Seed(t) + "&ca=" + strings.Repeat("A", 43)
	for name, text := range map[string]string{"mqtt": "\n", "creds": line, "secret": key} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := Parse([]string{"source = csv f", "channel = x"})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.State != "/var/lib/one" || cfg.MQTT.Password != "" || string(cfg.RunKey) != key ||
		cfg.Creds != filepath.Join(dir, "creds") {
		t.Errorf("%+v", cfg)
	}
	if cfg.URL != "tls://broker:4222" || cfg.Run != "hall" || cfg.ID != "pi" {
		t.Errorf("enrolled as %s in %s at %s", cfg.ID, cfg.Run, cfg.URL)
	}
	var other *FieldError
	if _, err := Parse([]string{"id = a", "source = csv f", "channel = x"}); !errors.As(err,
		&other) || other.Field != "id" {
		t.Errorf("another name than it was enrolled with: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "creds")); err != nil {
		t.Fatal(err)
	}
	// A run key that was lost counts as none, unless the configuration names it.
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg, err := Parse([]string{"id = a", "source = csv f", "channel = x"}); err != nil ||
		cfg.RunKey != nil {
		t.Errorf("a lost run key: %v", err)
	}
	var bad *FieldError
	if _, err := Parse([]string{"id = a", "source = csv f", "channel = x", "secret = " +
		filepath.Join(dir, "secret")}); !errors.As(err, &bad) || bad.Field != "secret" {
		t.Errorf("a lost run key that is asked for: %v", err)
	}
}

func TestReadmeListsEveryField(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		row := "| `" + f.name + "` | " + f.fallback + " | " + f.meaning + " |"
		if !strings.Contains(string(b), row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
}

// A password in a URL is never logged.
func TestPasswordIsNotTold(t *testing.T) {
	for _, url := range []string{"nats://user:hidden@broker",
		"nats://127.0.0.1,nats://hidden@broker", "nats://user:hid den@b", "http://hidden@broker"} {
		_, err := Parse([]string{"id = a", "state = b", "source = csv f",
			"channel = x", "url = " + url})
		if err == nil || strings.Contains(err.Error(), "hid") {
			t.Errorf("%s: got %v, want an error without the password", url, err)
		}
	}
}
