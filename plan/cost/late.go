package cost

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Late returns what a device receives to catch up the number of rounds in in, in replies as long as
// frames may be. Their records have the form of the log, even if announcements have the short form.
// A snapshot takes fewer bytes where there are many rounds, and with DenseVectors the last round's
// vectors come on top.
func Late(p *plan.Plan, in Input, rounds uint64) (t Traffic) {
	const head, most = 3, wire.MaxFrame - 64 // of a record's length; what a reply has room for
	s := sampleOf(p, max(in.Round, 1))
	reply, size := wire.CatchUpReply{From: s.n(0), Last: s.n(0)}, 0
	flush := func() {
		t.add(received(inbox, reply.Append(nil)))
		reply.Records, size = wire.Records{}, 0
	}
	for range rounds {
		for _, record := range s.records {
			if size > 0 && size+len(record)+head > most {
				flush()
			}
			reply.Records.Add(record)
			size += len(record) + head
		}
	}
	flush()
	return t
}
