package main

/*
#cgo CFLAGS: -I${SRCDIR}/include -O2 -Wall -Wextra
#include "libzofl.h"
*/
import "C"

import (
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/zofl/zofl/libzofl/internal/pull"
)

// textRoom is the size of the buffers for texts in shim.c.
const textRoom = 1024

// say writes a text to a buffer of textRoom bytes, with the 0 that ends it.
func say(to *C.char, text string) {
	room := unsafe.Slice((*byte)(unsafe.Pointer(to)), textRoom)
	text = strings.ReplaceAll(text, "\x00", "?")
	n := min(len(text), textRoom-1)
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n-- // no half of a letter
	}
	room[copy(room, text[:n])] = 0
}

// told returns the code of an error, and writes its text.
func told(err error, text *C.char) C.int {
	if err != nil {
		say(text, pull.Text(err))
	}
	return C.int(pull.Of(err))
}

// with calls do with the device of a handle. Nothing that panics there reaches C.
func with(h C.zofl_handle, text *C.char, do func(*pull.Device) error) (code C.int) {
	return told(func() (err error) {
		defer pull.Guard(&err)
		d, err := pull.Find(int32(h))
		if err != nil {
			return err
		}
		return do(d)
	}(), text)
}

//export zoflGoVersion
func zoflGoVersion() *C.char { return versionText }

var versionText = C.CString(version()) // stays, as constants of C do

//export zoflGoOpen
func zoflGoOpen(c *C.zofl_config, text *C.char) C.zofl_handle {
	number, err := opened(c)
	if err != nil {
		return C.zofl_handle(told(err, text))
	}
	return C.zofl_handle(number)
}

func opened(c *C.zofl_config) (number int32, err error) {
	defer pull.Guard(&err)
	cfg, err := configOf(c)
	if err != nil {
		return 0, err
	}
	return pull.Open(cfg)
}

// configOf copies a config of C.
func configOf(c *C.zofl_config) (cfg pull.Config, err error) {
	cfg = pull.Config{
		URL: C.GoString(c.url), Creds: C.GoString(c.creds), CA: C.GoString(c.ca),
		Enroll: C.GoString(c.enroll), Coordinator: C.GoString(c.coordinator),
		Run: C.GoString(c.run), ID: C.GoString(c.id), Store: C.GoString(c.store),
		Program: C.GoString(c.program), Dim: uint64(c.dim), MemoryLimit: uint64(c.memory_limit),
		Weight: uint32(c.weight), MaxBatch: uint32(c.max_batch), Workers: uint32(c.workers),
		Passive: c.passive != 0, Plaintext: c.plaintext != 0, HeldOut: c.held_out != 0,
	}
	if c.secret != nil && c.secret_size > 1<<10 {
		return cfg, pull.BadValue("secret_size = %d: give 32", c.secret_size)
	}
	if c.secret != nil {
		cfg.Secret = C.GoBytes(unsafe.Pointer(c.secret), C.int(c.secret_size))
	}
	if c.initial != nil {
		if _, err := pull.To(pull.F32, unsafe.Pointer(c.initial), cfg.Dim); err != nil {
			return cfg, err
		}
		x := unsafe.Slice((*float32)(unsafe.Pointer(c.initial)), int(cfg.Dim))
		cfg.Initial = append([]float32(nil), x...)
	}
	return cfg, nil
}

//export zoflGoPoll
func zoflGoPoll(h C.zofl_handle, ms C.int, task *C.zofl_task, text *C.char) (next C.int) {
	timeout := pull.Forever
	if ms >= 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	code := with(h, text, func(d *pull.Device) error {
		what, t, err := d.Poll(timeout)
		next = C.int(what)
		*task = C.zofl_task{
			size: C.uint64_t(t.Size), record: C.uint64_t(t.Record), seed: C.uint64_t(t.Seed),
			left_ms: C.int64_t(t.Left), batch: C.uint32_t(t.Batch), step: C.uint32_t(t.Step),
			point: C.uint32_t(t.Point), points: C.uint32_t(t.Points), metrics: C.uint32_t(t.Metrics),
		}
		if t.HeldOut {
			task.held_out = 1
		}
		return err
	})
	if code != 0 {
		return code
	}
	return next
}

//export zoflGoPoint
func zoflGoPoint(h C.zofl_handle, i C.int64_t, form C.int32_t, dst unsafe.Pointer,
	off, n C.uint64_t, text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		return d.Point(int64(i), pull.Type(form), dst, uint64(off), uint64(n))
	})
}

//export zoflGoPoints
func zoflGoPoints(h C.zofl_handle, form C.int32_t, dst unsafe.Pointer, off, n C.uint64_t,
	text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		return d.Points(pull.Type(form), dst, uint64(off), uint64(n))
	})
}

//export zoflGoLoss
func zoflGoLoss(h C.zofl_handle, loss C.double, text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error { return d.Loss(float64(loss)) })
}

// mostValues bounds the arrays of losses and metrics, so that a wrong number reads nothing.
const mostValues = 1 << 20

// valuesOf returns an array of C, which is valid during the call.
func valuesOf(at *C.double, n C.uint32_t) ([]float64, error) {
	if n > mostValues {
		return nil, pull.BadValue("n = %d: no step has so many points", n)
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(at)), int(n)), nil
}

//export zoflGoLosses
func zoflGoLosses(h C.zofl_handle, losses *C.double, n C.uint32_t, text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		values, err := valuesOf(losses, n)
		if err != nil {
			return err
		}
		return d.Losses(values)
	})
}

//export zoflGoMetrics
func zoflGoMetrics(h C.zofl_handle, metrics *C.double, n, samples C.uint32_t, text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		values, err := valuesOf(metrics, n)
		if err != nil {
			return err
		}
		return d.Metrics(values, uint32(samples))
	})
}

//export zoflGoDecline
func zoflGoDecline(h C.zofl_handle, text *C.char) C.int {
	return with(h, text, (*pull.Device).Decline)
}

//export zoflGoModel
func zoflGoModel(h C.zofl_handle, form C.int32_t, dst unsafe.Pointer, off, n C.uint64_t,
	text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		return d.Model(pull.Type(form), dst, uint64(off), uint64(n))
	})
}

//export zoflGoRecords
func zoflGoRecords(h C.zofl_handle) C.uint64_t {
	n, _ := counts(h)
	return C.uint64_t(n)
}

//export zoflGoRounds
func zoflGoRounds(h C.zofl_handle) C.uint64_t {
	_, rounds := counts(h)
	return C.uint64_t(rounds)
}

// counts returns records and rounds of a device, 0 if there is none.
func counts(h C.zofl_handle) (n, rounds uint64) {
	defer func() { _ = recover() }()
	if d, err := pull.Find(int32(h)); err == nil {
		return d.Records()
	}
	return 0, 0
}

//export zoflGoDigest
func zoflGoDigest(h C.zofl_handle, out *C.uint8_t, text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		digest, err := d.Digest()
		if err == nil {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(out)), len(digest)), digest[:])
		}
		return err
	})
}

//export zoflGoSegment
func zoflGoSegment(h C.zofl_handle, name *C.char, off, n *C.uint64_t, text *C.char) C.int {
	return with(h, text, func(d *pull.Device) error {
		at, length, err := d.Segment(C.GoString(name))
		if err == nil {
			*off, *n = C.uint64_t(at), C.uint64_t(length)
		}
		return err
	})
}

//export zoflGoWhy
func zoflGoWhy(h C.zofl_handle, text *C.char) {
	with(h, text, func(d *pull.Device) error {
		say(text, d.Why())
		return nil
	})
}

//export zoflGoClose
func zoflGoClose(h C.zofl_handle, text *C.char) C.int {
	return told(func() (err error) {
		defer pull.Guard(&err)
		return pull.Close(int32(h))
	}(), text)
}
