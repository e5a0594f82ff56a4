package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// errReplyFile says that the stored reply is not one that this device wrote.
var errReplyFile = errors.New("not a reply of this device")

// The content of a reply file is LE32 the bits of the announced step size, LE32 the announced
// perturbations, and the reply's frame.
const (
	replyMagic   = "zofl reply 1\n"
	replyHead    = 8
	replyFileMax = len(replyMagic) + files.Overhead + replyHead + wire.MaxFrame
)

// saveReply stores the last contribution. Promise calls saveReply before the device sends the
// reply. So even after a crash this device sends no other reply for the same record, unless it has
// contributed to a later record since. saveReply does not store declines: a decline is valid for
// its attempt only, and each write wears the flash memory.
func (o *Outbox) saveReply() error {
	s, r := o.cfg.Files, &o.reply
	content := binary.LittleEndian.AppendUint32(nil, math.Float32bits(r.step))
	content = binary.LittleEndian.AppendUint32(content, r.p)
	content = append(content, r.frame...)
	return s.Check(itemReply, s.SaveFile(itemReply, replyMagic, content))
}

// loadReply loads the reply that an earlier process stored, unless this process sent a later reply
// that the store failed to save.
func (o *Outbox) loadReply() error {
	take := func(content []byte) error {
		r, err := parseReply(content)
		if err == nil && r.n > o.reply.n {
			o.reply = r
		}
		return err
	}
	return o.cfg.Files.LoadFile(itemReply, replyMagic, replyFileMax, errReplyFile, take)
}

func parseReply(content []byte) (reply, error) {
	if len(content) < replyHead {
		return reply{}, fmt.Errorf("%w: it ends early", errReplyFile)
	}
	frame := content[replyHead:]
	r, err := wire.DecodeReply(frame)
	if err != nil || r.Kind != wire.Contribution {
		return reply{}, fmt.Errorf("%w: kind %v, error %v", errReplyFile, r.Kind, err)
	}
	group, _ := grouping.OfReply(&r)
	return reply{
		n: r.N, tip: r.Tip, frame: frame, final: true,
		step: math.Float32frombits(binary.LittleEndian.Uint32(content)),
		p:    binary.LittleEndian.Uint32(content[4:]), survey: survey.Answered(r.Rest),
		group: group,
	}, nil
}
