package main

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zofl/zofl/client"
)

func openStore(t *testing.T, dir string) client.Store {
	t.Helper()
	s, err := client.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestWindowSurvives(t *testing.T) {
	store := openStore(t, t.TempDir())
	s := newStation(configOf(t, "window = 40 least=1", "model = lags=2 ahead=2"))
	if err := s.load(store); err != nil {
		t.Fatalf("with no file: %v", err)
	}
	put(s, 1000, 1, 2, 3)
	put(s, 1010, 4)
	if err := s.save(store); err != nil {
		t.Fatal(err)
	}
	back := newStation(s.cfg)
	if err := back.load(store); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.encode(), s.encode()) || back.window.at(1010)[0] != 4 ||
		!isMissing(back.window.at(1005)[0]) {
		t.Error("the window changed on its way through the file")
	}
	if slot, ended := back.add(reading{back.window.time(1002), []float64{9}}); ended || slot != 0 {
		t.Error("a reading that the window has was added again")
	}
}

// A file that a power cut or bad flash damaged is set aside, however it was damaged.
func TestTornWindowBeginsAnew(t *testing.T) {
	s := newStation(configOf(t, "window = 40 least=1", "model = lags=2 ahead=2"))
	put(s, 1000, 1, 2, 3)
	whole := s.encode()
	files := map[string][]byte{"empty": {},
		"other": bytes.Replace(whole, []byte("temperature"), []byte("temperaturf"), 1)}
	for n := 1; n < len(whole); n += 7 {
		files["torn"+string(rune('a'+n%26))] = whole[:n]
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-8] ^= 4 // of a reading
	files["flipped"] = flipped
	for name, b := range files {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, s.item()), b, 0o600); err != nil {
			t.Fatal(err)
		}
		store, got := openStore(t, dir), newStation(s.cfg)
		if err := got.load(store); err == nil || got.window.held != 0 {
			t.Errorf("%s: error %v and %d slots, want an error and none", name, err, got.window.held)
		}
		if _, err := os.Stat(filepath.Join(dir, s.item()+".bad")); err != nil {
			t.Errorf("%s: not set aside: %v", name, err)
		}
		if err := got.load(store); err != nil {
			t.Errorf("%s: the next start: %v", name, err)
		}
	}
}

// FuzzWindowFile: what is read is written as a file that is read alike, and what is not read leaves
// the window empty. The fuzzer need not make a checksum.
func FuzzWindowFile(f *testing.F) {
	cfg := configOf(f, "window = 40 least=1", "model = lags=2 ahead=2")
	s := newStation(cfg)
	put(s, 1000, 1, 2, 3)
	whole := s.encode()
	f.Add(whole[:len(whole)-4])
	f.Add(whole[:20])
	at := len(windowMagic) + 8
	f.Add(slices.Concat(whole[:at], windowOrder.AppendUint64(nil, math.MaxInt64),
		whole[at+8:len(whole)-4]))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = windowOrder.AppendUint32(slices.Clip(b), crc32.ChecksumIEEE(b))
		if err := s.decode(b); err != nil {
			if s.window.held != 0 {
				t.Errorf("%v, but %d slots are held", err, s.window.held)
			}
			return
		}
		once := s.encode()
		if err := s.decode(once); err != nil || !bytes.Equal(s.encode(), once) {
			t.Errorf("%x is read, but its copy is not: %v", b, err)
		}
	})
}

func TestWindowOfAnotherConfiguration(t *testing.T) {
	s := newStation(configOf(t, "window = 40 least=1", "model = lags=2 ahead=2"))
	put(s, 1000, 1, 2, 3)
	for _, line := range []string{"model = period=1m", "channel = humidity"} {
		other := newStation(configOf(t, "window = 40 least=1", "model = lags=2 ahead=2", line))
		if err := other.decode(s.encode()); !errors.Is(err, errOther) {
			t.Errorf("%s: %v, want errOther", line, err)
		}
	}
	shorter := newStation(configOf(t, "window = 16 least=1", "model = lags=2 ahead=2"))
	if err := shorter.decode(s.encode()); err != nil || shorter.window.at(1002)[0] != 3 {
		t.Errorf("a shorter window: %v", err)
	}
}

// A device that was started with a wrong configuration has its readings back with the right
// one.
func TestWindowSurvivesAnotherConfiguration(t *testing.T) {
	store := openStore(t, t.TempDir())
	common := []string{"window = 40 least=1", "model = lags=2 ahead=2"}
	s := newStation(configOf(t, common...))
	put(s, 1000, 1, 2, 3)
	if err := s.save(store); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"model = period=1m", "channel = humidity"} {
		other := newStation(configOf(t, append(common, line)...))
		if err := errors.Join(other.load(store), other.save(store)); err != nil ||
			other.window.held != 0 {
			t.Errorf("%s: error %v and %d slots, want none and none", line, err, other.window.held)
		}
	}
	back := newStation(s.cfg)
	if err := back.load(store); err != nil || !bytes.Equal(back.encode(), s.encode()) {
		t.Errorf("error %v and %d slots, want the readings as they were", err, back.window.held)
	}
}
