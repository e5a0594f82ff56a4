package logtest

import (
	"bytes"
	"errors"
	"math/rand/v2"

	"github.com/zofl/zofl/coordinator/runlog"
)

// objects returns the log as a store of vectors. If the log stores no vectors, objects ends the
// check.
func (s *scene) objects(log runlog.Log) runlog.Objects {
	objects, ok := log.(runlog.Objects)
	if !ok {
		s.failf("%T is no runlog.Objects: set Config.NoObjects, if it is not meant to be", log)
	}
	return objects
}

// vectors returns vectors for records 2, 3, ... . The first has a few bytes, later ones have many
// pieces.
func vectors(epoch uint64, count int) (list []runlog.Object) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range count {
		data := make([]byte, 4*(1+i*20_000))
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		list = append(list, runlog.Object{Name: runlog.NameOf(uint64(i)+2, epoch, data),
			Data: data})
	}
	return list
}

// has checks whether the log holds a vector, with all its bytes.
func (s *scene) has(log runlog.Objects, v runlog.Object, want bool) {
	data, err := log.Object(s.ctx, v.Name)
	switch {
	case want && err != nil:
		s.failf("vector of record %d: %w", v.Name.N, err)
	case want && !bytes.Equal(data, v.Data):
		s.failf("vector of record %d: %d bytes are not what was put, %d bytes", v.Name.N, len(data),
			len(v.Data))
	case !want && !errors.Is(err, runlog.ErrNoObject):
		s.failf("vector of record %d, which is not there: %d bytes, %v, want ErrNoObject", v.Name.N,
			len(data), err)
	}
}

// Once PutObject has stored a vector, the log holds it, even if the caller stores the same vector
// again.
func checkObjects(s *scene) {
	log, epoch := s.led()
	objects := s.objects(log)
	s.append(log, epoch, 1)
	list := vectors(epoch, 4)
	for _, v := range list {
		s.has(objects, v, false)
		for range 2 {
			s.ok(objects.PutObject(s.ctx, v.Name, v.Data), "PutObject of record %d", v.Name.N)
		}
		s.has(objects, v, true)
	}
	for _, v := range list {
		s.has(objects, v, true)
		other := v
		other.Name.Epoch++ // another coordinator's attempt at the record
		s.has(objects, other, false)
	}
}

// The caller may change the bytes after PutObject returns.
func checkObjectOwnership(s *scene) {
	log, epoch := s.led()
	objects := s.objects(log)
	s.append(log, epoch, 1)
	v := vectors(epoch, 2)[1]
	data := bytes.Clone(v.Data)
	s.ok(objects.PutObject(s.ctx, v.Name, data), "PutObject")
	clear(data)
	s.has(objects, v, true)
}

// KeepObjects deletes all vectors of records 1..n except the named ones, and no vectors of later
// records.
func checkKeepObjects(s *scene) {
	log, epoch := s.led()
	objects := s.objects(log)
	s.ok(objects.KeepObjects(s.ctx, 9, nil), "KeepObjects without vectors")
	s.append(log, epoch, 1)
	list := vectors(epoch, 6) // of records 2 to 7
	for _, v := range list {
		s.ok(objects.PutObject(s.ctx, v.Name, v.Data), "PutObject")
	}
	keep := []runlog.ObjectName{list[1].Name, list[3].Name}
	for range 2 {
		s.ok(objects.KeepObjects(s.ctx, 5, keep), "KeepObjects")
		for i, v := range list {
			s.has(objects, v, i == 1 || i == 3 || v.Name.N > 5)
		}
	}
}

// When the log is opened again, it holds the same vectors, without the deleted ones.
func checkReopenObjects(s *scene) {
	log, epoch := s.led()
	list := vectors(epoch, 3)
	s.append(log, epoch, 1)
	for _, v := range list {
		s.ok(s.objects(log).PutObject(s.ctx, v.Name, v.Data), "PutObject")
	}
	s.ok(s.objects(log).KeepObjects(s.ctx, 2, nil), "KeepObjects")
	s.close(log)
	log, _ = s.led()
	for i, v := range list {
		s.has(s.objects(log), v, i > 0)
	}
	s.ok(s.objects(log).KeepObjects(s.ctx, 3, nil), "KeepObjects of vectors of another life")
	for i, v := range list {
		s.has(s.objects(log), v, i > 1)
	}
}
