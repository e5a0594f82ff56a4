package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/examples/sensor/house"
)

// write writes all files.
func write(o Options) error {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	weather := house.NewWeather(o.Days, rand.New(rand.NewPCG(o.Seed, 0)))
	windows := "room,open,closed\n"
	for i := 1; i <= o.Rooms; i++ {
		random := rand.New(rand.NewPCG(o.Seed, uint64(i)))
		room := house.NewRoom(random)
		t := room.Live(weather, random)
		name := fmt.Sprintf("room-%d", i)
		for _, w := range t.Opened {
			windows += fmt.Sprintf("%s,%s,%s\n", name, stamp(w[0]), stamp(w[1]))
		}
		if err := writeRoom(o, name, t.Read(room.Noise, random)); err != nil {
			return err
		}
	}
	return save(filepath.Join(o.Dir, "windows.csv"), func(w io.Writer) { fmt.Fprint(w, windows) })
}

func writeRoom(o Options, name string, list []house.Reading) error {
	path := filepath.Join(o.Dir, name)
	if err := save(path+".csv", func(w io.Writer) { readings(w, list) }); err != nil {
		return err
	}
	return save(path+".conf", func(w io.Writer) { configuration(w, o, name) })
}

func stamp(minute int) string {
	return house.Time(minute).Format("2006-01-02T15:04:05Z")
}

func readings(w io.Writer, list []house.Reading) {
	fmt.Fprintln(w, "time,temperature")
	for _, r := range list {
		fmt.Fprintf(w, "%s,%.2f\n", stamp(r.Minute), r.Value)
	}
}

func configuration(w io.Writer, o Options, name string) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		dir = o.Dir
	}
	fmt.Fprintf(w, `# An agent for simulated readings.
url = nats://127.0.0.1:4222
run = rooms
id = %s
state = %s
source = replay %s speed=%v
channel = temperature center=20 scale=5 change=0.5
`, name, filepath.Join(dir, name+".state"), filepath.Join(dir, name+".csv"), o.Speed)
}

// save writes a file.
func save(path string, to func(io.Writer)) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(file)
	to(b)
	if err := b.Flush(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
