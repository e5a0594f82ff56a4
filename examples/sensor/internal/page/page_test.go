package page

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// serve opens a page with some news.
func serve(t *testing.T) *Page {
	t.Helper()
	p, err := Open("127.0.0.1:0", "kit<chen", []string{"temperature", "humidity"},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	at := time.Unix(3600, 0)
	p.Forecast(notice.Forecast{Channel: "temperature", Unit: "<b>", At: at, Reading: 20.5,
		For: at.Add(time.Hour), Value: 20.123456, Deviation: 0.5, Record: 7})
	for i := range most + 5 {
		p.Unusual(notice.Unusual{Channel: "temperature", At: at, Reading: 5, Forecast: 20})
		p.Unusual(notice.Unusual{Channel: "temperature", At: at, Over: i < most+4})
	}
	p.Forecast(notice.Forecast{Channel: "a channel that nobody named", Record: 1})
	return p
}

// get asks for a path, as a host.
func get(t *testing.T, p *Page, path, host string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest("GET", "http://"+p.Address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

// TestPage checks that the page shows the last reports, as text.
func TestPage(t *testing.T) {
	p := serve(t)
	status, header, text := get(t, p, "/", "127.0.0.1:9")
	for _, want := range []string{"<h1>kit&lt;chen</h1>",
		"<td>20.5 &lt;b&gt;<td>1970-01-01 01:00<td>20.12 ± 0.5 &lt;b&gt;<td>1970-01-01 02:00<td>unusual",
		"<td>humidity<td colspan=5>no forecast yet", "temperature: 5 , where 20 was expected"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "<li>"); status != 200 || n != most ||
		!strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("status %d, %d unusual readings, %v", status, n, header)
	}
	if status, _, _ := get(t, p, "/other", "localhost"); status != http.StatusNotFound {
		t.Errorf("another page: %d", status)
	}
}

// TestHosts checks that a request that names another host gets no answer, such as a request of a
// page whose name resolves to this machine.
func TestHosts(t *testing.T) {
	p := serve(t)
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ = strings.Cut(own, ".")
	for host, want := range map[string]int{"localhost": 200, "[::1]:80": 200, "192.168.1.2": 200,
		own: 200, strings.ToUpper(own) + ".local.:80": 200,
		"evil.example": 421, own + ".evil.example": 421, "127.0.0.1.evil.example": 421} {
		if got, _, text := get(t, p, "/metrics", host); got != want ||
			want != 200 && strings.Contains(text, "zofl") {
			t.Errorf("%s: %d, want %d: %s", host, got, want, text)
		}
	}
}

// TestMetrics: Prometheus reads them. With ZOFL_PROMTOOL its own checker does.
func TestMetrics(t *testing.T) {
	_, header, text := get(t, serve(t), "/metrics", "localhost")
	for _, want := range []string{"zofl_sensor_reading{channel=\"temperature\"} 20.5\n",
		"zofl_sensor_forecast{channel=\"temperature\"} 20.123456\n",
		"zofl_sensor_forecast_timestamp_seconds{channel=\"temperature\"} 7200\n",
		"zofl_sensor_unusual{channel=\"temperature\"} 1\n",
		fmt.Sprintf("zofl_sensor_unusual_total{channel=\"temperature\"} %d\n", most+6),
		"# TYPE zofl_sensor_unusual_total counter\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "humidity") || !strings.Contains(header.Get("Content-Type"), "0.0.4") {
		t.Errorf("%v\n%s", header, text)
	}
	tool := os.Getenv("ZOFL_PROMTOOL")
	if tool == "" {
		t.Skip("ZOFL_PROMTOOL is not set: apt-get install -y prometheus, and set it to promtool")
	}
	check := exec.Command(tool, "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestConnections checks that the page accepts as many connections at the same time as allowed,
// and that a connection makes room for one other, however often it is closed.
func TestConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := bounded(inner).(*queue)
	defer l.Close()
	accept := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if c, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := accept()
	for range connections - 1 {
		accept()
	}
	if n := cap(l.free) - len(l.free); n != 0 {
		t.Errorf("%d places are free, want none", n)
	}
	first.Close()
	first.Close()
	if n := cap(l.free) - len(l.free); n != 1 {
		t.Errorf("%d places are free, want one", n)
	}
	accept()
	ended := make(chan error)
	go func() { _, err := l.Accept(); ended <- err }() // there is no place
	l.Close()
	if err := <-ended; err == nil {
		t.Error("accepted after it was closed")
	}
}
