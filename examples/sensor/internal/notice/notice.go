// Package notice defines the reports of an agent to its household: forecasts, and unusual readings.
package notice

import "time"

// A Forecast is of one channel, in its unit, made when a period of readings has ended.
type Forecast struct {
	Channel string    `json:"channel"`
	Unit    string    `json:"unit,omitempty"`
	At      time.Time `json:"time"` // when the period of the newest reading began
	Reading float64   `json:"reading"`
	For     time.Time `json:"for"` // when the period begins that it is for
	Value   float64   `json:"value"`
	// The standard deviation of recent forecasts' errors; 0: there were too few.
	Deviation float64 `json:"deviation,omitempty"`
	Record    uint64  `json:"record"` // of the run, whose model made it
}

// An Unusual reports that readings of a channel begin to be far from their forecasts, or that
// they no longer are.
type Unusual struct {
	Channel    string    `json:"channel"`
	Unit       string    `json:"unit,omitempty"`
	At         time.Time `json:"time"`
	Reading    float64   `json:"reading"`
	Forecast   float64   `json:"forecast"`   // what was expected
	Deviations float64   `json:"deviations"` // how far off that was
	Over       bool      `json:"over"`       // the readings are usual again
}

// A Sink receives the reports of an agent. Its methods return at once and do not fail, because the
// caller must take the next reading.
type Sink interface {
	Forecast(Forecast)
	Unusual(Unusual)
}

// Sinks is a Sink that passes each report to all its elements.
type Sinks []Sink

// Forecast implements [Sink].
func (all Sinks) Forecast(f Forecast) {
	for _, s := range all {
		s.Forecast(f)
	}
}

// Unusual implements [Sink].
func (all Sinks) Unusual(u Unusual) {
	for _, s := range all {
		s.Unusual(u)
	}
}

// Units are the units of channels whose names say what they measure. Home Assistant calls the same
// things by [Class].
var Units = map[string]string{"temperature": "°C", "humidity": "%", "pressure": "hPa",
	"co2": "ppm", "illuminance": "lx", "power": "W", "voltage": "V"}

// Class returns Home Assistant's class of a channel in its usual unit, "" if it has none.
func Class(channel, unit string) string {
	if Units[channel] == "" || Units[channel] != unit {
		return ""
	}
	if channel == "co2" {
		return "carbon_dioxide"
	}
	return channel
}
