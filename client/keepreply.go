package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zofl/zofl/client/internal/shelf"
	"github.com/zofl/zofl/wire"
)

// errReplyFile: the stored reply is none that this device wrote.
var errReplyFile = errors.New("no reply of this device")

// A reply file holds LE32 the bits of the step size and LE32 the perturbations that were
// asked for, and the reply's frame.
const (
	replyMagic   = "zofl reply 1\n"
	replyHead    = 8
	replyFileMax = len(replyMagic) + shelf.Overhead + replyHead + wire.MaxFrame
)

// keepReply makes the last contribution durable. It comes before the reply is
// sent, so that this device sends no other for the same record, whatever happens
// to it, unless it has contributed to a later one since. A decline is not worth
// the flash: it stands for its attempt only.
func (c *Client) keepReply() error {
	if !c.shelf.Keeps() || !c.reply.final {
		return nil
	}
	content := binary.LittleEndian.AppendUint32(nil, math.Float32bits(c.reply.step))
	content = binary.LittleEndian.AppendUint32(content, c.reply.p)
	content = append(content, c.reply.frame...)
	return c.shelf.Check(itemReply, c.shelf.SaveFile(itemReply, replyMagic, content))
}

// openReply takes the reply that an earlier process kept, unless this one sent a later
// one, which the store did not take.
func (c *Client) openReply() error {
	return c.shelf.LoadFile(itemReply, replyMagic, replyFileMax, errReplyFile, func(held []byte) error {
		s, err := parseReply(held)
		if err == nil && s.n > c.reply.n {
			c.reply = s
		}
		return err
	})
}

func parseReply(held []byte) (sent, error) {
	if len(held) < replyHead {
		return sent{}, fmt.Errorf("%w: it ends early", errReplyFile)
	}
	frame := held[replyHead:]
	reply, err := wire.DecodeReply(frame)
	if err != nil || reply.Kind != wire.Contribution {
		return sent{}, fmt.Errorf("%w: %v %v", errReplyFile, reply.Kind, err)
	}
	return sent{
		n: reply.N, tip: reply.Tip, frame: frame, final: true,
		step: math.Float32frombits(binary.LittleEndian.Uint32(held)),
		p:    binary.LittleEndian.Uint32(held[4:]),
	}, nil
}
