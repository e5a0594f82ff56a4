package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/report"
)

// A Device is a member of a run in JSON.
type Device struct {
	ID       string     `json:"id"`
	Slot     uint32     `json:"slot"`
	State    string     `json:"state"`               // such as present, see report.DeviceState
	LastSeen *time.Time `json:"last_seen,omitempty"` // nil: never since the coordinator started
	// Silence is the seconds since LastSeen, by the coordinator's clock.
	Silence  float64    `json:"silence_seconds,omitempty"`
	Latency  float64    `json:"latency_ms,omitempty"` // of an answer, smoothed
	Declines uint32     `json:"declines,omitempty"`   // since the coordinator started
	Missed   uint32     `json:"missed,omitempty"`     // consecutive rounds without its answer
	Until    *time.Time `json:"until,omitempty"`      // away until then
	Awaited  bool       `json:"awaited,omitempty"`    // the open round waits for it
	Cut      uint32     `json:"cut,omitempty"`        // contributions that bound scaled down
	Doubt    float64    `json:"doubt,omitempty"`      // weight lost by trust
	Refused  uint64     `json:"refused,omitempty"`    // messages beyond the device's share
	Faulty   uint64     `json:"faulty,omitempty"`     // messages that no honest device sends
	Suspect  string     `json:"suspect,omitempty"`    // why its contributions stand out; a remedy
	SameID   bool       `json:"same_id,omitempty"`    // two devices send with this id
	Record   uint64     `json:"record,omitempty"`     // the last it contributed to
	// Contributions are its contributions since the coordinator started.
	Contributions uint32 `json:"contributions,omitempty"`
	Behind        uint64 `json:"behind,omitempty"` // records of the log since Record

	// The fields below are what the device says about itself, which may be wrong.
	Program  string `json:"program,omitempty"`
	Platform string `json:"platform,omitempty"`
	Battery  uint8  `json:"battery_percent,omitempty"`
	Power    string `json:"power,omitempty"`   // battery, charging
	Network  string `json:"network,omitempty"` // unmetered, metered
	// Reported are the last numbers that its app reported, by name.
	Reported map[string]float64 `json:"reported,omitempty"`
}

// Tells returns what a device says about itself. The conditions that may keep the device from work
// come first.
func (d *Device) Tells() string {
	var parts []string
	if d.Battery > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", d.Battery))
	}
	for _, part := range []string{d.Power, d.Network, d.Program, d.Platform} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// Absent says whether no round waits for the device.
func (d *Device) Absent() bool { return d.State != report.DevicePresent.String() }

// deviceOf converts a member to the form for JSON. now is the time at which the member was read.
func deviceOf(d *report.Device, now time.Time) Device {
	out := Device{
		ID: d.ID, Slot: d.Slot, State: d.State.String(), Declines: d.Declines, Missed: d.Missed,
		Latency: float64(d.Latency.Microseconds()) / 1000, Awaited: d.Awaited,
		Cut: d.Cut, Doubt: d.Doubt, Refused: d.Refused, Faulty: d.Faulty,
		Suspect: d.Suspect, SameID: d.SameID,
		Record: d.Record, Behind: d.Behind, Contributions: d.Contributions,
		Program: d.About.Program, Platform: d.About.Platform, Battery: d.About.Battery,
		Power: d.About.Power.String(), Network: d.About.Network.String(),
		Reported: d.Values,
	}
	if !d.LastSeen.IsZero() {
		seen := d.LastSeen.UTC().Truncate(time.Millisecond)
		out.LastSeen = &seen
		out.Silence = float64(now.Sub(d.LastSeen).Milliseconds()) / 1000
	}
	if !d.Until.IsZero() {
		until := d.Until.UTC().Truncate(time.Millisecond)
		out.Until = &until
	}
	return out
}

// A page answers a request for devices: the devices from a slot on, as many as fit in a message.
type page struct {
	Devices []Device `json:"devices"`
	More    bool     `json:"more"` // the last device is not the last member
}

// Devices returns the members of a run, the absent ones first, then by slot. An open roster has no
// members. Devices returns the errors of [Ask].
func Devices(ctx context.Context, nc *nats.Conn, run string) ([]Device, error) {
	var list []Device
	pages := newReader(nc, run)
	for {
		var p page
		r := Request{From: uint32(len(list))}
		if err := pages.get(ctx, VerbDevices, r, &p); err != nil {
			return nil, err
		}
		list = append(list, p.Devices...)
		if !p.More || len(p.Devices) == 0 {
			break
		}
	}
	sorted := make([]Device, 0, len(list))
	for _, d := range (&View{}).Of(list) {
		sorted = append(sorted, *d)
	}
	return sorted, nil
}

// devices answers a request with a page of devices. devices reads all members at the request for
// the first page, and uses that list for the later pages.
func (s *service) devices(r micro.Request, request Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if request.From == 0 || s.listed == nil {
		s.listed, s.listedAt = s.desk.c.Devices(), time.Now()
	}
	_ = r.RespondJSON(pageOf(s.listed, int(request.From), s.listedAt, s.page(request)))
}

// pageOf returns the devices from a slot on, in at most most bytes, but at least one device.
func pageOf(list []report.Device, from int, now time.Time, most int) page {
	const some = 1000 // more than fit in a page
	list = list[min(from, len(list)):]
	devices := devicesOf(list[:min(some, len(list))], now)
	n := fitting(devices, most)
	return page{Devices: devices[:n], More: n < len(list)}
}

// devicesOf converts members to the form for JSON. now is the time at which they were read.
func devicesOf(members []report.Device, now time.Time) []Device {
	list := make([]Device, len(members))
	for i := range members {
		list[i] = deviceOf(&members[i], now)
	}
	return list
}
