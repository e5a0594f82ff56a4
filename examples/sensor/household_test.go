//go:build linux && !race

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/examples/sensor/internal/config/configtest"
	"github.com/zofl/zofl/examples/sensor/internal/mqtttest"
	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// programs builds the agent and the coordinator in a directory of the test.
func programs(t *testing.T) (sensor, zofl string) {
	t.Helper()
	dir := t.TempDir()
	sensor, zofl = filepath.Join(dir, "sensor"), filepath.Join(dir, "zofl")
	for program, module := range map[string]string{sensor: ".", zofl: "../../coordinator/zofl"} {
		out, err := exec.Command("go", "build", "-C", module, "-o", program, ".").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return sensor, zofl
}

// process starts a program that ends with the test.
func process(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s %v:\n%s", name, args, said.Bytes())
		}
	})
	return cmd
}

// enlist adds the device, when the coordinator has begun, and enrolls it with the line.
func enlist(t *testing.T, zofl, auth, sensor, creds string) {
	t.Helper()
	for began := time.Now(); ; {
		out, err := exec.Command(zofl, "device", "add", "pi", "--auth", auth, "--qr").CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err == nil {
			take := exec.Command(sensor, "enroll", "-", creds)
			take.Stdin = strings.NewReader(lines[len(lines)-1])
			out, err = take.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "as pi, in run rooms at tls://") {
				t.Fatalf("enroll: %v\n%s", err, out)
			}
			return
		}
		if time.Since(began) > mqtttest.Patience {
			t.Fatalf("device add: %v\n%s", err, out)
		}
	}
}

// TestHousehold is a device's life in a household: it is enrolled by one line,
// reads a thermometer's topic, trains in a run,
// and forecasts arrive at the broker, in a file and on its page. It is killed, and the broker says
// so; it comes back, and leaves.
func TestHousehold(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	sensor, zofl := programs(t)
	s := mqtttest.Settings{Closed: true, Authority: mqtttest.NewAuthority(t)}
	mqtttest.Each(t, s, func(t *testing.T, b *mqtttest.Broker) {
		own := t.TempDir()
		lead, shown := freeport.Address(t), freeport.Address(t)
		lines, password := filepath.Join(own, "lines"), configtest.File(t, mqtttest.Password+"\n")
		auth, creds := filepath.Join(own, "auth"), filepath.Join(own, "user.creds")
		conf := configtest.File(t, strings.Join([]string{"state = " + filepath.Join(own, "state"),
			"creds = " + creds, "source = mqtt", "channel = temperature from=home/room#t",
			"model = period=1s lags=2 ahead=1 hidden=2", "window = 64 least=2",
			"output = json " + lines, "output = page " + shown,
			"mqtt = mqtts://" + b.Address + " user=" + mqtttest.User + " password=" + password +
				" ca=" + s.Authority.CA}, "\n"))
		plan := filepath.Join(own, "plan.json")
		text, err := exec.Command(sensor, "plan", conf, "members=1", "rounds=100000").Output()
		if err == nil {
			err = os.WriteFile(plan, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		process(t, zofl, "serve", plan, "--store", filepath.Join(own, "log"), "--listen", lead,
			"--tls", "--auth", auth)
		enlist(t, zofl, auth, sensor, creds)
		agent := process(t, sensor, conf)
		o := mqtttest.Observe(t, b)
		go measure(t, o)

		o.Until("homeassistant/sensor/zofl_pi_temperature_forecast/config", `"unit_of_measurement":"°C"`)
		o.Until("zofl/pi/status", "online")
		var f notice.Forecast
		told := o.Until("zofl/pi/temperature/forecast", "{").Payload()
		if err := json.Unmarshal(told, &f); err != nil ||
			f.Record == 0 || f.Channel != "temperature" || f.For.Sub(f.At) != time.Second {
			t.Errorf("forecast %+v, %v", f, err)
		}
		written, err := os.ReadFile(lines)
		if err != nil || !bytes.HasPrefix(written, []byte(`{"event":"forecast","id":"pi",`)) {
			t.Errorf("lines %s, %v", written, err)
		}
		if text := fetch(t, "http://"+shown+"/metrics"); !strings.Contains(text,
			`zofl_sensor_forecast{channel="temperature"} `) {
			t.Errorf("metrics %s", text)
		}
		if err := agent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		o.Until("zofl/pi/status", "offline")
		_ = agent.Wait() // it was killed
		agent = process(t, sensor, conf)
		o.Until("zofl/pi/status", "online")
		if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		o.Until("zofl/pi/status", "offline")
		if err := agent.Wait(); err != nil {
			t.Errorf("the agent ended with %v", err)
		}
	})
}

// measure sends what a thermometer does, until the test ends.
func measure(t *testing.T, o *mqtttest.Observer) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-t.Context().Done():
			return
		case <-tick.C:
			o.Offer("home/room", fmt.Sprintf(`{"battery":"ok","t":%v}`, 20+float64(i%50)/10))
		}
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
