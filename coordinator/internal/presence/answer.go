package presence

import (
	"hash/crc32"
	"math"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// An Answer holds checksums of a member's answer to a record, for comparison with other answers.
// The zero value means no answer.
type Answer struct {
	Record  uint64
	Form    uint32 // what was asked; answers of two forms are not compared
	Numbers uint32 // a checksum of what it answered
}

// OfReply returns a contribution as an Answer, and the zero Answer for other replies. groups says
// whether the run has groups, which contributions then name.
func OfReply(r *wire.Reply, groups bool) Answer {
	if r.Kind != wire.Contribution {
		return Answer{}
	}
	var kind survey.Kind
	var group uint32
	if len(r.Rest) > 0 {
		if _, control := r.Control(); !control { // which no answer to a survey has
			kind = survey.Answered(r.Rest)
		}
	}
	if groups {
		group, _ = grouping.OfReply(r)
	}
	return Answer{Record: r.N,
		Form:    checksum(nil, uint32(len(r.Values)), uint32(kind), group),
		Numbers: checksum(r.Values, r.Weight, math.Float32bits(r.Loss))}
}

// OfUpload returns a piece of a vector as an Answer. All pieces of a vector give the same Answer,
// because each piece names the digest of the whole vector.
func OfUpload(u *wire.Upload) Answer {
	return Answer{Record: u.N, Form: uint32(u.Size),
		Numbers: checksum(u.Digest[:], u.Weight, math.Float32bits(u.Loss))}
}

// AnswerOf returns an Answer to a record from the bytes of the request and of the reply.
func AnswerOf(record uint64, asked, answered []byte) Answer {
	return Answer{Record: record, Form: checksum(asked), Numbers: checksum(answered)}
}

// checksum quickly sums bytes and numbers. A device that finds two answers with the same checksum
// can only hide that two devices send.
func checksum(b []byte, numbers ...uint32) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	for _, n := range numbers {
		sum = (sum ^ n) * 16777619 // as FNV-1a does with bytes
	}
	return sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
