package lab

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
)

// The page of a demo has the metrics that the page of serve has, at the same path.
func TestDemoHasMetrics(t *testing.T) {
	address := freeport.Address(t)
	cfg := demo.Defaults()
	cfg.Clients, cfg.Rounds, cfg.Method = 2, 3, "decomfl"
	_, stop, err := pageFor(t.Context(), &cfg, address)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := demo.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 ||
		!strings.Contains(string(text), `zofl_rounds_total{run="demo"} 3`) {
		t.Errorf("%d %v %s", response.StatusCode, err, text)
	}
}
