package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/report"
)

// A View says which rows of the table of devices the answer should have. The coordinator sorts and
// filters, so that thousands of devices need not travel for the few that fit a screen.
type View struct {
	Sort       string `json:"sort,omitempty"` // one of Columns; "": the absent first, then by slot
	Descending bool   `json:"descending,omitempty"`
	Filter     string `json:"filter,omitempty"` // part of an id or a state, in any case; "": all
	From       int    `json:"from,omitempty"`   // the first row, from 0
	Rows       int    `json:"rows,omitempty"`   // most rows
}

// Columns are those that a [View] can sort by.
func Columns() []string { return []string{"id", "state", "seen", "latency", "declines", "missed"} }

// Rows are rows of the table of devices.
type Rows struct {
	Devices  []Device `json:"devices"`
	From     int      `json:"from"`     // which row is the first, from 0
	Matching int      `json:"matching"` // rows of the table: devices that the filter lets through
	Members  int      `json:"members"`  // of the run; 0 for an open roster
}

// Fleet returns rows of a run's table of devices. The error is as that of [Ask].
func Fleet(ctx context.Context, nc *nats.Conn, run string, v View) (*Rows, error) {
	rows := &Rows{}
	if err := exchange(ctx, nc, run, VerbFleet, Request{View: &v}, rows); err != nil {
		return nil, err
	}
	return rows, nil
}

// fleet answers with rows.
func (s *service) fleet(r micro.Request, request Request) {
	v := request.View
	if v == nil {
		v = &View{}
	}
	if v.Sort != "" && !slices.Contains(Columns(), v.Sort) {
		_ = r.Error("400", fmt.Sprintf("no column %q: sort by one of %s", v.Sort,
			strings.Join(Columns(), ", ")), nil)
		return
	}
	_ = r.RespondJSON(rowsOf(s.desk.c.Devices(), *v, time.Now(), s.pageLen))
}

// rowsOf returns rows of a list, which it sorts, in at most so many bytes, but one row at least.
func rowsOf(list []report.Device, v View, now time.Time, most int) Rows {
	rows := Rows{Devices: []Device{}, Members: len(list)}
	if text := strings.ToLower(v.Filter); text != "" {
		list = slices.DeleteFunc(list, func(d report.Device) bool {
			return !strings.Contains(strings.ToLower(d.ID), text) &&
				!strings.Contains(d.State.String(), text)
		})
	}
	rows.Matching = len(list)
	slices.SortFunc(list, func(a, b report.Device) int {
		order := compare(&a, &b, v.Sort)
		if v.Descending {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.Slot, b.Slot))
	})
	rows.From = min(max(v.From, 0), len(list))
	size := 0
	for i := rows.From; i < len(list) && len(rows.Devices) < v.Rows; i++ {
		d := deviceOf(&list[i], now)
		b, err := json.Marshal(d)
		if size += len(b) + 1; err != nil || size > most && len(rows.Devices) > 0 {
			break
		}
		rows.Devices = append(rows.Devices, d)
	}
	return rows
}

// compare returns the order of two devices in a column. Who was never seen has been silent longest.
func compare(a, b *report.Device, column string) int {
	switch column {
	case "id":
		return cmp.Compare(a.ID, b.ID)
	case "state":
		return cmp.Compare(a.State.String(), b.State.String())
	case "seen":
		return b.LastSeen.Compare(a.LastSeen)
	case "latency":
		return cmp.Compare(a.Latency, b.Latency)
	case "declines":
		return cmp.Compare(a.Declines, b.Declines)
	case "missed":
		return cmp.Compare(a.Missed, b.Missed)
	}
	absent := func(d *report.Device) int {
		if d.State == report.DevicePresent {
			return 1
		}
		return 0
	}
	return cmp.Compare(absent(a), absent(b))
}
