package fleet

import (
	"bytes"
	"io"
	"io/fs"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// A store keeps a device's answers in memory: one that adds noise answers no round without a store.
type store map[string][]byte

// storeFor returns a store where a plan's devices need one.
func storeFor(p *wire.Plan) client.Store {
	if device, _ := p.Noisy(); device {
		return store{}
	}
	return nil
}

func (s store) Save(item string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	s[item] = b.Bytes()
	return nil
}

func (s store) Load(item string, read func(*io.SectionReader) error) error {
	content, found := s[item]
	if !found {
		return fs.ErrNotExist
	}
	return read(io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))))
}

func (s store) SetAside(item string) error {
	delete(s, item)
	return nil
}

func (s store) Close() error { return nil }
