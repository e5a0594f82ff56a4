package mobile

import (
	"testing"

	"github.com/zofl/zofl/bus"
)

// Without a connection every operation returns ErrOffline, and the client waits until it has a
// connection.
func TestLinkOffline(t *testing.T) {
	var l link
	_, request := l.Request(t.Context(), "a", nil)
	_, subscribe := l.Subscribe("a", func(bus.Message) {})
	for what, err := range map[string]error{
		"Publish": l.Publish("a", nil), "Request": request, "Subscribe": subscribe,
		"Check": l.Check(t.Context(), "a"),
	} {
		if err != bus.ErrOffline {
			t.Errorf("%s returned %v, want %v", what, err, bus.ErrOffline)
		}
	}
}
