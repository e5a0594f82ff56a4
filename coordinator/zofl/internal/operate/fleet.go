package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/report"
)

// A View says which rows of the table of devices the answer should have. The coordinator sorts and
// filters, so that it sends only the few devices that fit on a screen, and not thousands.
type View struct {
	Sort       string `json:"sort,omitempty"` // a column; "": absent devices first, then by slot
	Descending bool   `json:"descending,omitempty"`
	Filter     string `json:"filter,omitempty"` // part of an id or a state, in any case; "": all
	ID         string `json:"id,omitempty"`     // part of an id, in any case; "": all
	State      string `json:"state,omitempty"`  // a state; "": all
	From       int    `json:"from,omitempty"`   // the first row, from 0
	Rows       int    `json:"rows,omitempty"`   // most rows
}

// Columns are the columns of the table on a terminal, out of all by which a [View] can sort.
func Columns() []string { return []string{"id", "state", "seen", "latency", "declines", "missed"} }

// Rows are rows of the table of devices.
type Rows struct {
	Devices  []Device `json:"devices"`
	From     int      `json:"from"`     // the first row, from 0
	Matching int      `json:"matching"` // number of devices that match the filter
	Members  int      `json:"members"`  // members of the run; 0 for an open roster
}

// Fleet returns rows of a run's table of devices. Fleet returns the errors of [Ask].
func Fleet(ctx context.Context, nc *nats.Conn, run string, v View) (*Rows, error) {
	rows := &Rows{}
	if err := newReader(nc, run).get(ctx, VerbFleet, Request{View: &v}, rows); err != nil {
		return nil, err
	}
	return rows, nil
}

// fleet answers a request with rows of the table of devices.
func (s *service) fleet(r micro.Request, request Request) {
	v := cmp.Or(request.View, &View{})
	if !v.Sorts() {
		_ = r.Error("400", fmt.Sprintf("no column %q: sort by one of %s", v.Sort,
			strings.Join(Columns(), ", ")), nil)
		return
	}
	_ = r.RespondJSON(rowsOf(s.desk.c.Devices(), *v, time.Now(), s.page(request)))
}

// rowsOf returns rows of a list, in at most the given number of bytes, but at least one row.
func rowsOf(members []report.Device, v View, now time.Time, most int) Rows {
	list := v.Of(devicesOf(members, now))
	rows := Rows{Devices: []Device{}, Members: len(members), Matching: len(list)}
	rows.From = min(max(v.From, 0), len(list))
	list = list[rows.From:min(rows.From+max(v.Rows, 0), len(list))]
	for _, d := range list[:fitting(list, most)] {
		rows.Devices = append(rows.Devices, *d)
	}
	return rows
}

// Sorts reports whether the view's Sort names a column.
func (v *View) Sorts() bool { return orders[v.Sort] != nil }

// Of returns all devices that match the view's filters, in the view's order.
func (v *View) Of(devices []Device) []*Device {
	part, id := strings.ToLower(v.Filter), strings.ToLower(v.ID)
	list := make([]*Device, 0, len(devices))
	for i := range devices {
		d := &devices[i]
		name := strings.ToLower(d.ID)
		if (v.State == "" || d.State == v.State) && strings.Contains(name, id) &&
			(strings.Contains(name, part) || strings.Contains(d.State, part)) {
			list = append(list, d)
		}
	}
	by := orders[v.Sort]
	slices.SortFunc(list, func(a, b *Device) int {
		order := by(a, b)
		if v.Descending {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.Slot, b.Slot))
	})
	return list
}

// orders has, for each column, a function that compares devices. If two devices are equal in the
// column, the slot decides.
var orders = map[string]func(a, b *Device) int{
	"id":       func(a, b *Device) int { return strings.Compare(a.ID, b.ID) },
	"slot":     func(a, b *Device) int { return cmp.Compare(a.Slot, b.Slot) },
	"state":    func(a, b *Device) int { return strings.Compare(a.State, b.State) },
	"seen":     func(a, b *Device) int { return cmp.Compare(silence(a), silence(b)) },
	"latency":  func(a, b *Device) int { return cmp.Compare(a.Latency, b.Latency) },
	"declines": func(a, b *Device) int { return cmp.Compare(a.Declines, b.Declines) },
	"missed":   func(a, b *Device) int { return cmp.Compare(a.Missed, b.Missed) },
	"record":   func(a, b *Device) int { return cmp.Compare(a.Record, b.Record) },
	"contributions": func(a, b *Device) int {
		return cmp.Compare(a.Contributions, b.Contributions)
	},
	"program":  func(a, b *Device) int { return strings.Compare(a.Program, b.Program) },
	"platform": func(a, b *Device) int { return strings.Compare(a.Platform, b.Platform) },
	"battery":  func(a, b *Device) int { return cmp.Compare(charge(a), charge(b)) },
	"network":  func(a, b *Device) int { return strings.Compare(a.Network, b.Network) },
	"":         func(a, b *Device) int { return cmp.Compare(present(a), present(b)) },
}

func present(d *Device) int {
	if d.Absent() {
		return 0
	}
	return 1
}

// charge returns the percentage of a device's battery. Devices that do not report it come last.
func charge(d *Device) uint8 {
	return cmp.Or(d.Battery, 101)
}

// silence returns the seconds since a device's last message. Devices that never sent a message come
// last.
func silence(d *Device) float64 {
	if d.LastSeen == nil {
		return 1e18
	}
	return d.Silence
}
