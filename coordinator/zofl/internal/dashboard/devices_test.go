package dashboard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// The server returns devices in pages, sorted and filtered.
func TestDevices(t *testing.T) {
	l := newLab(t, Config{})
	l.run.devices = fleetOf(1000)
	phone := &l.run.devices[20]
	phone.Program, phone.Platform, phone.Battery = "pantry 1.4", "android/arm64", 8
	l.run.devices[19].Battery, l.run.devices[19].Network = 57, "metered"
	l.run.devices[500].Record = 300
	l.run.status.Digests = []operate.Digests{{N: 64, Differ: []string{"device-00003"}}}
	type answer struct {
		Devices []struct{ ID, State, Digest string }
		Total   int
	}
	for _, c := range []struct {
		query string
		total int
		ids   []int // the first
	}{
		{"count=3", 1000, []int{7, 107, 207}}, // the absent ones first
		{"count=3&sort=slot", 1000, []int{0, 1, 2}},
		{"count=3&sort=slot&order=desc", 1000, []int{999, 998, 997}},
		{"count=3&sort=slot&from=998", 1000, []int{998, 999}},
		{"count=2&sort=latency&order=desc", 1000, []int{321, 642}},
		{"count=2&sort=missed&order=desc&state=silent", 10, []int{107, 407}},
		{"count=2&find=DEVICE-0099", 10, []int{990, 991}},
		{"count=2&find=nobody", 0, []int{}},
		{"count=2&sort=battery", 1000, []int{20, 19}}, // the lowest first, then who does not tell
		{"count=2&sort=battery&from=2", 1000, []int{0, 1}},
		{"count=1&sort=platform&order=desc", 1000, []int{20}},
		{"count=1&sort=program&order=desc", 1000, []int{20}},
		{"count=1&sort=network&order=desc", 1000, []int{19}},
		{"count=2&sort=record&order=desc", 1000, []int{500, 0}},
		{"count=0", 1000, []int{}},
		{"from=5000", 1000, []int{}},
	} {
		_, body := l.answer(l.request("GET", "/api/runs/kitchen/devices?"+c.query, ""))
		got := decode[answer](t, body)
		ids, want := []string{}, []string{}
		for _, d := range got.Devices {
			ids = append(ids, d.ID)
			if (d.Digest == "differs") != (d.ID == "device-00003") {
				t.Errorf("%s: digest %q", d.ID, d.Digest)
			}
		}
		for _, i := range c.ids {
			want = append(want, fmt.Sprintf("device-%05d", i))
		}
		if got.Total != c.total || !slices.Equal(ids, want) {
			t.Errorf("%s: %d in all, %v; want %d, %v", c.query, got.Total, ids, c.total, want)
		}
	}
	_, body := l.answer(l.request("GET", "/api/runs/kitchen/devices?count=1000000", ""))
	if n := len(decode[answer](t, body).Devices); n != mostRows {
		t.Errorf("%d rows in an answer, want at most %d", n, mostRows)
	}
}

// The benchmark requests a page of 10,000 devices, from a table that scrolls and from a table that
// is sorted anew.
func BenchmarkPage(b *testing.B) {
	run := &stub{devices: fleetOf(10_000)}
	for name, sorts := range map[string]bool{"scroll": false, "sort": true} {
		b.Run(name, func(b *testing.B) {
			l := &listing{}
			for i := range b.N {
				q := operate.View{Sort: "latency", Descending: sorts && i%2 == 0}
				if rows, total := l.page(run, q, 5000, 100); len(rows) != 100 || total != 10_000 {
					b.Fatal(len(rows), total)
				}
			}
		})
	}
}
