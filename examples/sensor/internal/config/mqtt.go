package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/zofl/zofl/examples/sensor/internal/mqtt"
	"github.com/zofl/zofl/internal/textfile"
)

// checkMQTT checks the household's broker, and the topics that are read there.
func (c *Config) checkMQTT() error {
	m := &c.MQTT
	if m.URL == "" {
		if c.Source.Kind == "mqtt" {
			return &FieldError{"mqtt", "", "source = mqtt reads topics of a broker: name it, such " +
				"as mqtt = mqtt://homeassistant.local"}
		}
		return nil
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "mqtt" && u.Scheme != "mqtts" {
		return &FieldError{"mqtt", Redact(m.URL), "write it as mqtts://HOST or mqtt://HOST, with " +
			"user=NAME and password=FILE after it"}
	}
	if u.Scheme == "mqtt" && !m.Plaintext && !loopback(u.Hostname()) {
		return &FieldError{"mqtt", m.URL, inClear}
	}
	for option, topic := range map[string]string{"prefix=": m.Prefix, "discovery=": m.Discovery} {
		if err := mqtt.CheckTopic(topic); err != nil {
			return &FieldError{"mqtt", option + topic, "name another topic: " + err.Error()}
		}
	}
	if c.Source.Kind == "mqtt" {
		for _, ch := range c.Channels {
			topic, _, _ := strings.Cut(ch.From, "#")
			if err := mqtt.CheckTopic(topic); err != nil {
				return &FieldError{"channel", ch.Name + " from=" + ch.From,
					"write from=TOPIC or from=TOPIC#FIELD: " + err.Error()}
			}
		}
	}
	_, err = c.Household()
	return err
}

// Household returns how to connect to the household's broker.
func (c *Config) Household() (mqtt.Config, error) {
	m := &c.MQTT
	u, err := url.Parse(m.URL)
	if err != nil {
		return mqtt.Config{}, err
	}
	to := mqtt.Config{Address: u.Host, User: m.User, Client: "zofl-sensor-" + c.ID,
		Will: mqtt.Status(m.Prefix, c.ID)}
	if u.Port() == "" {
		to.Address = u.Hostname() + map[string]string{"mqtt": ":1883", "mqtts": ":8883"}[u.Scheme]
	}
	if u.Scheme == "mqtts" {
		to.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
	}
	if m.CA != "" {
		b, err := os.ReadFile(m.CA)
		if err != nil {
			return to, &FieldError{"mqtt", "ca=" + m.CA, "name a file that can be read: " + err.Error()}
		}
		roots := x509.NewCertPool()
		if to.TLS == nil || !roots.AppendCertsFromPEM(b) {
			return to, &FieldError{"mqtt", "ca=" + m.CA,
				"it is for mqtts://, and has the authorities' certificates in PEM"}
		}
		to.TLS.RootCAs = roots
	}
	if m.Password != "" {
		b, err := os.ReadFile(m.Password)
		if err != nil {
			return to, &FieldError{"mqtt", "password=" + m.Password, fmt.Sprint("name a file: ", err)}
		}
		to.Password = strings.TrimRight(string(textfile.UTF8(b)), "\r\n")
	}
	return to, nil
}
