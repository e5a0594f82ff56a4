package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// reporting is a loss program that reports a number of its own with each loss.
const reporting = `while read -r verb args; do
	case $verb in
	hello) echo "hello 1 dim=20" ;;
	map) echo ok ;;
	loss) echo "report temperature=$1 bad" && echo "loss 1" ;;
	esac
done
`

// TestReportedAndAlerted: numbers that loss programs report are in the history, the metrics, the
// status and the list of devices; people hear by webhook and by command of a pause and of the end;
// and after the end no device is present.
func TestReportedAndAlerted(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	got := &await.Text{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(got, r.Body)
		_, _ = io.WriteString(got, "\n")
	}))
	defer hook.Close()
	dir, address := t.TempDir(), freeport.Address(t)
	loss, notify := filepath.Join(dir, "loss.sh"), filepath.Join(dir, "notify.sh")
	told := filepath.Join(dir, "told")
	for name, text := range map[string]string{loss: reporting,
		notify: "#!/bin/sh\necho \"$ZOFL_KIND $ZOFL_STATE $ZOFL_REMEDY\" >> " + told + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	k := newKitchenOf(t, append(calm, "--set", "quorum=2"), "--http", address,
		"--alert-url", hook.URL, "--alert-command", notify)
	devices := map[string]*process{}
	for id, heat := range map[string]string{"cold": "10", "warm": "31.5"} {
		devices[id] = k.exec(id, []string{"sh", loss, heat})
	}
	k.reach(12)
	for _, command := range [][]string{{"pause", "--reason", "lunch"}, {"resume"}} {
		if _, err := k.ask(command...); err != nil {
			t.Fatal(err)
		}
	}
	b := &browser{t: t, home: "http://" + address}
	await.That(t, "both temperatures are in the metrics", func() bool {
		_, body := b.ask("GET", "/metrics", "")
		return strings.Contains(body, `zofl_reported{name="temperature",of="min",run="kitchen"} 10`) &&
			strings.Contains(body, `zofl_reported{name="temperature",of="max",run="kitchen"} 31.5`)
	})
	if s := k.reach(13); s.Reported["temperature"].Max != 31.5 || s.Present != 2 {
		t.Errorf("status %+v", s)
	}
	if _, err := k.ask("stop", "--reason", "enough"); err != nil {
		t.Fatal(err)
	}
	for id, d := range devices {
		if code := d.exited(); code != 0 || strings.Count(d.stderr.String(), "NAME=NUMBER") != 1 {
			t.Errorf("%s: exit code %d: %s", id, code, d.stderr.String())
		}
	}
	checkAfterTheEnd(t, k, b)
	for _, want := range []string{`"kind":"paused","state":"firing"`, `"state":"resolved"`,
		`has ended`, `lunch`} {
		if !got.Says(want) {
			t.Errorf("the webhook got %s, want %s in it", got, want)
		}
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(told)
	want := "paused firing zofl resume --run kitchen\npaused resolved \nended firing zofl report"
	if err != nil || !strings.HasPrefix(string(text), want) {
		t.Errorf("the command was told %q, %v; want %q", text, err, want)
	}
}

// checkAfterTheEnd checks what is shown of a run that has ended.
func checkAfterTheEnd(t *testing.T, k *kitchen, b *browser) {
	t.Helper()
	s := k.reach(1)
	if s.State != "ended" || s.Present != 0 || s.Members != 2 {
		t.Errorf("after the end: %+v", s)
	}
	out, err := zofl(t, "devices", "--url", k.url, "--run", "kitchen", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Devices []operate.Device }
	decode(t, out, &list)
	for _, d := range list.Devices {
		want := map[string]float64{"cold": 10, "warm": 31.5}[d.ID]
		if d.State != "ended" || d.LastSeen == nil || d.Reported["temperature"] != want {
			t.Errorf("device %+v, want an ended one with %v", d, want)
		}
	}
	if _, page := b.ask("GET", "/api/runs/kitchen/devices", ""); !strings.Contains(page,
		`"reported":{"temperature":`) || strings.Contains(page, `"present"`) {
		t.Errorf("the page gets %s", page)
	}
	found := 0
	for _, p := range historyOf(t, "--store", k.log).Points {
		if r, has := p.Reported["temperature"]; has {
			found += int(r.Reporters)
		}
	}
	csv, err := zofl(t, "history", "--store", k.log, "--csv")
	if found < 4 || err != nil || !strings.Contains(csv, ",reported.temperature,") {
		t.Errorf("%d values in the history, %v: %.300s", found, err, csv)
	}
	if table, err := zofl(t, "history", "--store", k.log, "--from", "0"); err != nil ||
		!strings.Contains(table, "TEMPERATURE") {
		t.Errorf("%v: %s", err, table)
	}
}

// TestServeRefusesAlerts: an address or a command that cannot work is named before the run begins,
// without what is secret.
func TestServeRefusesAlerts(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--alert-url ftp://hooks/secret", "--alert-url: give the http or https address"},
		{"--alert-url @none/secret.url", "--alert-url: open none"},
		{"--alert-command no-such-program-of-zofl", "--alert-command"},
		{"--alert-command 'a", "no shell reads it"},
		{"--alert-after 5m", "--alert-after: no alert is sent: give --alert-url"},
		{"--alert-url http://127.0.0.1:1 --alert-after -1s", "--alert-after -1s: give a time"},
	} {
		args := append([]string{"serve", "plan.json", "--store", t.TempDir()},
			strings.Fields(c.flags)...)
		_, err := zofl(t, args...)
		refused(t, err, []string{c.want})
		if strings.Contains(fmt.Sprint(err), "//hooks/secret") {
			t.Errorf("%s: %v", c.flags, err)
		}
	}
}
