package mqtt

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEntities: what Home Assistant is told has what its MQTT integration asks for, topics that
// the agent writes, and names that no other device has.
func TestEntities(t *testing.T) {
	h := &Home{Prefix: "zofl", ID: "kitchen", Discovery: "homeassistant", Period: 5 * time.Minute}
	all := h.entities(Channel{"temperature", "°C"})
	want := []string{"binary_sensor/zofl_kitchen_temperature_unusual",
		"sensor/zofl_kitchen_temperature_deviation", "sensor/zofl_kitchen_temperature_forecast"}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for name, e := range all {
		if !strings.HasSuffix(name, "/"+e.UniqueID) || e.Availability != "zofl/kitchen/status" ||
			!strings.HasPrefix(e.StateTopic, "zofl/kitchen/temperature/") || e.Device.Name != "kitchen" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	got, err := json.Marshal(all[want[2]])
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"name":"temperature forecast","unique_id":"zofl_kitchen_temperature_forecast",` +
		`"state_topic":"zofl/kitchen/temperature/forecast","value_template":"{{ value_json.value }}",` +
		`"json_attributes_topic":"zofl/kitchen/temperature/forecast",` +
		`"availability_topic":"zofl/kitchen/status","device_class":"temperature",` +
		`"state_class":"measurement","unit_of_measurement":"°C","expire_after":900,` +
		`"device":{"identifiers":["zofl_kitchen"],"name":"kitchen","model":"zofl-sensor"},` +
		`"origin":{"name":"zofl-sensor"}}`
	if string(got) != text {
		t.Errorf("%s, want\n%s", got, text)
	}
	unusual := all[want[0]]
	if unusual.Class != "problem" || unusual.Unit != "" || unusual.StateClass != "" ||
		unusual.Expire != 0 {
		t.Errorf("%+v", unusual)
	}
	// A unit that Home Assistant does not know for a class would have it refuse the entity.
	other := h.entities(Channel{"temperature", "°F"})[want[2]]
	if other.Class != "" || other.Unit != "°F" {
		t.Errorf("%+v", other)
	}
}
