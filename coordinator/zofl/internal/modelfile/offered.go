package modelfile

import (
	"bytes"
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/regular"
	"github.com/zofl/zofl/coordinator/zofl/internal/tensors"
	"github.com/zofl/zofl/plan"
)

// CheckOffered returns a usage error unless the file of --offer has the parameters with which a
// plan's run begins. train are the patterns of --train. Without patterns, the parameters are the
// tensors that the plan's segments are named after, or else all floats, as in `zofl plan`.
func CheckOffered(file string, train []string, p *plan.Plan) error {
	refuse := func(text string, args ...any) error {
		return cli.Usage(fmt.Errorf("--offer %s: "+text, append([]any{file}, args...)...))
	}
	opened, err := regular.Open(file)
	if err != nil {
		return cli.FileFault("--offer", file, err)
	}
	opened.Close()
	if p.Initial != plan.Given {
		return refuse("the plan's initial is %v, so the run begins with no file: leave out --offer, or "+
			"make the plan with zofl plan --initial %s", p.Initial, file)
	}
	c := Choice{File: file, Train: train, flag: "--offer"}
	if err := c.trainNamed(p.Segments); err != nil {
		return err
	}
	digest, dim, err := c.Digest()
	if err != nil {
		return err
	}
	const remedy = "offer the file that the plan was made with, with the same --train, or make a " +
		"plan of this one with zofl plan --initial"
	if dim != p.Dim {
		return refuse("it has %d parameters, and the plan's dim is %d: "+remedy, dim, p.Dim)
	}
	if !bytes.Equal(digest, p.InitialDigest) {
		return refuse("its parameters have the digest %v, and the plan's initial_digest is %v: "+remedy,
			digest, p.InitialDigest)
	}
	return nil
}

// ReadOffered returns the parameters of a plan's run in a file that the coordinator offered. The
// caller compares them with the plan's digest.
func ReadOffered(file string, p *plan.Plan) ([]float32, error) {
	c := Choice{File: file, flag: "--offer"}
	if err := c.trainNamed(p.Segments); err != nil {
		return nil, err
	}
	return c.Read()
}

// trainNamed chooses the tensors that the plan's segments are named after, without --train.
func (c *Choice) trainNamed(segments []plan.Segment) (err error) {
	if len(c.Train) == 0 && isModel(c.File) {
		c.Train, err = namedBy(segments, c.File)
	}
	return err
}

// namedBy returns the names of a file's tensors that segments are named after. namedBy returns nil
// unless every segment is named after a tensor.
func namedBy(segments []plan.Segment, file string) ([]string, error) {
	f, err := tensors.Open(file)
	if err != nil {
		return nil, cli.FileFault("--offer", file, err)
	}
	defer f.Close()
	lengths := map[string]uint64{}
	for _, s := range segments {
		lengths[s.Name] = s.Len
	}
	var names []string
	for _, t := range f.Tensors {
		for _, name := range []string{plainName(t.Name), hashedName(t.Name)} {
			if n, ok := lengths[name]; ok && n == t.Len {
				names = append(names, t.Name)
				delete(lengths, name)
				break
			}
		}
	}
	if len(lengths) > 0 {
		return nil, nil
	}
	return names, nil
}
