package mqtt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ErrNoNumber is matched by the errors of [Number].
var ErrNoNumber = errors.New("the message has no number")

// Number reads a number from a message. Either the whole message is a number, or the message is
// JSON, and field is the path of a number in it, such as climate.temperature.
func Number(payload []byte, field string) (float64, error) {
	text := string(bytes.TrimSpace(payload[:min(len(payload), packetMost)]))
	if field != "" {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var err error
		if text, err = member(d, strings.Split(field, ".")); err != nil {
			return 0, err
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%w: %.40q", ErrNoNumber, text)
	}
	return v, nil
}

// member finds the value of a path, which is a number or a text.
func member(d *json.Decoder, path []string) (string, error) {
	for _, name := range path {
		if err := enter(d, name); err != nil {
			return "", err
		}
	}
	t, err := d.Token()
	switch v := t.(type) {
	case json.Number:
		return v.String(), nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("%w: %v, %v", ErrNoNumber, t, err)
}

// enter begins an object, and goes on to the value of a name in it.
func enter(d *json.Decoder, name string) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%w: no object has %q", ErrNoNumber, name)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoNumber, err)
		}
		if key == name {
			return nil
		}
		if err := skip(d); err != nil {
			return fmt.Errorf("%w: %w", ErrNoNumber, err)
		}
	}
	return fmt.Errorf("%w: no field %q", ErrNoNumber, name)
}

// skip reads past a value, of any depth.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
