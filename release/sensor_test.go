//go:build linux && !race

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// line is what zofl device add --qr prints for a device called pi.
const line = "zofl:?v=1&url=nats%3A%2F%2F127.0.0.1%3A1&run=hall&id=pi&jwt=eyJ.x&" +
	"seed=SUAENQQY4ROMT45PSK65UC57C7L3HBGDZSBRX2FHEBUQ6CSFQUSA4ZA7IU&ca="

// TestSensor installs the agent's package in a Debian, enrolls the device with one command, and
// starts the unit there, under systemd with all of its limits: the agent is who the line says,
// reads, keeps what it has in its directory, serves its page, goes on after an upgrade, and is not
// tried again with a configuration that cannot be used.
func TestSensor(t *testing.T) {
	m := released(t)
	address := freeport.Address(t)
	conf := "source = csv /srv/room.csv\nchannel = temperature\noutput = page " + address +
		"\noutput = json /var/lib/zofl-sensor/lines\n"
	c := boot(t, m.pack(t, "zofl-sensor"), map[string]string{
		"etc/zofl-sensor/sensor.conf": conf,
		"etc/bad.conf":                "color = red\n",
		"srv/room.csv":                "time,temperature\n2026-01-31T12:00:00Z,20\n",
		"etc/systemd/system/zofl-sensor.service.d/log.conf": logged,
	})
	c.must("systemd-analyze", "verify", "zofl-sensor.service")
	c.must("zofl-sensor", "enroll", line+strings.Repeat("A", 43))
	c.must("systemctl", "enable", "--now", "zofl-sensor")
	page := func() error {
		r, err := http.Get("http://" + address + "/")
		if err != nil {
			return err
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err == nil && !strings.Contains(string(text), "<h1>pi</h1>") { // it is who the line says
			err = fmt.Errorf("the page of another: %s", text)
		}
		return err
	}
	c.until("the page", page)
	if user := c.show("zofl-sensor", "DynamicUser"); user != "yes" {
		t.Errorf("it runs with a user of its own: %s", user)
	}
	pid := c.show("zofl-sensor", "MainPID")
	c.must("dpkg", "--install", "/tmp/package.deb") // an upgrade, to the same version
	c.until("another process", func() error {
		if now := c.show("zofl-sensor", "MainPID"); now == pid || now == "0" {
			return errors.New("ended, and not back")
		}
		return page()
	})
	if err := c.run("grep", "-q", "source = csv", "/etc/zofl-sensor/sensor.conf"); err != nil {
		t.Errorf("the configuration after an upgrade: %v", err)
	}
	c.must("systemctl", "stop", "zofl-sensor")
	if result := c.show("zofl-sensor", "Result"); result != "success" {
		t.Errorf("stopped with %q", result)
	}
	if err := c.run("sh", "-c", "ls /var/lib/zofl-sensor/readings/window-*"); err != nil {
		t.Errorf("its window: %v", err)
	}
	c.must("cp", "/etc/bad.conf", "/etc/zofl-sensor/sensor.conf")
	_ = c.run("systemctl", "start", "zofl-sensor") // which fails
	c.until("a configuration that cannot be used", func() error {
		if state := c.show("zofl-sensor", "ActiveState"); state != "failed" {
			return errors.New(state)
		}
		return nil
	})
	if n := c.show("zofl-sensor", "NRestarts"); n != "0" || !strings.Contains(c.read("zofl.log"),
		"there is no such field") {
		t.Errorf("it was tried again %s times:\n%s", n, c.read("zofl.log"))
	}
	c.must("dpkg", "--purge", "zofl-sensor")
	if err := c.run("ls", "/var/lib/private/zofl-sensor"); err == nil {
		t.Error("a purge leaves the readings")
	}
}
