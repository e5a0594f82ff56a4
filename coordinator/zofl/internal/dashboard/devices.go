package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// A device is a member, with what is known about its digest.
type device struct {
	*operate.Device
	Digest string `json:"digest,omitempty"` // differs: from the last reference
}

// mostRows is how many devices an answer has at most.
const mostRows = 500

// freshFor is how long a listing uses one list of devices, so that it reads thousands of devices at
// most once a second.
const freshFor = time.Second

// A listing caches the devices of a run, at most freshFor old, and the devices in the order that
// was last requested. All requests of a page that scrolls have the same order.
type listing struct {
	mu      sync.Mutex // guards the rest
	at      time.Time
	devices []operate.Device
	differ  map[string]bool

	view    operate.View
	ordered []*operate.Device
}

// fleet counts the devices by state.
type fleet struct {
	Members int            `json:"members"`
	Open    bool           `json:"open,omitempty"` // an open roster has no list
	Tells   []string       `json:"tells"`          // columns in which a device has something
	States  map[string]int `json:"states"`
}

// fresh reads the devices, unless the list is younger than freshFor. The caller holds mu.
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

// optional are the columns that the table has only where a device has something in them.
var optional = []struct {
	name string
	has  func(d *operate.Device) bool
}{
	{"program", func(d *operate.Device) bool { return d.Program != "" }},
	{"platform", func(d *operate.Device) bool { return d.Platform != "" }},
	{"battery", func(d *operate.Device) bool { return d.Battery > 0 || d.Power != "" }},
	{"network", func(d *operate.Device) bool { return d.Network != "" }},
}

// summary counts the devices.
func (l *listing) summary(run Run, open bool) fleet {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh(run, time.Now())
	f := fleet{Members: len(l.devices), Open: open, States: map[string]int{}, Tells: []string{}}
	for i := range l.devices {
		f.States[l.devices[i].State]++
	}
	for _, c := range optional {
		for i := range l.devices {
			if c.has(&l.devices[i]) {
				f.Tells = append(f.Tells, c.name)
				break
			}
		}
	}
	if len(l.differ) > 0 {
		f.Tells = append(f.Tells, "digest")
	}
	return f
}

// page returns at most count devices of a view from a row on, and how many devices the view has.
func (l *listing) page(run Run, v operate.View, from, count int) (rows []device, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh(run, time.Now())
	if l.ordered == nil || l.view != v {
		l.ordered, l.view = v.Of(l.devices), v
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

// devices answers with a page of devices.
func (s *Server) devices(w http.ResponseWriter, r *http.Request, b *Board) {
	values := r.URL.Query()
	v := operate.View{Sort: values.Get("sort"), State: values.Get("state"), ID: values.Get("find"),
		Descending: values.Get("order") == "desc"}
	if v.Sort == "digest" { // page sorts by digest itself
		v.Sort = ""
	}
	from, ok := whole(values, "from", 0)
	count, fine := whole(values, "count", 100)
	switch {
	case !ok || !fine:
		fail(w, http.StatusBadRequest, "from and count: give whole numbers, 0 or more")
		return
	case !v.Sorts():
		fail(w, http.StatusBadRequest, "sort: give id, slot, state, seen, record, contributions, "+
			"latency, declines, missed, program, platform, battery or network")
		return
	}
	rows, total := b.list.page(b.leader(), v, from, min(count, mostRows))
	reply(w, http.StatusOK, map[string]any{"devices": rows, "total": total, "from": from})
}

// whole reads a whole number from the query of a URL.
func whole(values url.Values, name string, none int) (int, bool) {
	text := values.Get(name)
	if text == "" {
		return none, true
	}
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}
