package operate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// TestRowsOfAFleet: the answer for a view of 10,000 devices has the rows that fit, sorted and
// filtered as requested.
func TestRowsOfAFleet(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fleet := func() []report.Device {
		list := make([]report.Device, 10000)
		for i := range list {
			list[i] = report.Device{ID: fmt.Sprintf("pi-%05d", i), Slot: uint32(i),
				State: report.DevicePresent, LastSeen: now.Add(-time.Duration(i) * time.Second),
				Latency: time.Duration(i*7919%10000) * time.Millisecond, Missed: uint32(i % 3)}
		}
		list[4711].State = report.DeviceSilent
		list[42].LastSeen = time.Time{}
		return list
	}
	for _, c := range []struct {
		name     string
		view     View
		matching int
		want     []string
	}{
		{"absent first", View{Rows: 2}, 10000, []string{"pi-04711", "pi-00000"}},
		{"by id, from the end", View{Sort: "id", Descending: true, From: 1, Rows: 2}, 10000,
			[]string{"pi-09998", "pi-09997"}},
		{"longest silence", View{Sort: "seen", Descending: true, Rows: 2}, 10000,
			[]string{"pi-00042", "pi-09999"}},
		{"latency", View{Sort: "latency", Rows: 2}, 10000, []string{"pi-00000", "pi-07679"}},
		{"missed, then slot", View{Sort: "missed", Descending: true, Rows: 2}, 10000,
			[]string{"pi-00002", "pi-00005"}},
		{"of an id", View{Filter: "PI-0471", Sort: "id", Rows: 2}, 10,
			[]string{"pi-04710", "pi-04711"}},
		{"of a state", View{Filter: "silent", Rows: 9}, 1, []string{"pi-04711"}},
		{"beyond the end", View{From: 20000, Rows: 5}, 10000, nil},
		{"before the begin", View{Sort: "id", From: -5, Rows: 1}, 10000, []string{"pi-00000"}},
		{"no rows", View{Rows: -1}, 10000, nil},
	} {
		rows := rowsOf(fleet(), c.view, now, mostPage)
		var ids []string
		for _, d := range rows.Devices {
			ids = append(ids, d.ID)
		}
		if !slices.Equal(ids, c.want) || rows.Matching != c.matching || rows.Members != 10000 {
			t.Errorf("%s: %v, %d of %d; want %v, %d of 10000", c.name, ids, rows.Matching, rows.Members,
				c.want, c.matching)
		}
	}
	if rows := rowsOf(fleet(), View{Rows: 10000}, now, 1000); len(rows.Devices) < 2 ||
		len(rows.Devices) > 10 {
		t.Errorf("1000 bytes have %d rows", len(rows.Devices))
	}
}

// BenchmarkRowsOfAFleet measures the coordinator's cost of the rows for one screen, of 10,000
// devices.
func BenchmarkRowsOfAFleet(b *testing.B) {
	list := make([]report.Device, 10000)
	for i := range list {
		list[i] = report.Device{ID: fmt.Sprintf("pi-%05d", i*7919%10000), Slot: uint32(i)}
	}
	for b.Loop() {
		rowsOf(slices.Clone(list), View{Sort: "id", Rows: 200}, time.Now(), mostPage)
	}
}
