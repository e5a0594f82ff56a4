package mqtt

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// A Home is a [notice.Sink] that publishes the agent's reports at the household's broker. Home
// Assistant finds these topics by itself:
//
//	PREFIX/ID/status              online or offline
//	PREFIX/ID/CHANNEL/forecast    the newest forecast, as JSON
//	PREFIX/ID/CHANNEL/unusual     whether its readings are unusual, and since when, as JSON
//
// The broker keeps the newest message of each topic.
type Home struct {
	Link       *Link
	Prefix, ID string
	Discovery  string // Home Assistant's prefix of topics; no: none
	Version    string
	Period     time.Duration // between forecasts
}

// A Channel describes a channel to Home Assistant.
type Channel struct{ Name, Unit string }

// Announce describes the channels to Home Assistant, and reports that no reading is unusual.
func (h *Home) Announce(channels []Channel) {
	for _, c := range channels {
		h.keep(h.topic(c.Name, "unusual"), state{State: "OFF"})
		if h.Discovery == "no" {
			continue
		}
		for part, v := range h.entities(c) {
			h.keep(h.Discovery+"/"+part+"/config", v)
		}
	}
}

func (h *Home) topic(channel, what string) string {
	return h.Prefix + "/" + h.ID + "/" + channel + "/" + what
}

// An entity is a value that Home Assistant shows.
type entity struct {
	Name         string `json:"name"`
	UniqueID     string `json:"unique_id"`
	StateTopic   string `json:"state_topic"`
	Value        string `json:"value_template"`
	Attributes   string `json:"json_attributes_topic,omitempty"`
	Availability string `json:"availability_topic"`
	Class        string `json:"device_class,omitempty"`
	StateClass   string `json:"state_class,omitempty"`
	Unit         string `json:"unit_of_measurement,omitempty"`
	Category     string `json:"entity_category,omitempty"`
	Expire       int    `json:"expire_after,omitempty"` // seconds
	Device       device `json:"device"`
	Origin       origin `json:"origin"`
}

type device struct {
	IDs   []string `json:"identifiers"`
	Name  string   `json:"name"`
	Model string   `json:"model"`
}

type origin struct {
	Name    string `json:"name"`
	Version string `json:"sw_version,omitempty"`
}

// entities are the entities of a channel, by the middle of their topics. A forecast and its
// errors expire unless another forecast follows.
func (h *Home) entities(c Channel) map[string]entity {
	unique := func(what string) string { return "zofl_" + h.ID + "_" + c.Name + "_" + what }
	common := entity{Availability: Status(h.Prefix, h.ID), StateTopic: h.topic(c.Name, "forecast"),
		StateClass: "measurement", Unit: c.Unit, Expire: int(3 * h.Period / time.Second),
		Device: device{[]string{"zofl_" + h.ID}, h.ID, "zofl-sensor"},
		Origin: origin{"zofl-sensor", h.Version}}
	forecast, spread, unusual := common, common, common
	forecast.Name, forecast.UniqueID = c.Name+" forecast", unique("forecast")
	forecast.Value, forecast.Attributes = "{{ value_json.value }}", forecast.StateTopic
	forecast.Class = notice.Class(c.Name, c.Unit)
	spread.Name, spread.UniqueID = c.Name+" forecast deviation", unique("deviation")
	spread.Value = "{{ value_json.deviation | default(none) }}"
	spread.Category = "diagnostic"
	unusual.Name, unusual.UniqueID = c.Name+" unusual", unique("unusual")
	unusual.StateTopic = h.topic(c.Name, "unusual")
	unusual.Value, unusual.Attributes = "{{ value_json.state }}", unusual.StateTopic
	unusual.Class, unusual.Unit, unusual.StateClass, unusual.Expire = "problem", "", "", 0
	return map[string]entity{"sensor/" + forecast.UniqueID: forecast,
		"sensor/" + spread.UniqueID: spread, "binary_sensor/" + unusual.UniqueID: unusual}
}

// A state says whether readings are unusual, with the words that Home Assistant uses.
type state struct {
	State      string    `json:"state"` // ON or OFF
	Since      time.Time `json:"time,omitzero"`
	Reading    float64   `json:"reading,omitempty"`
	Forecast   float64   `json:"forecast,omitempty"`
	Deviations float64   `json:"deviations,omitempty"`
}

// Forecast implements [notice.Sink].
func (h *Home) Forecast(f notice.Forecast) {
	f.Reading, f.Value, f.Deviation = brief(f.Reading), brief(f.Value), brief(f.Deviation)
	h.keep(h.topic(f.Channel, "forecast"), f)
}

// Unusual implements [notice.Sink].
func (h *Home) Unusual(u notice.Unusual) {
	s := state{"ON", u.At, brief(u.Reading), brief(u.Forecast), brief(u.Deviations)}
	if u.Over {
		s = state{State: "OFF", Since: u.At}
	}
	h.keep(h.topic(u.Channel, "unusual"), s)
}

// brief formats a number with six digits, as many as a sensor justifies.
func brief(v float64) float64 {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64); err == nil {
		return short
	}
	return v
}

func (h *Home) keep(topic string, v any) {
	b, err := json.Marshal(v)
	if err != nil { // of NaN: see notice.Forecast
		h.Link.cfg.Log.Warn("cannot be told", "topic", topic, "err", err)
		return
	}
	h.Link.Keep(topic, b)
}
