package catchup

import (
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// AnnounceRoom is how many bytes an announcement's records may take.
const AnnounceRoom = wire.MaxFrame - wire.MaxHead

// Recent holds the last records of a log: at least the last record, and the earlier records that
// fit an announcement. Recent holds at most about twice as many records.
type Recent [][]byte

func (r *Recent) Add(record []byte) {
	if len(*r) == cap(*r) {
		r.trim()
	}
	*r = append(*r, record)
}

// trim drops records that no announcement can carry, and makes room for as many records as it
// keeps.
func (r *Recent) trim() {
	first, size := len(*r), 0
	for ; first > 0; first-- {
		if size += len((*r)[first-1]) + RecordHead; size > AnnounceRoom {
			break
		}
	}
	kept := (*r)[first:]
	*r = append(make(Recent, 0, 2*len(kept)+8), kept...)
}

// Within returns the last fresh records, at least one, and before them as many other records as fit
// budget bytes. All returned records together fit into a frame.
func (r Recent) Within(fresh uint64, budget int) wire.Records {
	var records wire.Records
	room := AnnounceRoom
	first := len(r)
	for ; first > 0; first-- {
		size := len(r[first-1]) + RecordHead
		if n := uint64(len(r) - first); n > 0 && n >= fresh {
			budget -= size
		}
		if room -= size; room < 0 || budget < 0 {
			break
		}
	}
	for _, record := range r[first:] {
		records.Add(record)
	}
	return records
}

// Frame encodes an announcement with the records that [Recent.Within] returns. Frame uses the short
// form if short is set and the announcement carries only the last record.
func (r Recent) Frame(a *wire.Announcement, fresh uint64, budget int, short bool) []byte {
	records := r.Within(fresh, budget)
	if short && records.Len() == 1 {
		if frame, ok := compact.Append(nil, a, r[len(r)-1]); ok {
			return frame
		}
	}
	a.Records = records
	return a.Append(nil)
}
