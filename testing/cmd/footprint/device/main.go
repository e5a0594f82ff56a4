// Device is the process that footprint measures: one device of a run, with a loss that costs
// nothing, using package client or client/mobile. At each number of contributions in --marks the
// device prints a mark and waits for a line on stdin.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// settings are the command line.
type settings struct {
	url, ca, run, id, face string
	dim                    int
	marks                  []int64
}

// faces are the functions that run a device until ctx ends, by the name of the library's interface.
var faces = map[string]func(context.Context, *settings, *marker) error{
	"flat": plain, "stream": plain, "mobile": bound, "mobile-block": bound,
}

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "device:", err)
		os.Exit(1)
	}
}

func command() error {
	var s settings
	flag.StringVar(&s.url, "url", "", "broker")
	flag.StringVar(&s.ca, "ca", "", "file with the certificate that signed the broker's")
	flag.StringVar(&s.run, "run", "", "name of the run")
	flag.StringVar(&s.id, "id", "device", "name of this device")
	flag.StringVar(&s.face, "face", "flat", "flat, stream, mobile or mobile-block")
	flag.IntVar(&s.dim, "dim", 1000, "parameters")
	flag.Func("marks", "contributions to stop at, such as 50,250", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.ParseInt(part, 10, 64)
			if err != nil {
				return err
			}
			s.marks = append(s.marks, n)
		}
		return nil
	})
	flag.Parse()
	face := faces[s.face]
	if face == nil || len(s.marks) == 0 {
		return fmt.Errorf("face %q, marks %v: give one of the faces, and at least one mark",
			s.face, s.marks)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	err := face(ctx, &s, newMarker(&s, func() { cancel(errDone) }))
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}
