package watchtui

import "github.com/zofl/zofl/coordinator/zofl/internal/operate"

// loaded is how many rows of the table are requested, including the rows on the screen.
const loaded = 200

// A fleet is the table of devices: a window on the rows that the coordinator sorts and filters.
type fleet struct {
	sort       string // a column; "": the absent first
	descending bool
	filter     string
	typing     bool // keys go to the filter
	whole      bool // the table has the whole screen

	top   int // the first row on the screen
	shown int // rows on the screen, when it was drawn last
	rows  operate.Rows
	of    operate.View // what they answer
	known bool         // there are some
}

// view returns the rows to request: the rows on the screen, and as many before as after them.
func (f *fleet) view() operate.View {
	return operate.View{Sort: f.sort, Descending: f.descending, Filter: f.filter,
		From: max(0, f.top-(loaded-f.shown)/2), Rows: loaded}
}

// take notes rows. Rows in another order are of no use.
func (f *fleet) take(rows *operate.Rows, of operate.View) {
	if rows == nil || of.Sort != f.sort || of.Descending != f.descending || of.Filter != f.filter {
		return
	}
	f.rows, f.of, f.known = *rows, of, true
	f.scroll(0)
}

// scroll moves the window.
func (f *fleet) scroll(by int) {
	f.top = max(0, min(f.top+by, f.rows.Matching-f.shown))
}

// order sorts by a column, or turns its order round. Numbers begin with the greatest.
func (f *fleet) order(column string) {
	if f.sort == column {
		f.descending = !f.descending
	} else {
		f.sort, f.descending = column, column != "id" && column != "state"
	}
	f.stale()
}

// stale drops rows if they are not the rows to show.
func (f *fleet) stale() { f.top, f.rows.Devices = 0, nil }
