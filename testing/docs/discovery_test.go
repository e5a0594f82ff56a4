package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// findable adds a service to a device's connection, so that `nats micro ls` finds the device.
func findable(conn *nats.Conn) (micro.Service, error) {
	service, err := micro.AddService(conn, micro.Config{Name: "zofl-kitchen-device", Version: "1.4.0",
		Metadata: map[string]string{"id": "pi-1"}})
	return service, err
}

// TestDiscovery checks that docs/devices.md shows findable, and that a device with findable answers
// the requests of `nats micro`.
func TestDiscovery(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/devices.md"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("discovery_test.go")
	if err != nil {
		t.Fatal(err)
	}
	begin := strings.Index(string(page), "service, err := micro.AddService")
	shown, _, closed := strings.Cut(string(page[max(0, begin):]), "\n```")
	code := strings.ReplaceAll(string(own), "\n\t", "\n")
	if begin < 0 || !closed || !strings.Contains(code, "\n"+shown+"\n") {
		t.Errorf("this file does not run what docs/devices.md shows:\n%s", shown)
	}

	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	device, _, err := b.Connect("device")
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	operator, _, err := b.Connect("operator")
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	service, err := findable(device)
	if err != nil {
		t.Fatal(err)
	}
	if err := device.Flush(); err != nil { // the broker knows what the service listens to
		t.Fatal(err)
	}
	answer, err := operator.Request("$SRV.INFO.zofl-kitchen-device", nil, patience)
	if err != nil {
		t.Fatal(err)
	}
	var info micro.Info
	if err := json.Unmarshal(answer.Data, &info); err != nil {
		t.Fatal(err)
	}
	if info.ID != service.Info().ID || info.Metadata["id"] != "pi-1" {
		t.Errorf("found %+v", info)
	}
}
