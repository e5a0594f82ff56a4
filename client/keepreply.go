package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/zofl/zofl/wire"
)

// errReplyFile: the stored reply is none that this device wrote.
var errReplyFile = errors.New("no reply of this device")

// A reply file is replyMagic, the lengths of run and id in a byte each, run,
// id, LE32 the bits of the step size and LE32 the perturbations that were asked
// for, the reply's frame, and the SHA-256 of all that.
const (
	replyMagic   = "zofl reply 1\n"
	replyFileMax = len(replyMagic) + 2 + 2*wire.MaxName + 8 + wire.MaxFrame + sha256.Size
)

// keepReply makes the last contribution durable. It comes before the reply is
// sent, so that this device sends no other for the same record, whatever happens
// to it, unless it has contributed to a later one since. A decline is not worth
// the flash: it stands for its attempt only.
func (c *Client) keepReply() error {
	if c.keeper.store == nil || !c.reply.final {
		return nil
	}
	head := c.replyHead(c.reply.step, c.reply.p)
	file := append(head, c.reply.frame...)
	sum := sha256.Sum256(file)
	file = append(file, sum[:]...)
	return c.stored(itemReply, c.keeper.save(itemReply, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	}))
}

func (c *Client) replyHead(step float32, perturbations uint32) []byte {
	b := append([]byte(replyMagic), byte(len(c.cfg.Run)), byte(len(c.cfg.ID)))
	b = append(append(b, c.cfg.Run...), c.cfg.ID...)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(step))
	return binary.LittleEndian.AppendUint32(b, perturbations)
}

// openReply takes the reply that an earlier process kept.
func (c *Client) openReply() error {
	var s sent
	err := c.keeper.load(itemReply, func(r *io.SectionReader) error {
		if r.Size() > int64(replyFileMax) {
			return fmt.Errorf("%w: %d bytes", errReplyFile, r.Size())
		}
		file := make([]byte, r.Size())
		if _, err := io.ReadFull(r, file); err != nil {
			return err
		}
		var err error
		s, err = c.parseReply(file)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errReplyFile):
		return c.discard(itemReply, err)
	case err != nil:
		return c.stored(itemReply, err)
	}
	c.reply = s
	return nil
}

func (c *Client) parseReply(file []byte) (sent, error) {
	empty := c.replyHead(0, 0)
	at := len(empty) - 8 // of the step
	if len(file) < len(empty)+sha256.Size || !bytes.Equal(file[:at], empty[:at]) {
		return sent{}, fmt.Errorf("%w: it begins otherwise", errReplyFile)
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return sent{}, fmt.Errorf("%w: the checksum is wrong", errReplyFile)
	}
	frame := body[len(empty):]
	reply, err := wire.DecodeReply(frame)
	if err != nil || reply.Kind != wire.Contribution {
		return sent{}, fmt.Errorf("%w: %v %v", errReplyFile, reply.Kind, err)
	}
	return sent{
		n: reply.N, tip: reply.Tip, frame: frame, final: true,
		step: math.Float32frombits(binary.LittleEndian.Uint32(body[at:])),
		p:    binary.LittleEndian.Uint32(body[at+4:]),
	}, nil
}
