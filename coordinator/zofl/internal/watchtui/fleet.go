package watchtui

import "github.com/zofl/zofl/coordinator/zofl/internal/operate"

// loaded is how many rows of the table the model requests, including the rows on the screen.
const loaded = 200

// A fleet is the table of devices: some of the rows that the coordinator has sorted and filtered.
type fleet struct {
	sort       string // a column; "": the absent first
	descending bool
	filter     string
	typing     bool // keys go to the filter
	whole      bool // the table has the whole screen

	top   int // the first row on the screen
	shown int // rows on the screen, when it was drawn last
	rows  operate.Rows
	of    operate.View // the view for which the coordinator sent rows
	known bool         // the coordinator has sent rows
}

// view returns the rows to request: the rows on the screen, and equally many rows before and after
// them.
func (f *fleet) view() operate.View {
	return operate.View{Sort: f.sort, Descending: f.descending, Filter: f.filter,
		From: max(0, f.top-(loaded-f.shown)/2), Rows: loaded}
}

// take stores the rows of an answer, unless they have another order or filter than the table has
// now.
func (f *fleet) take(rows *operate.Rows, of operate.View) {
	if rows == nil || of.Sort != f.sort || of.Descending != f.descending || of.Filter != f.filter {
		return
	}
	f.rows, f.of, f.known = *rows, of, true
	f.scroll(0)
}

// scroll moves the rows on the screen by a number of rows.
func (f *fleet) scroll(by int) {
	f.top = max(0, min(f.top+by, f.rows.Matching-f.shown))
}

// order sorts the table by a column, numbers in descending order. If the table has that order
// already, order reverses it.
func (f *fleet) order(column string) {
	if f.sort == column {
		f.descending = !f.descending
	} else {
		f.sort, f.descending = column, column != "id" && column != "state"
	}
	f.stale()
}

// stale drops the rows, because they no longer match the order or the filter, and scrolls to the
// top.
func (f *fleet) stale() { f.top, f.rows.Devices = 0, nil }
