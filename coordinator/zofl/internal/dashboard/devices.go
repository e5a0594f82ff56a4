package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// A device is a member, and what is known of its digest.
type device struct {
	*operate.Device
	Digest string `json:"digest,omitempty"` // differs: from the last reference
}

// mostRows is how many devices an answer has at most.
const mostRows = 500

// freshFor is how long a list of devices serves: thousands are looked at once a second at most.
const freshFor = time.Second

// A listing is the devices of a run as they were a moment ago, and the last order of them. The
// requests of a page that scrolls have one order.
type listing struct {
	mu      sync.Mutex // guards the rest
	at      time.Time
	devices []operate.Device
	differ  map[string]bool

	query   query
	ordered []*operate.Device
}

// A query says which devices, in which order.
type query struct {
	sort, state, find string
	descending        bool
}

// fleet is how many devices are where.
type fleet struct {
	Members int            `json:"members"`
	Open    bool           `json:"open,omitempty"` // an open roster has no list
	Told    int            `json:"told,omitempty"` // devices that tell something about themselves
	States  map[string]int `json:"states"`
}

// fresh looks at the devices, unless that was a moment ago. The caller holds mu.
func (l *listing) fresh(run Run, now time.Time) {
	if l.devices != nil && now.Sub(l.at) < freshFor {
		return
	}
	l.devices, l.at = run.Devices()
	if l.devices == nil {
		l.devices = []operate.Device{}
	}
	l.ordered, l.differ = nil, map[string]bool{}
	if digests := run.Status().Digests; len(digests) > 0 {
		for _, id := range digests[len(digests)-1].Differ {
			l.differ[id] = true
		}
	}
}

// summary counts the devices.
func (l *listing) summary(run Run, open bool) fleet {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh(run, time.Now())
	f := fleet{Members: len(l.devices), Open: open, States: map[string]int{}}
	for i := range l.devices {
		d := &l.devices[i]
		f.States[d.State]++
		if d.Program+d.Platform+d.Power+d.Network != "" || d.Battery > 0 {
			f.Told++
		}
	}
	return f
}

// page returns devices of a query from a row on, and how many there are.
func (l *listing) page(run Run, q query, from, count int) (rows []device, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh(run, time.Now())
	if l.ordered == nil || l.query != q {
		l.ordered, l.query = order(l.devices, q), q
	}
	rows = []device{}
	for _, d := range l.ordered[min(from, len(l.ordered)):min(from+count, len(l.ordered))] {
		row := device{Device: d}
		if l.differ[d.ID] {
			row.Digest = "differs"
		}
		rows = append(rows, row)
	}
	return rows, len(l.ordered)
}

// orders compare devices by a column. Where two are the same, the slot decides.
var orders = map[string]func(a, b *operate.Device) int{
	"id":       func(a, b *operate.Device) int { return strings.Compare(a.ID, b.ID) },
	"slot":     func(a, b *operate.Device) int { return 0 },
	"state":    func(a, b *operate.Device) int { return strings.Compare(a.State, b.State) },
	"seen":     func(a, b *operate.Device) int { return cmp.Compare(silence(a), silence(b)) },
	"latency":  func(a, b *operate.Device) int { return cmp.Compare(a.Latency, b.Latency) },
	"declines": func(a, b *operate.Device) int { return cmp.Compare(a.Declines, b.Declines) },
	"missed":   func(a, b *operate.Device) int { return cmp.Compare(a.Missed, b.Missed) },
	"record":   func(a, b *operate.Device) int { return cmp.Compare(a.Record, b.Record) },
	"program":  func(a, b *operate.Device) int { return strings.Compare(a.Program, b.Program) },
	"platform": func(a, b *operate.Device) int { return strings.Compare(a.Platform, b.Platform) },
	"battery":  func(a, b *operate.Device) int { return cmp.Compare(charge(a), charge(b)) },
	"network":  func(a, b *operate.Device) int { return strings.Compare(a.Network, b.Network) },
	// The absent ones first, as `zofl devices` has them.
	"": func(a, b *operate.Device) int {
		switch {
		case a.Absent() == b.Absent():
			return 0
		case a.Absent():
			return -1
		}
		return 1
	},
}

// charge is the percent of a device's battery; one that does not tell is last.
func charge(d *operate.Device) uint8 {
	if d.Battery == 0 {
		return 101
	}
	return d.Battery
}

// silence is since when nothing was heard of a device; one that was never heard of is last.
func silence(d *operate.Device) float64 {
	if d.LastSeen == nil {
		return 1e18
	}
	return d.Silence
}

// order returns the devices of a query, in its order.
func order(devices []operate.Device, q query) []*operate.Device {
	find, list := strings.ToLower(q.find), make([]*operate.Device, 0, len(devices))
	for i := range devices {
		d := &devices[i]
		if (q.state == "" || d.State == q.state) &&
			(find == "" || strings.Contains(strings.ToLower(d.ID), find)) {
			list = append(list, d)
		}
	}
	by := orders[q.sort]
	slices.SortFunc(list, func(a, b *operate.Device) int {
		c := cmp.Or(by(a, b), cmp.Compare(a.Slot, b.Slot))
		if q.descending {
			return -c
		}
		return c
	})
	return list
}

// devices answers with a page of them.
func (s *Server) devices(w http.ResponseWriter, r *http.Request, b *Board) {
	values := r.URL.Query()
	q := query{sort: values.Get("sort"), state: values.Get("state"), find: values.Get("find"),
		descending: values.Get("order") == "desc"}
	if q.sort == "digest" { // those that differ are named in the digests
		q.sort = ""
	}
	from, ok := whole(values, "from", 0)
	count, fine := whole(values, "count", 100)
	switch {
	case !ok || !fine:
		fail(w, http.StatusBadRequest, "from and count: give whole numbers, 0 or more")
		return
	case orders[q.sort] == nil:
		fail(w, http.StatusBadRequest, "sort: give id, slot, state, seen, record, latency, "+
			"declines, missed, program, platform, battery or network")
		return
	}
	rows, total := b.list.page(b.leader(), q, from, min(count, mostRows))
	reply(w, http.StatusOK, map[string]any{"devices": rows, "total": total, "from": from})
}

// whole reads a number of a query.
func whole(values url.Values, name string, none int) (int, bool) {
	text := values.Get(name)
	if text == "" {
		return none, true
	}
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}
